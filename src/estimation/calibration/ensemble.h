#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/calibrated.h"
#include "estimation/calibration.h"
#include "stats/boosted_trees.h"

namespace aaco::estimation {

// Rows to learn a logarithm from; rows of one group stay together.
struct TrainingTable {
  stats::FeatureTable features;
  std::vector<float> targets;
  std::vector<double>
      sizes;  // rows of a group that are near in it are alike: late ones among them count less. Empty: all count alike
  std::vector<int> groups;  // 0 .. group_count - 1
  int group_count = 0;
  // relative: rows that look alike differ by factors, as where a library's choice of algorithm is not told; the mean relative
  // error is made small then, and no row counts less for being late, since far ones do anyway.
  stats::TreeLoss loss = stats::TreeLoss::squared;
  double column_ratio = 0;   // of the features that each tree sees; 0: as usual
  int depth = 0;             // of a tree at most; 0: as usual
  std::vector<bool> learnt;  // rows that the members learn from; the bounds are of all rows. Empty: all
  [[nodiscard]] bool learns(std::size_t row) const { return learnt.empty() || learnt[row]; }
};

struct Ensemble {
  std::vector<stats::BoostedTrees> members;
  std::vector<double> unseen;  // of each row, the answer of the member that had not seen its group
  Bounds bounds;
};

// Cuts the groups into parts and fits a member without each; with fewer than three groups there is nothing to test on: one member
// and wide bounds.
core::Result<Ensemble> fit_ensemble(const TrainingTable& table, const FitSettings& settings);

// Numbers names in order of their first appearance.
std::vector<int> number(const std::vector<std::string>& names, int& count);

// Of estimates against measured values, both positive.
Quality quality_of(std::span<const double> measured, std::span<const double> estimated, int sites);

}  // namespace aaco::estimation
