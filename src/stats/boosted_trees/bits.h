#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace aaco::stats {

// Numbers of up to 32 bits one after the other, the lowest bit first; the last byte is filled up with zeros.
class BitWriter {
 public:
  void put(std::uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++count_) {
      if (count_ % 8 == 0) bytes_ += '\0';
      if ((value >> i & 1U) != 0) bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | 1U << count_ % 8);
    }
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  // Empty: the bytes end before.
  std::optional<std::uint32_t> take(int bits) {
    if (at_ + static_cast<std::size_t>(bits) > bytes_.size() * 8) return std::nullopt;
    std::uint32_t value = 0;
    for (int i = 0; i < bits;) {
      const std::size_t inside = at_ % 8;
      const int chunk = std::min(bits - i, static_cast<int>(8 - inside));
      const std::uint32_t part = std::to_integer<std::uint32_t>(bytes_[at_ / 8]) >> inside & ((1U << chunk) - 1);
      value |= part << i;
      i += chunk;
      at_ += static_cast<std::size_t>(chunk);
    }
    return value;
  }
  // Nothing but the zeros of the last byte remains.
  bool at_end() {
    if (bytes_.size() * 8 - at_ >= 8) return false;
    return take(static_cast<int>(bytes_.size() * 8 - at_)) == 0U;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  // in bits
};

}  // namespace aaco::stats
