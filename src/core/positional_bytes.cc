#include "core/positional_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace aaco::core {

Result<PositionalBytes> PositionalBytes::open(const std::string& path) {
  PositionalBytes opened;
  opened.file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.file_.valid()) return fail_errno(errno, path);
  struct stat info {};
  if (::fstat(opened.file_.get(), &info) != 0) return fail_errno(errno, path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::invalid_input, path + " is not a regular file", "give the path of a file");
  opened.name_ = path;
  opened.size_ = static_cast<std::uint64_t>(info.st_size);
  return opened;
}

PositionalBytes PositionalBytes::of(std::string bytes, std::string name) {
  PositionalBytes made;
  made.size_ = bytes.size();
  made.bytes_ = std::move(bytes);
  made.name_ = std::move(name);
  return made;
}

Result<SharedBytes> PositionalBytes::read(std::uint64_t offset, std::size_t length) const {
  const auto ends_early = [&] {
    return fail(ErrorCode::invalid_input, name_ + " is truncated: it ends before byte " + std::to_string(offset + length));
  };
  if (offset > size_ || size_ - offset < length) return ends_early();
  auto data = std::make_shared_for_overwrite<std::byte[]>(length);  // NOLINT
  if (!file_.valid()) {
    std::memcpy(data.get(), bytes_.data() + offset, length);
    return SharedBytes(std::move(data), length);
  }
  for (std::size_t done = 0; done < length;) {
    const ssize_t count = ::pread(file_.get(), data.get() + done, length - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, name_);
    if (count == 0) return ends_early();
    done += static_cast<std::size_t>(count);
  }
  return SharedBytes(std::move(data), length);
}

}  // namespace aaco::core
