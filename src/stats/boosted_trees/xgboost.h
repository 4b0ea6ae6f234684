#pragma once

#include <span>

#include "core/result.h"
#include "stats/boosted_trees.h"

namespace aaco::stats {

// fit_trees() after its checks.
core::Result<BoostedTrees> fit_by_library(const FeatureTable& features, std::span<const float> targets,
                                          const TreeSettings& settings, std::span<const float> weights);

}  // namespace aaco::stats
