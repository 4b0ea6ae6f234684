#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace aaco::trace {

// Bytes to import, read once from the front. Compression has been seen through.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to into.size() bytes; 0 at the end.
  virtual core::Result<std::size_t> read(std::span<char> into) = 0;
  // For messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // The plain file behind it (for formats that need random access, as SQLite), or empty.
  [[nodiscard]] virtual std::string path() const = 0;
  // Why the bytes ended before their time (a compressed file that is cut or damaged), or empty. Valid once read() has returned 0.
  [[nodiscard]] virtual std::string damage() const { return {}; }
};

}  // namespace aaco::trace
