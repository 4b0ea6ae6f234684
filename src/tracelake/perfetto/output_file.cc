#include "tracelake/perfetto/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/special_file.h"

namespace aaco::tracelake::perfetto {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

}  // namespace

core::Result<OutputFile> OutputFile::create(const std::string& path) {
  if (core::is_written_in_place(path)) {
    core::FileDescriptor device(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!device.valid()) return core::fail_errno(errno, path);
    return OutputFile(path, {}, std::move(device));
  }
  std::string temporary = path + ".XXXXXX";
  core::FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  ::fchmod(file.get(), 0644);
  return OutputFile(path, std::move(temporary), std::move(file));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      status_(std::move(other.status_)) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) write_out();
}

void OutputFile::write_out() {
  std::string_view left = buffer_;
  while (status_ && !left.empty()) {
    const ssize_t count = ::write(file_.get(), left.data(), left.size());
    if (count < 0 && errno != EINTR) status_ = core::fail_errno(errno, path_);
    if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
}

core::Status OutputFile::finish() {
  write_out();
  if (temporary_.empty()) return status_;
  if (status_ && ::fsync(file_.get()) != 0) status_ = core::fail_errno(errno, path_);
  if (status_ && ::rename(temporary_.c_str(), path_.c_str()) != 0) status_ = core::fail_errno(errno, path_);
  if (status_) temporary_.clear();
  return status_;
}

}  // namespace aaco::tracelake::perfetto
