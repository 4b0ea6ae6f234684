#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/result.h"
#include "importers/stream/json_skim.h"
#include "trace/source.h"

namespace aaco::importers {

// A piece of a source's text, with kSkimPadding zeros behind it. Views of it hold until it is begun or reserved anew.
struct TextWindow {
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;  // without the padding
  std::size_t size = 0;

  void reserve(std::size_t bytes) {
    if (bytes <= capacity) return;
    std::unique_ptr<char[]> larger(new char[bytes + kSkimPadding]);
    if (size > 0) std::memcpy(larger.get(), text.get(), size);
    text = std::move(larger);
    capacity = bytes;
  }
  // Empty but for the rest of the window before it.
  void begin_with(std::string_view rest, std::size_t window_bytes) {
    size = 0;
    reserve(std::max(window_bytes, rest.size()));
    if (!rest.empty()) std::memcpy(text.get(), rest.data(), rest.size());
    size = rest.size();
  }
  // Reads until it is full and adds what was read to `total`; false at the end of the source.
  core::Result<bool> read(trace::ByteSource& source, std::int64_t& total) {
    bool more = true;
    while (more && size < capacity) {
      AACO_ASSIGN(const std::size_t count, source.read({text.get() + size, capacity - size}));
      size += count;
      total += static_cast<std::int64_t>(count);
      more = count > 0;
    }
    std::memset(text.get() + size, 0, kSkimPadding);
    return more;
  }
  [[nodiscard]] const char* begin() const { return text.get(); }
  [[nodiscard]] const char* end() const { return text.get() + size; }
};

}  // namespace aaco::importers
