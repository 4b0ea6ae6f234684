#include "analytics/ab_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analytics/side_verdict.h"
#include "core/numbers.h"
#include "stats/paired.h"
#include "stats/robust.h"

namespace aaco::analytics::regression {
namespace {

constexpr double kMaxTimes = 100;  // of the duration: what takes longer is not recommended

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

std::optional<stats::PairedEstimate> estimate(const std::vector<AbRoundBlocks>& rounds, stats::StatisticChoice statistic) {
  std::vector<stats::PairedRound> pairs;
  for (const auto& round : rounds) pairs.push_back(stats::make_round(round.sides[0], round.sides[1], statistic));
  return stats::paired_estimate(pairs);
}

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

// Of all rounds so far, were this the last look at them.
double last_level_of(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule) {
  return stats::last_level(rule.level, static_cast<std::int64_t>(rounds.size()) - 1);
}

double median_level(double level) { return 1 - kMedianErrorShare * (1 - level); }

// The rounds with the caller's CPU time in the place of durations; empty unless every block has it.
std::vector<AbRoundBlocks> caller_cpu_of(const std::vector<AbRoundBlocks>& rounds) {
  std::vector<AbRoundBlocks> out;
  for (const auto& round : rounds) {
    AbRoundBlocks& one = out.emplace_back();
    one.b_first = round.b_first;
    for (std::size_t side = 0; side < 2; ++side) {
      if (round.caller_cpu[side].empty() || round.caller_cpu[side].size() != round.sides[side].size()) return {};
      for (const double cpu_ns : round.caller_cpu[side]) one.sides[side].push_back({cpu_ns});
    }
  }
  return out;
}

// How much longer would do, if the change stays where it is: the interval shrinks with the root of the time.
std::string more_time(const MetricResult& metric, const AbRule& rule) {
  const double half = (metric.interval->high - metric.interval->low) / 2;
  const double distance = std::abs(std::abs(*metric.delta_ratio) - metric.threshold_ratio);
  const double times = distance > 0 ? std::pow(half / distance, 2) : 1e9;
  if (times > kMaxTimes)
    return "the change is too close to the threshold of " + core::format_percent(metric.threshold_ratio) +
           "; measuring longer will not resolve it: choose another --threshold";
  return "measure longer: a --duration of about " +
         fmt::format("{:.0f}s", std::ceil(times * static_cast<double>(rule.duration.count()) / 1e9)) + " should be conclusive";
}

}  // namespace

AbRoundChange change_of(const AbRoundBlocks& round) {
  const auto pairs = stats::make_round(round.sides[0], round.sides[1], 0.5);
  return {pairs.effects.empty() ? 0 : std::expm1(stats::median(pairs.effects)), static_cast<std::int64_t>(pairs.effects.size()),
          stats::median(joined(round.sides[0])), stats::median(joined(round.sides[1]))};
}

MetricResult judge_rounds(const std::vector<AbRoundBlocks>& rounds, const std::string& id, stats::StatisticChoice statistic,
                          const AbLevels& levels, const AbRule& rule) {
  MetricResult result;
  result.id = id;
  result.unit = "ns";
  result.scope = "iteration";
  result.threshold_ratio = rule.threshold_ratio;
  const auto found = estimate(rounds, statistic);
  if (!found) {
    result.reason = fmt::format("an interval needs at least {} process rounds, have {}", stats::kFewestRounds, rounds.size());
    result.explanation = "no verdict: " + result.reason;
    return result;
  }
  result.method = Method::paired;
  result.between_sessions_known = true;
  result.baseline = typical(rounds, 0, statistic);
  result.delta_ratio = std::expm1(found->log_change);
  // B's own level drifts with the machine: what is compared are neighbouring blocks.
  result.candidate = *result.baseline * (1 + *result.delta_ratio);
  result.interval = paired_interval(*found, levels.judged);
  result.noise = stats::ChangeNoise{found->standard_error, found->degrees_of_freedom};
  result.detectable = paired_detectable(*found, {rule.threshold_ratio, levels.last, rule.power, levels.change});
  result.p_value = stats::change_p_value(found->log_change, found->standard_error, found->degrees_of_freedom);
  result.shares =
      stats::verdict_shares(found->log_change, found->standard_error, found->degrees_of_freedom, rule.threshold_ratio, true);
  result.verdict = stats::judge(*result.interval, rule.threshold_ratio, true);
  result.explanation = fmt::format(
      "{}: {}, {} interval {} to {}, threshold {}; smallest detectable change {} at {} power; {} block pairs in {} process "
      "rounds",
      to_string(result.verdict), core::format_signed_percent(*result.delta_ratio), core::format_percent(levels.judged),
      core::format_signed_percent(result.interval->low), core::format_signed_percent(result.interval->high),
      core::format_percent(rule.threshold_ratio), to_text(*result.detectable), core::format_percent(rule.power), found->pairs,
      found->rounds);
  return result;
}

std::optional<AbLook> look_at(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule) {
  if (!stats::is_early_look(static_cast<std::int64_t>(rounds.size()))) return std::nullopt;
  const double last = median_level(last_level_of(rounds, rule));
  const MetricResult result = judge_rounds(rounds, "latency.p50_ns", 0.5, {median_level(stats::kEarlyLevel), last}, rule);
  if (result.method == Method::none) return std::nullopt;
  return AbLook{fmt::format("round {}: B {} ({} to {}), detectable {}", rounds.size(),
                            core::format_signed_percent(*result.delta_ratio), core::format_signed_percent(result.interval->low),
                            core::format_signed_percent(result.interval->high), to_text(*result.detectable)),
                result.verdict != stats::Verdict::inconclusive && result.detectable->increase_ratio <= rule.detectable_ratio};
}

std::vector<MetricResult> judge_all(const std::vector<AbRoundBlocks>& rounds, const AbRule& rule) {
  const auto look = look_at(rounds, rule);
  const double last = last_level_of(rounds, rule), level = look && look->enough ? stats::kEarlyLevel : last;
  std::vector<MetricResult> metrics;
  metrics.push_back(judge_rounds(rounds, "latency.p50_ns", 0.5, {median_level(level), median_level(last)}, rule));
  const AbLevels of_mean{level, last, 1 - kMeanErrorShare * (1 - last)};
  metrics.push_back(judge_rounds(rounds, "latency.mean_ns", std::nullopt, of_mean, rule));
  metrics.push_back(throughput_of(metrics.back(), rule.items));
  if (const auto cpu = caller_cpu_of(rounds); !cpu.empty())
    metrics.push_back(judge_rounds(cpu, "latency.caller_cpu_ns", std::nullopt, {level, last}, rule));
  (void)let_mean_decide(metrics, kMeanErrorShare * (1 - level));
  return metrics;
}

std::string recommend_ab(const MetricResult& decided, const AbRule& rule, std::size_t rounds) {
  if (decided.method == Method::none) return fmt::format("increase --duration: only {} process rounds completed", rounds);
  switch (decided.verdict) {
    case stats::Verdict::equivalent: return "no action needed: latency does not favour either side";
    case stats::Verdict::improvement: return "use B";
    case stats::Verdict::regression: return "keep A; run 'aaco run --profile' on both to see where the time goes";
    case stats::Verdict::inconclusive: break;
  }
  return more_time(decided, rule);
}

}  // namespace aaco::analytics::regression
