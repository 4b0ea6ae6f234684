#include <algorithm>
#include <cmath>
#include <string>

#include "stats/boosted_trees.h"
#include "stats/boosted_trees/xgboost.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;

core::Status check_targets(std::span<const float> targets, const TreeSettings& settings) {
  for (const float target : targets) {
    bool fits = std::isfinite(target);
    if (settings.loss == TreeLoss::logistic) fits = target == 0 || target == 1;
    if (settings.loss == TreeLoss::softmax)
      fits = target >= 0 && target < static_cast<float>(settings.classes) && target == std::floor(target);
    if (!fits) return core::fail(ErrorCode::invalid_argument, "cannot fit boosted trees to the target " + std::to_string(target));
  }
  return {};
}

core::Status check_settings(const TreeSettings& s, std::size_t columns) {
  const auto ratio = [](double value) { return value > 0 && value <= 1; };
  // Deeper, a split's two sides could lie too far apart for the packed form.
  constexpr int kMaxTreeDepth = 14, kMaxRounds = 100'000;
  const bool counts = s.rounds >= 1 && s.rounds <= kMaxRounds && s.depth >= 1 && s.depth <= kMaxTreeDepth && s.bins >= 2 &&
                      s.threads >= 1 && (s.loss == TreeLoss::softmax ? s.classes >= 2 : s.classes == 1);
  if (!counts || !ratio(s.learning_rate) || !ratio(s.row_ratio) || !ratio(s.column_ratio) || !(s.least_weight >= 0) ||
      !(s.leaf_penalty >= 0))
    return core::fail(ErrorCode::invalid_argument, "boosted-tree settings out of range");
  if (!s.monotone.empty() && s.monotone.size() != columns)
    return core::fail(ErrorCode::invalid_argument, "monotone constraints must be given for every feature or for none");
  return {};
}

}  // namespace

core::Result<BoostedTrees> fit_trees(const FeatureTable& features, std::span<const float> targets, const TreeSettings& settings,
                                     std::span<const float> weights) {
  AACO_TRY(check_settings(settings, features.columns));
  if (features.columns == 0 || features.columns > BoostedTrees::kMaxColumns || features.rows() == 0 ||
      features.values.size() != features.rows() * features.columns || features.rows() != targets.size() ||
      (!weights.empty() && weights.size() != targets.size()))
    return core::fail(
        ErrorCode::invalid_argument,
        "boosted trees require one target (and one weight, if weights are given) per row, and columns of equal length");
  if (std::any_of(features.values.begin(), features.values.end(), [](float value) { return std::isinf(value); }))
    return core::fail(ErrorCode::invalid_argument, "boosted trees: a feature value is infinite");
  if (!std::all_of(weights.begin(), weights.end(), [](float weight) { return weight > 0 && std::isfinite(weight); }))
    return core::fail(ErrorCode::invalid_argument, "boosted trees: a sample weight is not positive");
  AACO_TRY(check_targets(targets, settings));
  return fit_by_library(features, targets, settings, weights);
}

}  // namespace aaco::stats
