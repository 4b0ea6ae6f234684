#include "serving/schedule.h"

#include <fmt/format.h>

#include <cmath>

#include "core/numbers.h"
#include "core/random.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;

double exponential(core::Random& random) { return -std::log1p(-random.uniform()); }

// A gamma variate of this shape and scale 1 (Marsaglia and Tsang, ACM TOMS 26, 2000; shapes below 1 by their section 6).
double gamma_variate(double shape, core::Random& random) {
  if (shape < 1) return gamma_variate(shape + 1, random) * std::pow(1 - random.uniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random.uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

// The step of the unit-rate process.
double step(const Arrivals& arrivals, core::Random& random) {
  switch (arrivals.process) {
    case ArrivalProcess::constant: return 1;
    case ArrivalProcess::poisson: return exponential(random);
    case ArrivalProcess::gamma: return gamma_variate(arrivals.gamma_shape, random) / arrivals.gamma_shape;
  }
  return 1;
}

// The time, in seconds, at which the rate has accumulated to `arrivals`.
double time_of(double arrivals, const Rate& rate) {
  if (arrivals <= 0) return 0;
  const double ramp = static_cast<double>(rate.ramp_ns) * 1e-9;
  if (ramp <= 0) return arrivals / rate.to_hz;
  const double in_ramp = (rate.from_hz + rate.to_hz) / 2 * ramp;
  if (arrivals >= in_ramp) return ramp + (arrivals - in_ramp) / rate.to_hz;
  const double slope = (rate.to_hz - rate.from_hz) / ramp;
  if (std::abs(slope) < 1e-12) return arrivals / rate.to_hz;
  // from t + slope t^2 / 2 = arrivals, solved without cancellation.
  return 2 * arrivals / (rate.from_hz + std::sqrt(rate.from_hz * rate.from_hz + 2 * slope * arrivals));
}

}  // namespace

core::Result<Arrivals> parse_arrivals(std::string_view text) {
  if (text == "poisson") return Arrivals{};
  if (text == "constant") return Arrivals{.process = ArrivalProcess::constant};
  if (text.starts_with("gamma:")) {
    const auto shape = core::parse_f64(text.substr(6));
    if (!shape || !(*shape > 0) || *shape > 1e6)
      return core::fail(ErrorCode::invalid_argument, fmt::format("invalid gamma shape '{}'", text.substr(6)),
                        "the shape must be above 0, e.g. gamma:0.5");
    return Arrivals{.process = ArrivalProcess::gamma, .gamma_shape = *shape};
  }
  return core::fail(ErrorCode::invalid_argument, fmt::format("unknown arrival process '{}'", text),
                    "valid: poisson, constant, gamma:SHAPE");
}

std::string to_string(const Arrivals& arrivals) {
  switch (arrivals.process) {
    case ArrivalProcess::constant: return "constant";
    case ArrivalProcess::poisson: return "poisson";
    case ArrivalProcess::gamma: return fmt::format("gamma:{}", arrivals.gamma_shape);
  }
  return {};
}

core::Result<std::vector<std::int64_t>> arrival_offsets(const Arrivals& arrivals, const Rate& rate,
                                                        std::optional<std::int64_t> count,
                                                        std::optional<std::int64_t> duration_ns, std::uint64_t seed) {
  if (!(rate.to_hz > 0) || !std::isfinite(rate.to_hz) || !(rate.from_hz >= 0) || !std::isfinite(rate.from_hz))
    return core::fail(ErrorCode::invalid_argument, fmt::format("invalid rate {}", rate.to_hz),
                      "a rate must be above 0 requests per second");
  if (!count && !duration_ns)
    return core::fail(ErrorCode::invalid_argument, "neither a number of requests nor a duration is given");
  core::Random random(seed);
  std::vector<std::int64_t> offsets;
  double at = arrivals.process == ArrivalProcess::constant ? 0 : step(arrivals, random);
  for (;; at += step(arrivals, random)) {
    if (count && static_cast<std::int64_t>(offsets.size()) >= *count) break;
    const double seconds = time_of(at, rate);
    if (duration_ns && seconds * 1e9 >= static_cast<double>(*duration_ns)) break;
    if (static_cast<std::int64_t>(offsets.size()) >= kMaxArrivals || seconds > 4e9)
      return core::fail(ErrorCode::invalid_argument, fmt::format("the schedule has more than {} requests", kMaxArrivals),
                        "use a lower rate or a shorter duration");
    offsets.push_back(static_cast<std::int64_t>(seconds * 1e9));
  }
  return offsets;
}

}  // namespace aaco::serving
