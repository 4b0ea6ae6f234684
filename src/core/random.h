#pragma once

#include <cstdint>
#include <span>

namespace aaco::core {

// A small, fast, seeded generator (xoshiro256++ seeded through splitmix64, both by Blackman and Vigna, public domain
// algorithms). The same seed gives the same numbers on every machine. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  double uniform();                          // [0, 1)
  std::uint64_t below(std::uint64_t bound);  // [0, bound), unbiased; bound > 0
  double normal();                           // mean 0, variance 1
  // Independent stream number `index` of the same seed.
  [[nodiscard]] Random fork(std::uint64_t index) const;

  // For <random> and std::shuffle.
  using result_type = std::uint64_t;
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return UINT64_MAX; }
  std::uint64_t operator()() { return next(); }

 private:
  std::uint64_t seed_;
  std::uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

// Bits from the operating system, for ids and tokens.
std::uint64_t system_entropy();

}  // namespace aaco::core
