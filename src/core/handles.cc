#include "core/handles.h"

#include <dlfcn.h>
#include <unistd.h>

namespace aaco::core {

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<SharedLibrary> SharedLibrary::open(const std::string& path) {
  // Stays mapped when it is closed: libraries register callbacks with others that outlive them (ONNX Runtime's operator schemas
  // in a shared libonnx), and some have threads.
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::unsupported, "cannot load library " + path + ": " + (reason ? reason : "unknown reason"));
  }
  return SharedLibrary(std::shared_ptr<void>(handle, [](void* open_handle) { ::dlclose(open_handle); }), path);
}

void* SharedLibrary::symbol(const char* name) const { return ::dlsym(handle_.get(), name); }

}  // namespace aaco::core
