#include "workflows/ab/ab_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analytics/side_verdict.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

using analytics::regression::AbRoundBlocks;
using analytics::regression::AbRule;

const std::set<std::string>& problem_facts() {
  static const std::set<std::string> facts = {"input_shapes", "batch", "mode"};
  return facts;
}

}  // namespace

std::vector<hardware::Difference> ab_differences(std::vector<hardware::Fact> a, std::vector<hardware::Fact> b) {
  auto differences = compare_fingerprints(hardware::make_fingerprint(std::move(a)), hardware::make_fingerprint(std::move(b)));
  for (auto& difference : differences)
    if (difference.severity == hardware::Severity::hard && !problem_facts().contains(difference.key))
      difference.severity = hardware::Severity::soft;
  std::stable_sort(differences.begin(), differences.end(), [](const auto& x, const auto& y) { return x.severity < y.severity; });
  return differences;
}

AbRule rule_of(const AbRequest& request, const std::array<double, 2>& items) {
  const double detectable = request.detectable_ratio.value_or(request.threshold_ratio + kDetectableBeyond);
  return {request.threshold_ratio, request.level, request.power, detectable, request.duration, items};
}

core::Status check_detectable(const AbRequest& request) {
  if (!request.detectable_ratio || *request.detectable_ratio > request.threshold_ratio) return {};
  return core::fail(core::ErrorCode::invalid_argument,
                    fmt::format("--detectable {} is not above --threshold {}: changes within the threshold are never decided",
                                core::format_percent(*request.detectable_ratio), core::format_percent(request.threshold_ratio)),
                    "lower --threshold, or omit --detectable (3 % above the threshold)");
}

void fill_verdict(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule, AbOutcome& outcome) {
  DiffOutcome& verdict = outcome.verdict;
  verdict.metrics = judge_all(rounds, rule);
  const auto& first = verdict.metrics.front();
  verdict.verdict = std::string(to_string(first.verdict));
  verdict.severity = std::string(severity_of(first));
  verdict.confidence = confidence_of(first);
  if (first.delta_ratio) verdict.latency_delta_pct = *first.delta_ratio * 100;
  verdict.recommendation = recommend_ab(first, rule, rounds.size());
  if (!verdict.comparable) verdict.notes.emplace_back("compared because of --force, although the sides run different problems");
  if (!outcome.lost_rounds.empty())
    verdict.notes.push_back(fmt::format("{} workers exited unexpectedly and were replaced: {}", outcome.lost_rounds.size(),
                                        outcome.lost_rounds.front()));
  for (const auto& round : rounds) {
    const auto change = change_of(round);
    outcome.rounds.push_back({change.change_ratio, change.pairs, round.b_first, change.a_median_ns, change.b_median_ns});
  }
}

void refuse_comparison(AbOutcome& outcome) {
  const auto refused = analytics::regression::not_comparable();
  outcome.ended = "nothing was measured";
  outcome.verdict.verdict = refused.verdict;
  outcome.verdict.confidence = refused.confidence;
  outcome.verdict.recommendation = analytics::regression::recommend_not_comparable(outcome.verdict.differences.front().key);
}

}  // namespace aaco::workflows
