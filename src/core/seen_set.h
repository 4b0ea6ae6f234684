#pragma once

#include <cstdint>
#include <vector>

namespace aaco::core {

// What has been seen, by a 64-bit mix of three numbers, in 16 to 32 bytes an entry. At most kMax entries are remembered; beyond
// that everything new counts as not seen.
class SeenSet {
 public:
  // True the first time.
  bool insert(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t key = mix(mix(mix(a) ^ b) ^ c) | 1U;
    if (2 * (count_ + 1) > slots_.size()) grow();
    for (std::size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == key) return false;
      if (slots_[at] != 0) continue;
      if (count_ < kMax) {
        slots_[at] = key;
        ++count_;
      } else {
        overflowed_ = true;
      }
      return true;
    }
  }
  static constexpr std::size_t kMax = std::size_t{1} << 22;
  // Something may have been called new that is not: more than kMax different ones came.
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  // The finaliser of SplitMix64.
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
  void grow() {
    if (count_ >= kMax && !slots_.empty()) return;
    std::vector<std::uint64_t> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const std::uint64_t key : old) {
      if (key == 0) continue;
      std::size_t at = key & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = key;
    }
  }
  std::vector<std::uint64_t> slots_;
  std::size_t count_ = 0;
  bool overflowed_ = false;
};

}  // namespace aaco::core
