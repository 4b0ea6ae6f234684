#include "collectors/probe/probe_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "collectors/probe/scanner.h"
#include "core/strings.h"

namespace aaco::collectors::probe {
namespace {

constexpr std::size_t kSmallFileBytes = 64 * 1024;

}  // namespace

core::Result<ProbeFile> ProbeFile::open(const std::string& path) {
  int fd = -1;
  do fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return core::fail_errno(errno, path);
  return ProbeFile(core::FileDescriptor(fd));
}

std::optional<std::string_view> ProbeFile::read(std::span<char> buffer) {
  ssize_t count = -1;
  do count = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
  while (count < 0 && errno == EINTR);
  last_error_ = count < 0 ? errno : 0;
  if (count < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(count));
}

std::optional<std::int64_t> ProbeFile::read_i64() {
  char buffer[64];
  const auto text = read(buffer);
  return text ? Scanner(*text).next_i64() : std::nullopt;
}

std::optional<std::string> read_small(const std::string& path) {
  auto file = ProbeFile::open(path);
  if (!file) return std::nullopt;
  std::string buffer(kSmallFileBytes, '\0');
  const auto text = file->read(buffer);
  if (!text) return std::nullopt;
  return std::string(core::trim(*text));
}

std::optional<std::int64_t> read_small_i64(const std::string& path) {
  auto file = ProbeFile::open(path);
  return file ? file->read_i64() : std::nullopt;
}

}  // namespace aaco::collectors::probe
