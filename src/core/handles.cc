#include "core/handles.h"

#include <dlfcn.h>
#include <unistd.h>

namespace aaco::core {

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<SharedLibrary> SharedLibrary::open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::unsupported, "cannot load library " + path + ": " + (reason ? reason : "unknown reason"));
  }
  return SharedLibrary(std::shared_ptr<void>(handle, [](void* open_handle) { ::dlclose(open_handle); }), path);
}

void* SharedLibrary::symbol(const char* name) const { return ::dlsym(handle_.get(), name); }

}  // namespace aaco::core
