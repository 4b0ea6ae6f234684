#include "analytics/side_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analytics/recorded_time.h"
#include "core/numbers.h"
#include "stats/distributions.h"

namespace aaco::analytics::regression {
namespace {

using stats::Verdict;

constexpr std::string_view kMedian = kMedianLatency, kMean = kMeanLatency, kAvailability = "llm.availability_ratio";

bool is_served(std::string_view id) { return id.starts_with("llm."); }
bool is_time(std::string_view id) {
  return id.starts_with("latency.") || id == "process.run_time_ns" || id == "process.cpu_time_ns" || id == kRecordedOwn ||
         id == "gpu.span_ns" || id == "gpu.kernel_sum_ns" || (is_served(id) && id.ends_with("_ns"));
}

bool changed(const MetricResult& metric) {
  return metric.verdict == Verdict::regression || metric.verdict == Verdict::improvement;
}

std::optional<double> latency_delta(const std::vector<MetricResult>& metrics) {
  if (is_time(metrics.front().id) && metrics.front().delta_ratio &&
      (metrics.front().verdict == Verdict::regression || metrics.front().verdict == Verdict::improvement))
    return *metrics.front().delta_ratio * 100;
  const auto find = [&](auto&& wanted) -> const MetricResult* {
    const auto found =
        std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.delta_ratio && wanted(one); });
    return found == metrics.end() ? nullptr : &*found;
  };
  const auto* median = find([](const MetricResult& one) { return one.id == "latency.p50_ns"; });
  if (median == nullptr) median = find([](const MetricResult& one) { return one.id.starts_with("latency."); });
  if (median == nullptr) median = find([](const MetricResult& one) { return one.id == "gpu.span_ns"; });
  if (median == nullptr)
    median = find([](const MetricResult& one) { return one.id == "gpu.busy_ns" || one.id == "gpu.kernel_sum_ns"; });
  return median != nullptr ? std::optional(*median->delta_ratio * 100) : std::nullopt;
}

constexpr std::string_view kKernels = "gpu.kernel_sum_ns";

// Whether the whole took no longer by more than the threshold, whatever the kernels did.
bool took_no_longer(const MetricResult& whole) {
  if (whole.id != "gpu.span_ns" && !whole.id.starts_with("latency.")) return false;
  return whole.verdict == Verdict::equivalent || (whole.delta_ratio && *whole.delta_ratio < whole.threshold_ratio);
}

// Returns what to say where kernels have more to do and nothing takes longer.
std::string let_kernels_decide(std::vector<MetricResult>& metrics) {
  if (changed(metrics.front())) return {};
  const auto kernels = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kKernels; });
  if (kernels == metrics.end() || kernels->verdict != Verdict::regression) return {};
  if (took_no_longer(metrics.front()))
    return fmt::format("more kernel work, {} ({} {}, {} {})",
                       metrics.front().verdict == Verdict::equivalent ? "hidden: no slower" : "and not proven slower", kKernels,
                       core::format_signed_percent(kernels->delta_ratio.value_or(0)), metrics.front().id,
                       core::format_signed_percent(metrics.front().delta_ratio.value_or(0)));
  std::rotate(metrics.begin(), kernels, kernels + 1);
  return {};
}

// A server is worse where any of what it is judged by got worse: an unchanged first token does not make slower tokens equal. The
// regression that is least likely chance decides, corrected for being one of several (Holm). Requests that fail cost nothing: a
// gain in time does not make up for them.
void let_served_decide(std::vector<MetricResult>& metrics, std::vector<std::string>& notes) {
  constexpr double kError = 0.05;
  const MetricResult& first = metrics.front();
  if (!is_served(first.id) || first.verdict == Verdict::regression) return;
  const bool faster = changed(first);
  const auto chance = [faster](const MetricResult& one) {
    const bool may_decide = faster ? one.id == kAvailability : is_served(one.id);
    return may_decide && one.verdict == Verdict::regression ? one.p_holm.value_or(1) : 1;
  };
  const auto found =
      std::min_element(metrics.begin(), metrics.end(), [&](const auto& x, const auto& y) { return chance(x) < chance(y); });
  if (chance(*found) > kError) return;
  notes.push_back(
      fmt::format("{} regressed and determines the verdict; {} is {}", found->id, first.id, to_string(first.verdict)));
  std::rotate(metrics.begin(), found, found + 1);
}

