#pragma once

#include <span>
#include <vector>

namespace aaco::stats {

// What the relative loss asks of the next tree: how far each answer is to be moved, and how much that counts.
struct Pull {
  std::vector<float> gradients;
  std::vector<float> curvatures;
};

// The loss is |exp(d) - 1| of d = answer - target. It has no curvature to speak of, so that of a parabola is taken that touches
// it and lies above it elsewhere (as iteratively reweighted least squares do): rows count by exp(d) / |d|, those nearer than a
// tenth as if they were that far, and none as if it were further than a factor of e. `weights` may be empty.
void pull_of(std::span<const float> answers, std::span<const float> targets, std::span<const float> weights, Pull& pull);

}  // namespace aaco::stats
