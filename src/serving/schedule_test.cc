#include "serving/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace aaco::serving {
namespace {

constexpr Arrivals kConstant{.process = ArrivalProcess::constant};
constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<std::int64_t> offsets(const Arrivals& arrivals, Rate rate, std::optional<std::int64_t> count,
                                  std::optional<std::int64_t> duration = {}, std::uint64_t seed = 1) {
  const auto result = arrival_offsets(arrivals, rate, count, duration, seed);
  EXPECT_TRUE(result);
  return result.value_or(std::vector<std::int64_t>{});
}

// Coefficient of variation of the gaps.
double variation(const std::vector<std::int64_t>& times) {
  double sum = 0, squares = 0;
  const auto count = static_cast<double>(times.size() - 1);
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto gap = static_cast<double>(times[i] - times[i - 1]);
    sum += gap;
    squares += gap * gap;
  }
  return std::sqrt(squares / count - sum / count * (sum / count)) / (sum / count);
}

// Kolmogorov-Smirnov against the exponential distribution: the asymptotic p-value (Stephens, 1970).
double poisson_p_value(const std::vector<std::int64_t>& times, double rate_hz) {
  std::vector<double> values;
  std::int64_t before = 0;
  for (const std::int64_t time : times) {
    values.push_back(1 - std::exp(-static_cast<double>(time - before) * 1e-9 * rate_hz));
    before = time;
  }
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    distance = std::max({distance, static_cast<double>(i + 1) / n - values[i], values[i] - static_cast<double>(i) / n});
  const double x = distance * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double p = 0;
  for (int k = 1; k < 100; ++k) p += 2 * (k % 2 == 1 ? 1 : -1) * std::exp(-2.0 * k * k * x * x);
  return p;
}

TEST(Schedule, ConstantStartsAtZero) {
  EXPECT_EQ(offsets(kConstant, {.to_hz = 10}, 3), (std::vector<std::int64_t>{0, 100'000'000, 200'000'000}));
}
TEST(Schedule, DurationExcludesItsEnd) { EXPECT_EQ(offsets(kConstant, {.to_hz = 10}, {}, kSecond).size(), 10U); }
TEST(Schedule, FewerOfCountAndDuration) { EXPECT_EQ(offsets(kConstant, {.to_hz = 10}, 4, kSecond).size(), 4U); }
TEST(Schedule, SameSeedSameTimes) { EXPECT_EQ(offsets({}, {.to_hz = 50}, 100), offsets({}, {.to_hz = 50}, 100)); }
TEST(Schedule, OtherSeedOtherTimes) { EXPECT_NE(offsets({}, {.to_hz = 50}, 100), offsets({}, {.to_hz = 50}, 100, {}, 2)); }
TEST(Schedule, PoissonIsNotRescaled) {
  EXPECT_NE(offsets({}, {.to_hz = 100}, {}, 10 * kSecond).size(), offsets({}, {.to_hz = 100}, {}, 10 * kSecond, 2).size());
}
TEST(Schedule, PoissonPassesKolmogorovSmirnov) {
  int passed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    passed += poisson_p_value(offsets({}, {.to_hz = 2000}, 5000, {}, seed), 2000) > 0.01 ? 1 : 0;
  EXPECT_GE(passed, 18);
}
TEST(Schedule, ConstantFailsKolmogorovSmirnov) {
  EXPECT_LT(poisson_p_value(offsets(kConstant, {.to_hz = 2000}, 5000), 2000), 0.01);
}
TEST(Schedule, GammaHasItsVariation) {
  EXPECT_NEAR(variation(offsets({.process = ArrivalProcess::gamma, .gamma_shape = 0.25}, {.to_hz = 100}, 50000)), 2, 0.06);
  EXPECT_NEAR(variation(offsets({.process = ArrivalProcess::gamma, .gamma_shape = 4}, {.to_hz = 100}, 50000)), 0.5, 0.01);
}
TEST(Schedule, RampReachesItsRate) {
  // 0 to 100/s within 10 s: 500 arrivals in the ramp, then 100 a second.
  const auto times = offsets(kConstant, {.to_hz = 100, .from_hz = 0, .ramp_ns = 10 * kSecond}, {}, 20 * kSecond);
  EXPECT_NEAR(static_cast<double>(times.size()), 1500, 1);
  EXPECT_EQ(std::count_if(times.begin(), times.end(), [](std::int64_t time) { return time < 5 * kSecond; }), 125);
}
TEST(Schedule, DownwardRamp) {
  const auto times = offsets(kConstant, {.to_hz = 10, .from_hz = 100, .ramp_ns = 10 * kSecond}, {}, 10 * kSecond);
  EXPECT_NEAR(static_cast<double>(times.size()), 550, 1);
}
TEST(Schedule, RefusesZeroRate) { EXPECT_FALSE(arrival_offsets({}, {.to_hz = 0}, 1, {}, 1)); }
TEST(Schedule, RefusesNegativeRate) { EXPECT_FALSE(arrival_offsets({}, {.to_hz = -1}, 1, {}, 1)); }
TEST(Schedule, RefusesInfiniteRate) { EXPECT_FALSE(arrival_offsets({}, {.to_hz = INFINITY}, 1, {}, 1)); }
TEST(Schedule, RefusesEndlessSchedule) { EXPECT_FALSE(arrival_offsets({}, {.to_hz = 1}, {}, {}, 1)); }

TEST(Arrivals, Parse) {
  EXPECT_EQ(parse_arrivals("poisson").value(), Arrivals{});
  EXPECT_EQ(parse_arrivals("constant").value(), kConstant);
  EXPECT_EQ(parse_arrivals("gamma:0.5").value(), (Arrivals{.process = ArrivalProcess::gamma, .gamma_shape = 0.5}));
}
TEST(Arrivals, RefusesUnknownProcess) { EXPECT_FALSE(parse_arrivals("uniform")); }
TEST(Arrivals, RefusesGammaWithoutShape) { EXPECT_FALSE(parse_arrivals("gamma:")); }
TEST(Arrivals, RefusesGammaOfZero) { EXPECT_FALSE(parse_arrivals("gamma:0")); }
TEST(Arrivals, RefusesGammaOfNan) { EXPECT_FALSE(parse_arrivals("gamma:nan")); }

TEST(Schedule, ConstantArrivalsBeginARampAtZero) {
  const auto ramp = offsets(kConstant, {.to_hz = 100, .from_hz = 0, .ramp_ns = 4 * kSecond}, {}, 6 * kSecond);
  ASSERT_EQ(ramp.size(), 400U);
  EXPECT_EQ(ramp.front(), 0);
  for (std::size_t i = 1; i < ramp.size(); ++i) EXPECT_GT(ramp[i], ramp[i - 1]);
}

}  // namespace
}  // namespace aaco::serving