void let_budgets_decide(std::vector<MetricResult>& metrics, std::vector<std::string>& notes) {
  if (metrics.front().verdict == Verdict::regression) return;
  const auto multiple = [](const MetricResult& one) {
    const bool broken = one.verdict == Verdict::regression && one.delta_ratio && one.threshold_ratio > 0;
    return broken ? std::abs(*one.delta_ratio) / one.threshold_ratio : 0;
  };
  const auto worst =
      std::max_element(metrics.begin(), metrics.end(), [&](const auto& x, const auto& y) { return multiple(x) < multiple(y); });
  if (multiple(*worst) <= 0) return;
  notes.push_back(fmt::format("{} exceeded its budget of {} and determines the verdict; {} is {}", worst->id,
                              core::format_percent(worst->threshold_ratio), metrics.front().id,
                              to_string(metrics.front().verdict)));
  std::rotate(metrics.begin(), worst, worst + 1);
}

// `led`: the metric that led before another one decided.
std::string opposite_of(const std::vector<MetricResult>& metrics, const std::string& led) {
  const MetricResult& first = metrics.front();
  if (!changed(first) || !is_time(first.id) || !first.delta_ratio) return {};
  std::string text;
  for (const MetricResult& one : metrics) {
    if (!is_time(one.id) || !one.delta_ratio || *one.delta_ratio * *first.delta_ratio >= 0) continue;
    if (!changed(one) && (one.id != led || std::abs(*one.delta_ratio) < one.threshold_ratio)) continue;
    text += fmt::format("{} {} {}{}", text.empty() ? ", but" : ",", one.id, core::format_signed_percent(*one.delta_ratio),
                        changed(one) ? "" : " (not significant)");
  }
  return text.empty() ? text : fmt::format("{} {}{}", first.id, core::format_signed_percent(*first.delta_ratio), text);
}

constexpr std::int64_t kMaxMoreSessions = 50;  // that anyone measures

std::string recommend_more(const MetricResult& decided) {
  const bool traced = decided.scope == "step" || decided.scope == "trace";
  if (decided.more_iterations)
    return fmt::format("{} about {} more {}{} per side", traced ? "record" : "measure", *decided.more_iterations,
                       traced ? "step" : "iteration", *decided.more_iterations == 1 ? "" : "s");
  if (traced) return "record longer traces (more steps), or give several traces per side";
  if (decided.more_sessions && decided.third_session_within_ratio)
    return fmt::format(
        "measure another session of either side: it decides if it repeats within {}; otherwise measure {} more per side, or use "
        "'aaco ab'",
        core::format_percent(*decided.third_session_within_ratio), *decided.more_sessions);
  if (decided.more_sessions.value_or(0) > kMaxMoreSessions)
    return fmt::format(
        "more than {} more sessions per side would be needed: use 'aaco ab', which interleaves both sides, "
        "or a quieter machine ('aaco capsule', --isolate)",
        kMaxMoreSessions);
  if (decided.more_sessions)
    return fmt::format("measure about {} more session{} per side, or use 'aaco ab'", *decided.more_sessions,
                       *decided.more_sessions == 1 ? "" : "s");
  if (decided.detectable && is_noisy(*decided.detectable, decided.threshold_ratio))
    return "measure more sessions on an idle machine ('aaco capsule', --isolate), or use 'aaco ab', which interleaves both sides";
  return "the change is too close to the threshold: use 'aaco ab', which interleaves both sides, or another --threshold";
}

std::string jumps(const stats::Interval& modes) {
  return fmt::format("jumps between two modes ({} and {})", core::format_duration(modes.low), core::format_duration(modes.high));
}

// A median between two modes jumps with the share of either: it says little of a change, and the 90 % quantile takes its place.
std::string let_tail_decide(std::vector<MetricResult>& metrics) {
  const MetricResult& first = metrics.front();
  if (first.id != kMedian || !first.modes || changed(first)) return {};
  const auto tail = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kTailLatency; });
  const std::string modes = jumps(*first.modes);
  if (tail == metrics.end() || !changed(*tail))
    return fmt::format("{} {}: it resolves small changes only with many more sessions", kMedian, modes);
  const Verdict median = first.verdict;
  std::rotate(metrics.begin(), tail, tail + 1);
  return fmt::format("{} decides ({}): {} is {} and {}", kTailLatency,
                     core::format_signed_percent(metrics.front().delta_ratio.value_or(0)), kMedian, to_string(median), modes);
}

