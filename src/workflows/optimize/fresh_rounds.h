#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "stats/paired.h"
#include "workflows/optimize.h"

namespace aaco::workflows {

// Rounds of fresh processes of both sides, and the proof that they make.
class FreshRounds {
 public:
  FreshRounds(std::string configuration, std::string metric, core::Nanoseconds time, std::size_t most);
  // Whether another round is due: fewer than `most`, and it should end in time. At least stats::kFewestRounds are.
  [[nodiscard]] bool more() const;
  // `baseline`, `candidate`: the values of one round; `round`: the effect between them.
  void add(stats::PairedRound round, const std::vector<double>& baseline, const std::vector<double>& candidate);
  // Inconclusive where the rounds give no estimate. Less is better.
  [[nodiscard]] OptimizeProof proof(double threshold_ratio) const;

 private:
  OptimizeProof proof_;
  std::int64_t begin_ns_ = core::monotonic_ns(), time_ns_;
  std::size_t most_;
  std::vector<stats::PairedRound> rounds_;
  std::vector<double> baseline_, candidate_;
};

}  // namespace aaco::workflows
