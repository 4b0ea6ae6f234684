#include "analytics/trend/two_levels.h"

#include <algorithm>
#include <cmath>

#include "stats/autocorrelation.h"
#include "stats/robust.h"
#include "stats/two_sample.h"

namespace aaco::analytics::trend {
namespace {

constexpr std::size_t kMinEach = 3;    // values of a level
constexpr double kOnLevel = 0.3;       // of the distance between the levels
constexpr double kBorder = 0.15;       // of that distance, to either side of the middle
constexpr double kRareRun = 0.01;      // probability of a run as long, among all runs
constexpr double kMoved = 1e-3;        // p-value of a level that moved
constexpr double kSharesDiffer = 3.3;  // standard errors

struct Segment {
  double count = 0, high = 0;
  std::size_t longest = 0;  // run on one level
};

Segment segment_of(const TwoLevels& levels, std::size_t from, std::size_t to) {
  Segment out;
  std::size_t run = 0;
  for (std::size_t i = from; i < to; ++i) {
    out.count += 1;
    out.high += levels.is_high[i] ? 1 : 0;
    run = i > from && levels.is_high[i] == levels.is_high[i - 1] ? run + 1 : 1;
    out.longest = std::max(out.longest, run);
  }
  return out;
}

// The values of one level alone, high or low, make at least half of the step: flips from one level to the other do not.
bool moved_itself(const TwoLevels& levels, bool high, std::span<const double> values, std::size_t from, std::size_t place,
                  std::size_t to) {
  std::vector<double> before, after;
  for (std::size_t i = from; i < to; ++i)
    if (levels.is_high[i] == high) (i < place ? before : after).push_back(values[i]);
  const auto test =
      stats::rank_test({before, stats::effective_sample_size(before)}, {after, stats::effective_sample_size(after)});
  if (!test || test->p_value > kMoved) return false;
  const double step = stats::median(values.subspan(place, to - place)) - stats::median(values.subspan(from, place - from));
  const double moved = stats::median(after) - stats::median(before);
  return moved * step > 0 && std::abs(moved) >= std::abs(step) / 2;
}

}  // namespace

std::optional<TwoLevels> two_levels(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  if (n < 2 * kMinEach || sorted.front() == sorted.back()) return std::nullopt;
  // The division with the least squares within both parts: sums from the middle value, so that a high level costs no precision.
  std::vector<double> sums{0.0}, squares{0.0};
  for (const double value : sorted) {
    const double distance = value - sorted[n / 2];
    sums.push_back(sums.back() + distance);
    squares.push_back(squares.back() + distance * distance);
  }
  const auto within = [&](std::size_t from, std::size_t to) {
    const double sum = sums[to] - sums[from];
    return squares[to] - squares[from] - sum * sum / static_cast<double>(to - from);
  };
  std::size_t cut = kMinEach;
  for (std::size_t at = kMinEach; at + kMinEach <= n; ++at)
    if (within(0, at) + within(at, n) < within(0, cut) + within(cut, n)) cut = at;
  TwoLevels out;
  out.low = stats::median(std::span<const double>(sorted).first(cut));
  out.high = stats::median(std::span<const double>(sorted).subspan(cut));
  const double deviation = std::sqrt(std::max(0.0, within(0, cut) + within(cut, n)) / static_cast<double>(n));
  if (!(out.high - out.low >= kMinSeparation * deviation)) return std::nullopt;
  // Scatter about the border is no flip: a value there is on the level of the one before.
  const double border = (sorted[cut - 1] + sorted[cut]) / 2, margin = kBorder * (out.high - out.low);
  for (const double value : values) {
    const bool unclear = !out.is_high.empty() && std::abs(value - border) <= margin;
    const bool high = unclear ? out.is_high.back() : value > border;
    if (!out.is_high.empty() && high != out.is_high.back()) ++out.flips;
    out.is_high.push_back(high);
  }
  return out.flips >= kMinFlips ? std::optional(std::move(out)) : std::nullopt;
}

bool explained_by_flips(const TwoLevels& levels, std::span<const double> values, std::size_t from, std::size_t place,
                        std::size_t to) {
  const double gap = levels.high - levels.low;
  const auto on_a_level = [&](std::size_t begin, std::size_t end) {
    std::vector<double> distances;
    for (const double value : values.subspan(begin, end - begin))
      distances.push_back(std::min(std::abs(value - levels.low), std::abs(value - levels.high)));
    return stats::median(distances) <= kOnLevel * gap;
  };
  if (!on_a_level(from, place) || !on_a_level(place, to)) return false;
  for (const bool high : {false, true})
    if (moved_itself(levels, high, values, from, place, to)) return false;
  const auto count = static_cast<double>(values.size()), runs = static_cast<double>(levels.flips + 1);
  const double stay = 1 - runs / count;  // probability that a value is on the level of the one before
  const Segment before = segment_of(levels, from, place), after = segment_of(levels, place, to);
  for (const Segment* one : {&before, &after})
    if (runs * std::pow(stay, static_cast<double>(one->longest) - 1) < kRareRun) return false;
  // Values of a run repeat each other: only as many count as there are runs of them, and half as many again where they are short.
  const double worth = std::min(1.0, (1 - stay) / stay);
  const double share = (before.high + after.high) / (before.count + after.count);
  const double error =
      std::sqrt(share * (1 - share) * (1 / std::max(1.0, worth * before.count) + 1 / std::max(1.0, worth * after.count)));
  return std::abs(before.high / before.count - after.high / after.count) <= kSharesDiffer * error;
}

}  // namespace aaco::analytics::trend