constexpr double kMaxOpenLoss = 2;  // thresholds: a loss of the mean that the data leave open beside an equivalent median
// A median that stayed where it was does not make two sides equal whose mean may have regressed: rare long iterations are in the
// mean only.
std::string doubt_the_median(std::vector<MetricResult>& metrics) {
  MetricResult& first = metrics.front();
  if (first.id != kMedian || first.verdict != Verdict::equivalent) return {};
  const auto mean = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kMean; });
  if (mean == metrics.end() || mean->verdict == Verdict::equivalent || !mean->interval || mean->delta_ratio.value_or(0) <= 0)
    return {};
  if (*mean->delta_ratio <= first.threshold_ratio && mean->interval->high <= kMaxOpenLoss * first.threshold_ratio) return {};
  first.verdict = Verdict::inconclusive;
  first.more_sessions = mean->more_sessions;
  first.more_iterations = mean->more_iterations;
  return fmt::format("the median is equivalent, but the mean changed by {} ({} to {}): rare long iterations; more would decide",
                     core::format_signed_percent(*mean->delta_ratio), core::format_signed_percent(mean->interval->low),
                     core::format_signed_percent(mean->interval->high));
}

// Where the mean is nearer to a decision than the median, it tells how many sessions are needed.
std::string count_for_the_mean(std::vector<MetricResult>& metrics) {
  MetricResult& first = metrics.front();
  if (first.id != kMedian || first.verdict != Verdict::inconclusive) return {};
  const auto mean = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kMean; });
  if (mean == metrics.end() || mean->verdict != Verdict::inconclusive) return {};
  const auto more = mean->corrected ? std::optional<std::int64_t>(1) : mean->more_sessions;  // all but decided
  if (!more || (first.more_sessions && *first.more_sessions <= *more)) return {};
  first.more_sessions = more;
  const bool traced = first.scope == "step" || first.scope == "trace";
  return fmt::format("{} is nearer to a decision than {}: {} more {}{} per side should decide it", kMean, kMedian,
                     *more > kMaxMoreSessions ? fmt::format("more than {}", kMaxMoreSessions) : fmt::format("about {}", *more),
                     traced ? "trace" : "session", *more == 1 ? "" : "s");
}

// Of an undecided median: the mean, which shares the decision, decides smaller changes of all calls.
std::string finer_mean(const std::vector<MetricResult>& metrics) {
  const MetricResult& first = metrics.front();
  if (first.id != kMedian || first.verdict != Verdict::inconclusive || !first.detectable) return {};
  const auto mean = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kMean; });
  if (mean == metrics.end() || !mean->detectable || mean->detectable->increase_ratio >= first.detectable->increase_ratio)
    return {};
  return fmt::format("{} decides as well: of a change of all calls it detects {}", kMean, to_text(*mean->detectable));
}

}  // namespace

bool shares_decision(const std::vector<MetricInput>& metrics) {
  if (metrics.empty() || (metrics.front().id != kMedian && metrics.front().id != kRecordedTime)) return false;
  const std::string_view other = metrics.front().id == kMedian ? kMean : beside_run_time(metrics);
  return std::any_of(metrics.begin(), metrics.end(), [&](const MetricInput& one) { return one.id == other; });
}

std::string let_own_time_decide(std::vector<MetricResult>& metrics, double own_error) {
  const MetricResult& first = metrics.front();
  if (own_error <= 0 || first.id != kRecordedTime || first.verdict != Verdict::inconclusive || !first.interval) return {};
  const std::string_view other = beside_run_time(metrics);
  const auto own = std::find_if(metrics.begin(), metrics.end(), [&](const MetricResult& one) { return one.id == other; });
  if (own == metrics.end() || !changed(*own) || own->p_value.value_or(1) > own_error) return {};
  const bool slower = own->verdict == Verdict::regression;
  if (slower ? first.interval->high < 0 : first.interval->low > 0) return {};
  const std::string run_time = first.delta_ratio ? core::format_signed_percent(*first.delta_ratio) : "";
  std::rotate(metrics.begin(), own, own + 1);
  return fmt::format("{} decides ({}): {} ({}) is inconclusive; it is what the program does itself, without {}", other,
                     core::format_signed_percent(metrics.front().delta_ratio.value_or(0)), kRecordedTime, run_time,
                     other == kRecordedOwn ? "its waits for a CPU" : "its waits and sleeps");
}

