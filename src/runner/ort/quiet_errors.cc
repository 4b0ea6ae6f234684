#include "runner/ort/quiet_errors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace aaco::runner::ort {
namespace {

constexpr std::string_view kSchemaError = "Schema error: ";

std::string content_of(int descriptor) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  if (::lseek(descriptor, 0, SEEK_SET) != 0) return text;
  for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

QuietErrors::QuietErrors() {
  core::FileDescriptor before(::dup(STDERR_FILENO)), held(::memfd_create("stderr", MFD_CLOEXEC));
  if (before.get() < 0 || held.get() < 0) return;
  std::fflush(stderr);
  if (::dup2(held.get(), STDERR_FILENO) < 0) return;
  before_ = std::move(before);
  held_ = std::move(held);
}

QuietErrors::~QuietErrors() { (void)finish(); }

std::int64_t QuietErrors::finish() {
  if (before_.get() < 0) return left_out_;
  std::fflush(stderr);
  (void)::dup2(before_.get(), STDERR_FILENO);
  before_ = core::FileDescriptor();
  const std::string text = content_of(held_.get());
  held_ = core::FileDescriptor();
  std::string kept;
  bool was_left_out = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end;
    // An empty line behind one that is left out belongs to it.
    if (was_left_out && line == "\n") continue;
    was_left_out = line.starts_with(kSchemaError);
    left_out_ += was_left_out ? 1 : 0;
    if (!was_left_out) kept += line;
  }
  write_all(kept);
  return left_out_;
}

}  // namespace aaco::runner::ort
