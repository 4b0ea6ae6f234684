#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// When requests are due. An arrival process is drawn once, before the load starts, and is not rescaled to hit its rate exactly.
namespace aaco::serving {

enum class ArrivalProcess : std::uint8_t { constant, poisson, gamma };

struct Arrivals {
  ArrivalProcess process = ArrivalProcess::poisson;
  double gamma_shape = 1;  // 1 is Poisson, below it bursts, above it more regular; the coefficient of variation is 1/sqrt(shape)
  bool operator==(const Arrivals&) const = default;
};

// "poisson", "constant" or "gamma:SHAPE".
core::Result<Arrivals> parse_arrivals(std::string_view text);
std::string to_string(const Arrivals& arrivals);

// The rate over time: linear from `from_hz` to `to_hz` within `ramp_ns`, then constant.
struct Rate {
  double to_hz = 1;
  double from_hz = 0;        // used where ramp_ns is above 0
  std::int64_t ramp_ns = 0;  // 0: to_hz from the beginning
};

// The offsets of the arrivals from the start, ascending, ns: the first `count`, or those before `duration_ns` (at least one of
// the two is given). Constant arrivals start at 0. A process of any rate over time is its unit-rate process through the inverse
// of the cumulative rate (time rescaling; Cinlar, Introduction to Stochastic Processes, 1975, section 4.7). Fails with
// invalid_argument on a rate that is not above 0 and on more than kMaxArrivals.
inline constexpr std::int64_t kMaxArrivals = 50'000'000;
core::Result<std::vector<std::int64_t>> arrival_offsets(const Arrivals& arrivals, const Rate& rate,
                                                        std::optional<std::int64_t> count,
                                                        std::optional<std::int64_t> duration_ns, std::uint64_t seed);

}  // namespace aaco::serving
