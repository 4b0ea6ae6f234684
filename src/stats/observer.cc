#include "stats/observer.h"

#include <cmath>

#include "core/numbers.h"
#include "stats/robust.h"
#include "stats/signed_rank.h"

namespace aaco::stats {
namespace {

std::optional<double> positive_median(const ObservedBlock& block) {
  if (block.durations.empty()) return std::nullopt;
  const double value = median(block.durations);
  return value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// log(with / without) of neighbouring blocks of different kinds; each block is used once.
std::vector<double> pair_effects(std::span<const ObservedBlock> blocks) {
  std::vector<double> effects;
  for (std::size_t i = 0; i + 1 < blocks.size();) {
    const auto first = positive_median(blocks[i]);
    const auto second = positive_median(blocks[i + 1]);
    if (!first || !second || blocks[i].with_instrument == blocks[i + 1].with_instrument) {
      ++i;
      continue;
    }
    const double ratio = std::log(*first / *second);
    effects.push_back(blocks[i].with_instrument ? ratio : -ratio);
    i += 2;
  }
  return effects;
}

std::string pairs_text(std::int64_t pairs) {
  return std::to_string(pairs) + (pairs == 1 ? " pair of blocks" : " pairs of blocks");
}

std::string describe(const ObserverEffect& effect) {
  const std::string interval = "95 % interval " + core::format_percent(effect.ci95->low) + " to " +
                               core::format_percent(effect.ci95->high) + " from " + pairs_text(effect.pairs);
  if (!effect.decided) {
    const double more = static_cast<double>(effect.pairs) * (std::pow(*effect.half_width / kObserverHalfWidth, 2) - 1);
    return "the effect cannot be resolved to ±" + core::format_percent(kObserverHalfWidth) + ": " + interval + "; about " +
           core::format_count(std::ceil(more)) + " more pairs needed";
  }
  if (effect.ci95->low <= 0 && effect.ci95->high >= 0) return "no detectable effect: " + interval;
  return std::string(effect.ci95->low > 0 ? "instrumentation slows the run down: "
                                          : "faster with instrumentation than without: ") +
         interval;
}

}  // namespace

ObserverEffect observer_effect(std::span<const ObservedBlock> blocks) {
  const std::vector<double> effects = pair_effects(blocks);
  ObserverEffect result;
  result.pairs = static_cast<std::int64_t>(effects.size());
  result.unpaired_blocks = static_cast<std::int64_t>(blocks.size()) - 2 * result.pairs;
  if (result.pairs < kObserverFewestPairs) {
    result.explanation = "the effect cannot be estimated from " + pairs_text(result.pairs) + ": need at least " +
                         std::to_string(kObserverFewestPairs) + "; use more iterations or smaller blocks";
    return result;
  }
  const LocationEstimate pooled =
      effects.size() >= kSignedRankMinimumCount ? signed_rank_location(effects) : mean_location(effects);
  result.effect_ratio = std::expm1(pooled.value);
  result.ci95 = Interval{std::expm1(pooled.ci95.low), std::expm1(pooled.ci95.high)};
  result.half_width = (result.ci95->high - result.ci95->low) / 2;
  result.decided = *result.half_width <= kObserverHalfWidth || result.ci95->low > kObserverHalfWidth ||
                   result.ci95->high < -kObserverHalfWidth;
  result.explanation = describe(result);
  return result;
}

}  // namespace aaco::stats
