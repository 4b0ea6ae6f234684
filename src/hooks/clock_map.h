#pragma once

#include <cstdint>
#include <deque>

namespace aaco::hooks {

// Leads from a raw counter to the monotonic clock: by pairs of both, read one after another, linear between them.
class ClockMap {
 public:
  static constexpr std::size_t kMax = 4096;  // pairs kept; older ones go

  // Pairs in order; one that does not advance both is left out.
  void add(std::uint64_t raw, std::int64_t monotonic_ns);
  // Needs at least two pairs; before the first and after the last the nearest two decide.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t raw) const;
  [[nodiscard]] bool usable() const { return pairs_.size() >= 2; }

 private:
  struct Pair {
    std::uint64_t raw;
    std::int64_t ns;
  };
  std::deque<Pair> pairs_;
};

}  // namespace aaco::hooks
