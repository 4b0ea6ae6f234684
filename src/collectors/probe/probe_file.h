#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::collectors::probe {

// A file of /proc or /sys that is read again and again: opened once, then read from its beginning into the caller's buffer
// with one system call and no allocation.
class ProbeFile {
 public:
  ProbeFile() = default;
  static core::Result<ProbeFile> open(const std::string& path);

  // What the file says now, cut at the buffer's end; empty where it cannot be read (last_error() says why).
  std::optional<std::string_view> read(std::span<char> buffer);
  // The first number in the file.
  std::optional<std::int64_t> read_i64();

  [[nodiscard]] bool valid() const { return file_.valid(); }
  [[nodiscard]] int last_error() const { return last_error_; }  // errno of the last read, 0 after a good one
  void close() { file_.reset(); }

 private:
  explicit ProbeFile(core::FileDescriptor file) : file_(std::move(file)) {}
  core::FileDescriptor file_;
  int last_error_ = 0;
};

// The content of a small file that is read once (opening, not sampling), trimmed of white space and NUL bytes; empty where it is
// not readable.
std::optional<std::string> read_small(const std::string& path);
// The first number of such a file.
std::optional<std::int64_t> read_small_i64(const std::string& path);

}  // namespace aaco::collectors::probe
