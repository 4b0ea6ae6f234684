#include "stats/boosted_trees/relative_loss.h"

#include <algorithm>
#include <cmath>

namespace aaco::stats {

void pull_of(std::span<const float> answers, std::span<const float> targets, std::span<const float> weights, Pull& pull) {
  constexpr float kCorner = 0.1F, kFurthest = 1;
  pull.gradients.resize(targets.size());
  pull.curvatures.resize(targets.size());
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const float distance = answers[row] - targets[row];
    // In corners, so that a row that is near counts about one, which least weights of leaves are in.
    const float counts = std::exp(std::clamp(distance, -kFurthest, kFurthest)) * kCorner / std::hypot(distance, kCorner) *
                         (weights.empty() ? 1 : weights[row]);
    pull.gradients[row] = counts * distance;
    pull.curvatures[row] = counts;
  }
}

}  // namespace aaco::stats
