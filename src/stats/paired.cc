#include "stats/paired.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/robust.h"

namespace aaco::stats {
namespace {

constexpr double kTrim = 0.2;
constexpr std::size_t kMaxForPairwise = 400;  // effects of a round: above, the median stands for their centre

double centre_of(const std::vector<double>& effects) {
  if (effects.size() > kMaxForPairwise) return median(effects);
  std::vector<double> means;
  means.reserve(effects.size() * (effects.size() + 1) / 2);
  for (std::size_t i = 0; i < effects.size(); ++i)
    for (std::size_t j = i; j < effects.size(); ++j) means.push_back((effects[i] + effects[j]) / 2);
  return median(means);
}

}  // namespace

PairedRound make_round(std::span<const std::vector<double>> a_blocks, std::span<const std::vector<double>> b_blocks,
                       StatisticChoice statistic) {
  PairedRound round;
  for (std::size_t i = 0; i < std::min(a_blocks.size(), b_blocks.size()); ++i) {
    if (a_blocks[i].empty() || b_blocks[i].empty()) continue;
    const double a = statistic_of(a_blocks[i], statistic), b = statistic_of(b_blocks[i], statistic);
    if (a > 0 && b > 0 && std::isfinite(a) && std::isfinite(b)) round.effects.push_back(std::log(b / a));
  }
  return round;
}

std::optional<PairedEstimate> paired_estimate(std::span<const PairedRound> rounds) {
  PairedEstimate result;
  for (const PairedRound& round : rounds) {
    if (round.effects.empty()) continue;
    result.round_changes.push_back(centre_of(round.effects));
    result.pairs += static_cast<std::int64_t>(round.effects.size());
  }
  const std::size_t count = result.round_changes.size();
  if (count < kFewestRounds) return std::nullopt;
  result.rounds = static_cast<std::int64_t>(count);
  std::vector<double> sorted = result.round_changes;
  std::sort(sorted.begin(), sorted.end());
  const auto cut = static_cast<std::size_t>(kTrim * static_cast<double>(count));
  const std::span<const double> kept(sorted.begin() + static_cast<std::ptrdiff_t>(cut), count - 2 * cut);
  result.log_change = mean_of(kept);
  std::vector<double> winsorised = sorted;
  for (std::size_t i = 0; i < cut; ++i) {
    winsorised[i] = kept.front();
    winsorised[count - 1 - i] = kept.back();
  }
  const auto n = static_cast<double>(count), h = static_cast<double>(kept.size());
  result.standard_error = std::sqrt((n - 1) * variance_of(winsorised) / (h * (h - 1)));
  result.degrees_of_freedom = h - 1;
  return result;
}

Interval paired_interval(const PairedEstimate& estimate, double level) {
  const double reach = student_t_quantile((1 + level) / 2, estimate.degrees_of_freedom) * estimate.standard_error;
  return {std::expm1(estimate.log_change - reach), std::expm1(estimate.log_change + reach)};
}

Detectable paired_detectable(const PairedEstimate& estimate, const DecisionBar& bar) {
  return smallest_detectable({estimate.standard_error, estimate.degrees_of_freedom}, bar);
}

bool is_early_look(std::int64_t rounds) {
  for (std::int64_t look = 5; look <= rounds; look += (look + 1) / 2)
    if (look == rounds) return true;
  return false;
}

double last_level(double level, std::int64_t rounds_before) {
  std::int64_t looks = 0;
  for (std::int64_t round = 1; round <= rounds_before; ++round) looks += is_early_look(round) ? 1 : 0;
  return std::min(level + static_cast<double>(looks) * (1 - kEarlyLevel), kEarlyLevel);
}

}  // namespace aaco::stats
