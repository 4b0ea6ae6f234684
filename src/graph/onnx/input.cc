#include "graph/onnx/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace aaco::graph::onnx {
namespace {

constexpr std::int64_t kWindowBytes = 256 << 10;

}  // namespace

core::Result<Input> Input::open(const std::string& path) {
  core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return core::fail_errno(errno, path);
  if (!S_ISREG(info.st_mode))
    return core::fail(core::ErrorCode::invalid_input, path + " is not a regular file", "give the path of an .onnx file");
  Input input(path, info.st_size);
  input.file_ = std::move(file);
  return input;
}

Input Input::of_memory(std::string_view bytes, std::string name) {
  Input input(std::move(name), static_cast<std::int64_t>(bytes.size()));
  input.memory_ = bytes;
  return input;
}

std::string_view Input::view(std::int64_t offset, std::int64_t length) {
  if (error_ || offset < 0 || offset >= size_ || length <= 0) return {};
  length = std::min(length, size_ - offset);
  if (!file_.valid()) return memory_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  const auto held = static_cast<std::int64_t>(window_.size());
  if (offset < window_start_ || offset + std::min<std::int64_t>(length, 16) > window_start_ + held) {
    window_.resize(static_cast<std::size_t>(std::min(kWindowBytes, size_ - offset)));
    ssize_t count = 0;
    do count = ::pread(file_.get(), window_.data(), window_.size(), offset);
    while (count < 0 && errno == EINTR);
    if (count <= 0) {
      window_.clear();
      if (count < 0)
        error_ = core::fail_errno(errno, name_).value();
      else
        fail(core::ErrorCode::io, "the file was truncated while it was being read");
      return {};
    }
    window_.resize(static_cast<std::size_t>(count));
    window_start_ = offset;
  }
  const std::int64_t at = offset - window_start_;
  const std::int64_t usable = std::min(length, static_cast<std::int64_t>(window_.size()) - at);
  return {window_.data() + at, static_cast<std::size_t>(usable)};
}

std::string Input::copy(std::int64_t offset, std::int64_t length) {
  std::string bytes;
  if (length < 0 || offset > size_ - length) {
    fail(core::ErrorCode::invalid_input, "the file is truncated");
    return bytes;
  }
  charge(length);
  if (failed()) return bytes;
  bytes.reserve(static_cast<std::size_t>(length));
  while (static_cast<std::int64_t>(bytes.size()) < length) {
    const auto done = static_cast<std::int64_t>(bytes.size());
    const std::string_view part = view(offset + done, length - done);
    if (part.empty()) return {};
    bytes.append(part);
  }
  return bytes;
}

void Input::fail(core::ErrorCode code, std::string message, std::string remedy) {
  if (!error_) error_ = core::Error{code, name_ + ": " + std::move(message), std::move(remedy), {}};
}

core::Status Input::status() const {
  if (error_) return tl::unexpected<core::Error>(*error_);
  return {};
}

void Input::charge(std::int64_t bytes) {
  budget_ -= bytes;
  if (budget_ < 0)
    fail(core::ErrorCode::exhausted, "the model's structure (without its weights) exceeds 1 GiB, more than any real model needs",
         "check the origin of the file");
}

}  // namespace aaco::graph::onnx
