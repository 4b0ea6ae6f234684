#include "core/random.h"

#include <sys/random.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "core/check.h"

namespace aaco::core {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed) {
  std::uint64_t mix = seed;
  for (auto& word : state_) word = splitmix(mix);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  AACO_CHECK(bound > 0);
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;)
    if (const std::uint64_t bits = next(); bits < limit) return bits % bound;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Random Random::fork(std::uint64_t index) const {
  std::uint64_t mix = seed_ ^ (0xD1B54A32D192ED03ULL * (index + 1));
  return Random(splitmix(mix));
}

std::uint64_t system_entropy() {
  std::uint64_t bits = 0;
  AACO_CHECK(::getrandom(&bits, sizeof bits, 0) == sizeof bits);
  return bits;
}

}  // namespace aaco::core
