#include "workflows/optimize/fresh_rounds.h"

#include <cmath>
#include <utility>

#include "stats/compare.h"
#include "stats/robust.h"

namespace aaco::workflows {
namespace {

constexpr double kLevel = 0.95, kPower = 0.8;

}  // namespace

FreshRounds::FreshRounds(std::string configuration, std::string metric, core::Nanoseconds time, std::size_t most)
    : time_ns_(time.count()), most_(most) {
  proof_.configuration = std::move(configuration);
  proof_.metric = std::move(metric);
  proof_.verdict = "inconclusive";
}

bool FreshRounds::more() const {
  if (rounds_.size() >= most_) return false;
  const std::int64_t spent = core::monotonic_ns() - begin_ns_, done = static_cast<std::int64_t>(rounds_.size());
  return rounds_.size() < stats::kFewestRounds || spent + spent / done <= time_ns_;
}

void FreshRounds::add(stats::PairedRound round, const std::vector<double>& baseline, const std::vector<double>& candidate) {
  rounds_.push_back(std::move(round));
  baseline_.insert(baseline_.end(), baseline.begin(), baseline.end());
  candidate_.insert(candidate_.end(), candidate.begin(), candidate.end());
}

OptimizeProof FreshRounds::proof(double threshold_ratio) const {
  OptimizeProof proof = proof_;
  proof.rounds = static_cast<std::int64_t>(rounds_.size());
  const auto estimate = stats::paired_estimate(rounds_);
  if (!estimate) return proof;
  proof.baseline = stats::median(baseline_);
  proof.candidate = stats::median(candidate_);
  proof.change_ratio = std::expm1(estimate->log_change);
  proof.interval = stats::paired_interval(*estimate, kLevel);
  proof.smallest_detectable_ratio = stats::paired_detectable(*estimate, {threshold_ratio, kLevel, kPower}).decrease_ratio;
  proof.verdict = std::string(to_string(stats::judge(*proof.interval, threshold_ratio, true)));
  return proof;
}

}  // namespace aaco::workflows
