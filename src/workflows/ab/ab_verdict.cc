#include "workflows/ab/ab_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/numbers.h"
#include "stats/robust.h"

namespace aaco::workflows {
namespace {

using analytics::regression::Method;
using analytics::regression::MetricResult;
using core::Json;

const std::set<std::string>& problem_facts() {
  static const std::set<std::string> facts = {"input_shapes", "batch", "mode"};
  return facts;
}

std::vector<double> joined(const std::vector<std::vector<double>>& blocks) {
  std::vector<double> all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

// The median over the rounds of each round's own statistic.
double typical(const std::vector<AbRoundBlocks>& rounds, std::size_t side, stats::StatisticChoice statistic) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(stats::statistic_of(joined(round.sides[side]), statistic));
  return stats::median(values);
}

// How much longer would do, if the change stays where it is: the interval shrinks with the root of the time.
std::string more_time(const MetricResult& metric, const AbRequest& request) {
  const double half = (metric.interval->high - metric.interval->low) / 2;
  const double distance = std::abs(std::abs(*metric.delta_ratio) - metric.threshold_ratio);
  const double times = distance > 0 ? std::pow(half / distance, 2) : 1e9;
  if (times > 100)
    return "the change lies too near the threshold of " + core::format_percent(metric.threshold_ratio) +
           " for more time to decide: choose another --threshold";
  return "measure longer: about --duration " +
         fmt::format("{:.0f}s", std::ceil(times * static_cast<double>(request.duration.count()) / 1e9)) + " would decide";
}

std::string recommend(const MetricResult& metric, const AbRequest& request, std::size_t rounds) {
  if (metric.method == Method::none) return fmt::format("give it more --duration: only {} rounds of processes were done", rounds);
  switch (metric.verdict) {
    case stats::Verdict::equivalent: return "nothing to do: choose by something else than latency";
    case stats::Verdict::improvement: return "take B";
    case stats::Verdict::regression: return "keep A; 'aaco run --profile' of both shows where the time goes";
    case stats::Verdict::inconclusive: break;
  }
  return more_time(metric, request);
}

// `items`: what a call of each side works on.
MetricResult throughput_of(const MetricResult& mean, const std::array<double, 2>& items) {
  MetricResult result = mean;
  result.id = "throughput.items_per_second";
  result.unit = "1/s";
  if (!mean.delta_ratio) return result;
  const auto over = [&](double ratio) { return items[1] / items[0] / (1 + ratio) - 1; };
  result.baseline = items[0] * 1e9 / *mean.baseline;
  result.candidate = items[1] * 1e9 / *mean.candidate;
  result.delta_ratio = over(*mean.delta_ratio);
  result.interval = stats::Interval{over(mean.interval->high), over(mean.interval->low)};
  result.verdict = stats::judge(*result.interval, result.threshold_ratio, false);
  return result;
}

}  // namespace

std::vector<hardware::Difference> ab_differences(std::vector<hardware::Fact> a, std::vector<hardware::Fact> b) {
  auto differences = compare_fingerprints(hardware::make_fingerprint(std::move(a)), hardware::make_fingerprint(std::move(b)));
  for (auto& difference : differences)
    if (!problem_facts().contains(difference.key)) difference.severity = hardware::Severity::soft;
  std::stable_sort(differences.begin(), differences.end(), [](const auto& x, const auto& y) { return x.severity < y.severity; });
  return differences;
}

std::optional<stats::PairedEstimate> AbSamples::estimate(stats::StatisticChoice statistic) const {
  std::vector<stats::PairedRound> rounds;
  for (const auto& round : rounds_) rounds.push_back(stats::make_round(round.sides[0], round.sides[1], statistic));
  return stats::paired_estimate(rounds);
}

MetricResult AbSamples::judged(const std::string& id, stats::StatisticChoice statistic, double level,
                               const AbRequest& request) const {
  MetricResult result;
  result.id = id;
  result.unit = "ns";
  result.scope = "iteration";
  result.threshold_ratio = request.threshold_ratio;
  const auto found = estimate(statistic);
  if (!found) {
    result.reason = fmt::format("{} rounds of processes are too few for an interval; at least {} are needed", rounds_.size(),
                                stats::kFewestRounds);
    result.explanation = "no verdict: " + result.reason;
    return result;
  }
  result.method = Method::paired;
  result.between_sessions_known = true;
  result.baseline = typical(rounds_, 0, statistic);
  result.candidate = typical(rounds_, 1, statistic);
  result.delta_ratio = std::expm1(found->log_change);
  result.interval = paired_interval(*found, level);
  result.smallest_detectable_ratio = paired_detectable_ratio(*found, request.level, request.power);
  result.p_value = stats::change_p_value(found->log_change, found->standard_error, found->degrees_of_freedom);
  result.shares =
      stats::verdict_shares(found->log_change, found->standard_error, found->degrees_of_freedom, request.threshold_ratio, true);
  result.verdict = stats::judge(*result.interval, request.threshold_ratio, true);
  result.explanation = fmt::format(
      "{}: {}, {} interval {} to {}, threshold {}; the smallest detectable change at {} is {}; {} pairs of blocks in {} "
      "rounds of processes",
      to_string(result.verdict), core::format_signed_percent(*result.delta_ratio), core::format_percent(level),
      core::format_signed_percent(result.interval->low), core::format_signed_percent(result.interval->high),
      core::format_percent(request.threshold_ratio), core::format_percent(request.level),
      core::format_percent(*result.smallest_detectable_ratio), found->pairs, found->rounds);
  return result;
}

std::optional<AbSamples::Look> AbSamples::look(const AbRequest& request) const {
  if (!stats::is_early_look(static_cast<std::int64_t>(rounds_.size()))) return std::nullopt;
  const MetricResult result = judged("latency.p50_ns", 0.5, stats::kEarlyLevel, request);
  if (result.method == Method::none) return std::nullopt;
  return Look{
      fmt::format("round {}: B {} ({} to {}), detectable {}", rounds_.size(), core::format_signed_percent(*result.delta_ratio),
                  core::format_signed_percent(result.interval->low), core::format_signed_percent(result.interval->high),
                  core::format_percent(*result.smallest_detectable_ratio)),
      result.verdict != stats::Verdict::inconclusive && *result.smallest_detectable_ratio <= request.detectable_ratio};
}

void AbSamples::decide(const AbRequest& request, AbOutcome& outcome) const {
  const auto at_look = look(request);
  const auto rounds = static_cast<std::int64_t>(rounds_.size());
  const double level = at_look && at_look->enough ? stats::kEarlyLevel : stats::last_level(request.level, rounds - 1);
  DiffOutcome& verdict = outcome.verdict;
  verdict.metrics.push_back(judged("latency.p50_ns", 0.5, level, request));
  verdict.metrics.push_back(judged("latency.mean_ns", std::nullopt, level, request));
  verdict.metrics.push_back(throughput_of(verdict.metrics.back(), items_));
  const MetricResult& first = verdict.metrics.front();
  verdict.verdict = std::string(to_string(first.verdict));
  verdict.severity = std::string(severity_of(first));
  verdict.confidence = confidence_of(first);
  if (first.delta_ratio) verdict.latency_delta_pct = *first.delta_ratio * 100;
  verdict.recommendation = recommend(first, request, rounds_.size());
  if (!verdict.comparable) verdict.notes.emplace_back("compared by force: the sides work on other problems");
  if (!outcome.lost_rounds.empty())
    verdict.notes.push_back(fmt::format("{} measuring processes ended by themselves and were replaced: {}",
                                        outcome.lost_rounds.size(), outcome.lost_rounds.front()));
  for (const auto& round : rounds_) {
    const auto pairs = stats::make_round(round.sides[0], round.sides[1], 0.5);
    outcome.rounds.push_back({pairs.effects.empty() ? 0 : std::expm1(stats::median(pairs.effects)),
                              static_cast<std::int64_t>(pairs.effects.size()), round.b_first,
                              stats::median(joined(round.sides[0])), stats::median(joined(round.sides[1]))});
  }
}

void refuse_comparison(AbOutcome& outcome) {
  outcome.ended = "nothing was measured";
  outcome.verdict.verdict = "not-comparable";
  outcome.verdict.confidence = 1;
  outcome.verdict.recommendation =
      "make both sides equal in " + outcome.verdict.differences.front().key + ", or compare anyway with --force";
}

Json to_json(const AbOutcome& outcome, const AbRequest& request) {
  DiffRequest as_diff;
  as_diff.metrics.threshold_ratio = request.threshold_ratio;
  as_diff.level = request.level;
  as_diff.force = request.force;
  Json rounds = Json::array();
  for (const AbRound& round : outcome.rounds)
    rounds.push(Json::object({{"change_ratio", round.change_ratio},
                              {"pairs", round.pairs},
                              {"b_first", round.b_first},
                              {"a_median_ns", round.a_median_ns},
                              {"b_median_ns", round.b_median_ns}}));
  Json lost = Json::texts(outcome.lost_rounds);
  Json ab = Json::object({{"ended", outcome.ended},
                          {"together", outcome.together},
                          {"interrupted", outcome.interrupted},
                          {"wall_ns", outcome.wall_ns},
                          {"duration_ns", static_cast<long long>(request.duration.count())},
                          {"lost_rounds", std::move(lost)},
                          {"rounds", std::move(rounds)}});
  return to_json(outcome.verdict, as_diff).set("ab", std::move(ab));
}

}  // namespace aaco::workflows
