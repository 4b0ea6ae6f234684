#include "graph/onnx/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace aaco::graph::onnx {

core::Result<OutputFile> OutputFile::create(const std::string& path) {
  core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return core::fail_errno(errno, path);
  return OutputFile(std::move(file), path);
}

core::Status OutputFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return core::fail_errno(errno, path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += count;
  }
  return {};
}

core::Status OutputFile::align(std::int64_t alignment) {
  const std::int64_t gap = (alignment - size_ % alignment) % alignment;
  return append(std::string(static_cast<std::size_t>(gap), '\0'));
}

}  // namespace aaco::graph::onnx