std::string let_mean_decide(std::vector<MetricResult>& metrics, double mean_error) {
  if (mean_error <= 0 || metrics.front().id != kMedian) return {};
  const auto mean = std::find_if(metrics.begin(), metrics.end(), [](const MetricResult& one) { return one.id == kMean; });
  if (mean == metrics.end() || !changed(*mean) || mean->p_value.value_or(1) > mean_error) return {};
  const Verdict median = metrics.front().verdict;
  if (median == mean->verdict || (changed(metrics.front()) && mean->verdict != Verdict::regression)) return {};
  const std::string why = metrics.front().modes ? "it " + jumps(*metrics.front().modes)
                                                : std::string("rare long calls or stalls affect the mean but not the median");
  std::rotate(metrics.begin(), mean, mean + 1);
  return fmt::format("{} decides ({}): {} is {}; {}", kMean, core::format_signed_percent(metrics.front().delta_ratio.value_or(0)),
                     kMedian, to_string(median), why);
}

SideVerdict decide(std::vector<MetricResult>& metrics, const DecisionRule& rule) {
  SideVerdict out;
  const std::string led = metrics.front().id;
  bool hidden = false;  // kernels that became slower
  if (std::string note = let_mean_decide(metrics, rule.mean_error); !note.empty()) out.notes.push_back(std::move(note));
  if (rule.mean_error > 0)
    for (std::string note : {let_tail_decide(metrics), count_for_the_mean(metrics), finer_mean(metrics),
                             let_own_time_decide(metrics, rule.mean_error)})
      if (!note.empty()) out.notes.push_back(std::move(note));
  if (rule.kernels_may_decide) {  // the user named no metric
    if (std::string note = doubt_the_median(metrics); !note.empty()) out.notes.push_back(std::move(note));
    if (std::string note = let_kernels_decide(metrics); !note.empty()) {
      out.notes.push_back(std::move(note));
      hidden = true;
    }
    let_served_decide(metrics, out.notes);
  }
  if (rule.every_budget) let_budgets_decide(metrics, out.notes);
  const MetricResult& first = metrics.front();
  out.verdict = std::string(to_string(first.verdict));
  out.severity = std::string(severity_of(first));
  out.confidence = confidence_of(first);
  out.latency_delta_pct = latency_delta(metrics);
  out.opposite = opposite_of(metrics, led);
  for (std::size_t i = 1; i < metrics.size(); ++i)
    if (metrics[i].verdict == Verdict::regression && first.verdict != Verdict::regression &&
        !(hidden && metrics[i].id == kKernels))
      out.notes.push_back(
          metrics[i].id +
          " also regressed but does not determine the verdict: list it first in --metric to base the verdict on it");
  return out;
}

SideVerdict not_comparable() {
  SideVerdict out;
  out.verdict = std::string(kNotComparable);
  out.confidence = 1;  // the facts differ for certain
  return out;
}

std::string recommend(const MetricResult& decided, const std::optional<std::string>& cause) {
  if (decided.method == Method::none) return decided.reason;
  if (decided.verdict == Verdict::equivalent) return "no action needed";
  if (decided.verdict == Verdict::inconclusive) return recommend_more(decided);
  if (!cause && decided.id.starts_with("llm."))
    return "compare what 'aaco explain' says of both sides; --ebpf or --observe records what a server waits for, --profile the "
           "nodes of a model in this process";
  return cause.value_or("run both sides with --profile, or import a trace of each, to see where the difference comes from");
}

std::string recommend_not_comparable(std::string_view key) {
  if (key == "baseline.expired")
    return "measure a new baseline ('aaco baseline add NAME SESSION --replace'), or use the old one with --force";
  return fmt::format("use the same {} on both sides, or compare anyway with --force", key);
}

void narrow(std::vector<MetricInput>& metrics, std::string_view id, double deviation_ns) {
  const double half = stats::kNormal95 * deviation_ns / std::sqrt(2.0);
  for (auto& metric : metrics) {
    if (metric.id != id || metric.device) continue;
    for (auto* side : {&metric.a, &metric.b})
      for (SessionSample& sample : *side)
        if (sample.series.empty() && sample.value && *sample.value > half &&
            (!sample.ci95 || sample.ci95->high - sample.ci95->low > 2 * half))
          sample.ci95 = stats::Interval{*sample.value - half, *sample.value + half};
  }
}

}  // namespace aaco::analytics::regression
