#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "stats/boosted_trees.h"

// Boosted trees in about two and a half bytes per leaf, for files that are shipped. docs/formats/calibration.md has the layout.
namespace aaco::stats {

// Leaves are rounded to 8 bits, each tree with its own power of two as the step; splits are kept exactly, missing values go
// right. What from_compact() returns is not changed by another round trip. unsupported where a feature has more than
// kMaxThresholds.
inline constexpr std::size_t kMaxThresholds = 255;
core::Result<std::string> to_compact(const BoostedTrees& trees);

// invalid_input where the bytes are not exactly `trees` whole trees of `columns` features.
core::Result<BoostedTrees> from_compact(std::size_t columns, std::vector<double> bases, std::size_t trees,
                                        std::span<const std::byte> bytes);

}  // namespace aaco::stats
