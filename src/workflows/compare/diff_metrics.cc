#include "workflows/diff_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analytics/gap_causes.h"
#include "analytics/latency.h"
#include "analytics/recorded_time.h"
#include "core/strings.h"
#include "workflows/recorded_run.h"
#include "workflows/session/step_time.h"

namespace aaco::workflows {
namespace {

using analytics::metrics::Direction;
using analytics::regression::Better;
using analytics::regression::MetricInput;
using analytics::regression::SessionSample;
using core::ErrorCode;

constexpr std::size_t kMaxSimilar = 5;  // metrics suggested for an unknown one

constexpr std::string_view kCpuTime = "process.cpu_time_ns";  // of a recorded program

struct Alias {
  std::string_view name, id;
};
constexpr std::array<Alias, 15> kAliases = {{{"p50", "latency.p50_ns"},
                                             {"p90", "latency.p90_ns"},
                                             {"p95", "latency.p95_ns"},
                                             {"p99", "latency.p99_ns"},
                                             {"p999", "latency.p999_ns"},
                                             {"mean", "latency.mean_ns"},
                                             {"latency", "latency.p50_ns"},
                                             {"caller_cpu", "latency.caller_cpu_ns"},
                                             {"throughput", "throughput.items_per_second"},
                                             {"memory", "memory.rss_peak_bytes"},
                                             {"duration", kRunTime},
                                             {"run_time", kRunTime},
                                             {"wall", kRunTime},
                                             {"cpu_time", kCpuTime},
                                             {"energy", "energy.cpu_per_iteration_joules"}}};

struct LatencyStatistic {
  std::string_view id;
  stats::StatisticChoice statistic;
};
constexpr std::array<LatencyStatistic, 6> kLatency = {{{"latency.p50_ns", 0.5},
                                                       {"latency.p90_ns", 0.9},
                                                       {"latency.p95_ns", 0.95},
                                                       {"latency.p99_ns", 0.99},
                                                       {"latency.p999_ns", 0.999},
                                                       {"latency.mean_ns", std::nullopt}}};

// Of a step of a trace, or of the whole of one without steps.
constexpr std::string_view kSpan = "gpu.span_ns";

// The tail, where every session has enough calls for an interval of it.
constexpr std::string_view kTail = "latency.p99_ns";
constexpr std::size_t kFewestForTail = 299;

// What is looked at where nothing is named, as far as both sides have it; the first that can decide does.
constexpr std::array<std::string_view, 19> kUsual = {"latency.p50_ns",
                                                     kSpan,
                                                     "gpu.kernel_sum_ns",
                                                     "latency.p90_ns",
                                                     kTail,
                                                     "latency.mean_ns",
                                                     "throughput.items_per_second",
                                                     kStepRange,
                                                     "latency.caller_cpu_ns",
                                                     "gpu.busy_ns",
                                                     "gpu.idle_ns",
                                                     "gpu.kernel_count",
                                                     "cpu.cores_used",
                                                     kRunTime,
                                                     analytics::regression::kRecordedOwn,
                                                     kCpuTime,
                                                     "memory.rss_peak_bytes",
                                                     "energy.cpu_per_iteration_joules",
                                                     "energy.gpu_per_iteration_joules"};

// Of a load on a language-model server, whose requests overlap: the time of one is not the time per request.
constexpr std::array<std::string_view, 9> kUsualLlm = {"llm.ttft_p50_ns",
                                                       "llm.ttft_p99_ns",
                                                       "llm.tpot_p50_ns",
                                                       "llm.e2el_p50_ns",
                                                       "llm.e2el_p99_ns",
                                                       "llm.requests_per_second",
                                                       "llm.output_tokens_per_second",
                                                       "llm.good_ratio",
                                                       "llm.availability_ratio"};

// Failed requests matter from this share on: a server with more of them holds no load (analytics::llm::keeps).
constexpr std::string_view kAvailability = "llm.availability_ratio";
constexpr double kAvailabilityLost = 0.01;
constexpr std::string_view kGood = "llm.good_ratio";

// Counts that follow from the program and not from chance.
constexpr std::array<std::string_view, 3> kExact = {"gpu.kernel_count", "node.execution_count",
                                                    "launch.kernel_amplification_ratio"};

const LatencyStatistic* latency_statistic(std::string_view id) {
  const auto found = std::find_if(kLatency.begin(), kLatency.end(), [&](const auto& one) { return one.id == id; });
  return found == kLatency.end() ? nullptr : &*found;
}

// "llm.ttft_p99_ns": 0.99 of its series; nullopt for a mean.
stats::StatisticChoice llm_statistic(std::string_view id) {
  if (id.ends_with("_p50_ns")) return 0.5;
  if (id.ends_with("_p90_ns")) return 0.9;
  if (id.ends_with("_p95_ns")) return 0.95;
  return id.ends_with("_p99_ns") ? stats::StatisticChoice(0.99) : std::nullopt;
}

bool is_throughput(std::string_view id) { return id == "throughput.items_per_second"; }

const trace::MetricValue* traced_value(const ComparedSession& session, const std::string& id) {
  if (!session.work) return nullptr;
  const auto found = session.work->values.find(id);
  return found == session.work->values.end() ? nullptr : &found->second;
}

const std::vector<double>* traced_series(const ComparedSession& session, const std::string& id) {
  if (const auto kept = session.series.find(id); kept != session.series.end() && kept->second.size() >= kFewestSteps)
    return &kept->second;
  if (!session.work) return nullptr;
  const auto found = session.work->series.find(id);
  return found == session.work->series.end() || found->second.size() < kFewestSteps ? nullptr : &found->second;
}

// A cause of idle time that a trace does not have took nothing of it.
void fill_idle(const ComparedSession& session, const std::string& id, SessionSample& sample) {
  if (!id.starts_with(analytics::gaps::kIdleMetrics) || !session.work || sample.value || !sample.series.empty()) return;
  sample.value = 0;
  if (const auto count = session.work->time.window_count;
      session.work->has_steps && count >= static_cast<std::int64_t>(kFewestSteps))
    sample.series.assign(static_cast<std::size_t>(count), 0.0);
}

SessionSample sample_of(const ComparedSession& session, const std::string& id, std::optional<std::int64_t> device) {
  SessionSample sample;
  if (latency_statistic(id) != nullptr || is_throughput(id)) sample.series = session.iterations;
  const trace::MetricValue* value = find_metric(session.metrics, id, device);
  if (!device) {
    if (const auto* series = traced_series(session, id)) sample.series = *series;
    if (const auto* traced = traced_value(session, id)) value = traced;
  }
  if (value != nullptr) {
    sample.value = value->value;
    if (value->ci95) sample.ci95 = stats::Interval{value->ci95->low, value->ci95->high};
    const auto* judged = id == kGood ? find_metric(session.metrics, "llm.judged_count") : nullptr;  // empty: all of them
    if (id == kAvailability || id == kGood)
      if (const auto* requests = judged != nullptr ? judged : find_metric(session.metrics, "llm.request_count"))
        sample.trials = std::llround(requests->value);
  }
  return sample;
}

bool has(const ComparedSession& session, const std::string& id, std::optional<std::int64_t> device) {
  const SessionSample sample = sample_of(session, id, device);
  return !sample.series.empty() || sample.value.has_value();
}

// A session whose responses all arrived in one piece has no TPOT, and does not keep the others from being compared.
bool is_left_out(const ComparedSide& side, const ComparedSession& session, std::string_view id) {
  return !side.tpot_unknown && session.without_tpot && id.starts_with(kTpotMetrics);
}

bool has(const ComparedSide& side, const std::string& id, std::optional<std::int64_t> device) {
  return std::all_of(side.sessions.begin(), side.sessions.end(),
                     [&](const auto& session) { return is_left_out(side, session, id) || has(session, id, device); });
}

std::vector<SessionSample> samples_of(const ComparedSide& side, const std::string& id, std::optional<std::int64_t> device) {
  std::vector<SessionSample> samples;
  for (const auto& session : side.sessions) {
    if (is_left_out(side, session, id)) continue;
    samples.push_back(sample_of(session, id, device));
    fill_idle(session, id, samples.back());
  }
  return samples;
}

Better better_of(Direction direction) {
  if (direction == Direction::none) return Better::neither;
  return direction == Direction::higher_is_better ? Better::higher : Better::lower;
}

// Traced kernels are summed over the devices; other metrics have a value for each.
std::vector<std::optional<std::int64_t>> devices_of(const std::string& id, const ComparedSide& side) {
  if (traced_value(side.sessions.front(), id) != nullptr) return {std::nullopt};
  std::vector<std::optional<std::int64_t>> devices;
  for (const auto& metric : side.sessions.front().metrics)
    if (metric.id == id && metric.device) devices.emplace_back(metric.device);
  if (devices.empty()) devices.emplace_back(std::nullopt);
  return devices;
}

std::string scope_of(const MetricInput& metric, const ComparedSession& session, bool series) {
  if (series && (latency_statistic(metric.id) != nullptr || is_throughput(metric.id) || metric.id == kStepRange))
    return session.scope;
  if (series && metric.id.starts_with("llm.")) return "request";
  if (session.work && (session.work->values.contains(metric.id) || metric.id.starts_with(analytics::gaps::kIdleMetrics)))
    return session.work->has_steps ? "step" : "trace";
  return "session";
}

MetricInput input_of(const std::string& id, std::optional<std::int64_t> device, const MetricChoice& choice, const ComparedSide& a,
                     const ComparedSide& b, const analytics::metrics::MetricCatalogue& catalogue) {
  MetricInput metric;
  metric.id = id;
  metric.device = device;
  metric.threshold_ratio = choice.threshold_ratio;
  if (const auto* definition = catalogue.find(id)) {
    metric.unit = definition->unit;
    metric.better = better_of(definition->direction);
  } else if (const auto* value = find_metric(a.sessions.front().metrics, id)) {
    metric.unit = value->unit;
    metric.better = value->unit == "1/s" ? Better::higher : Better::lower;
  }
  if (const auto budget = choice.budgets.find(id); budget != choice.budgets.end()) {
    metric.threshold_ratio = budget->second.threshold_ratio;
    metric.better = budget->second.better;
  }
  if (id == kAvailability && !choice.budgets.contains(id))
    metric.threshold_ratio = std::min(metric.threshold_ratio, kAvailabilityLost);
  metric.exact = std::find(kExact.begin(), kExact.end(), id) != kExact.end();
  if (const auto* latency = latency_statistic(id)) metric.statistic = latency->statistic;
  if (id.starts_with("llm.")) metric.statistic = llm_statistic(id);
  metric.a = samples_of(a, id, device);
  metric.b = samples_of(b, id, device);
  if (id == analytics::metrics::kCallerCpu) metric.statistic = std::nullopt;  // the mean of the blocks
  if (is_throughput(id)) {
    metric.statistic = std::nullopt;
    metric.reciprocal_of = 1e9 * a.sessions.front().items_per_iteration.value_or(1);
  }
  metric.scope = scope_of(metric, a.sessions.front(), !metric.a.front().series.empty());
  return metric;
}

// Ids that begin as a pattern "gpu.*" says, of those both sides have.
std::vector<std::string> matching(std::string_view beginning, const ComparedSide& a, const ComparedSide& b) {
  std::set<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (id.starts_with(beginning) && has(a, id, std::nullopt) && has(b, id, std::nullopt)) ids.insert(id);
  };
  for (const auto& metric : a.sessions.front().metrics) add(metric.id);
  if (a.sessions.front().work)
    for (const auto& [id, value] : a.sessions.front().work->values) add(id);
  return {ids.begin(), ids.end()};
}

core::Result<std::vector<std::string>> named_ids(const MetricChoice& choice, const ComparedSide& a, const ComparedSide& b,
                                                 const analytics::metrics::MetricCatalogue& catalogue) {
  std::vector<std::string> ids;
  for (const std::string& name : choice.names) {
    const std::string id = metric_id(name);
    if (id.ends_with('*')) {
      const auto found = matching(std::string_view(id).substr(0, id.size() - 1), a, b);
      if (found.empty()) return core::fail(ErrorCode::invalid_argument, "no metric present on both sides matches '" + id + "'");
      ids.insert(ids.end(), found.begin(), found.end());
      continue;
    }
    if (catalogue.find(id) == nullptr && !has(a, id, std::nullopt) && !has(b, id, std::nullopt)) {
      return core::fail(ErrorCode::invalid_argument, "unknown metric '" + name + "'", metric_hint(name, catalogue));
    }
    ids.push_back(id);
  }
  return ids;
}

// Of a trace whose steps are none or too few for a series, the span of the device's work leads: it holds the gaps and copies too.
std::vector<std::string> usual_ids(const ComparedSide& a, const ComparedSide& b) {
  const auto any = [&](auto&& says) {
    return std::any_of(a.sessions.begin(), a.sessions.end(), says) || std::any_of(b.sessions.begin(), b.sessions.end(), says);
  };
  const bool long_series = !any([](const ComparedSession& session) { return session.iterations.size() < kFewestSteps; });
  const bool spans = !any([](const ComparedSession& session) { return traced_value(session, std::string(kSpan)) == nullptr; });
  std::vector<std::string> ids;
  if (!any([](const ComparedSession& session) { return session.kind != "llm"; })) {
    for (const std::string_view name : kUsualLlm) {
      const std::string id(name);
      if (name.ends_with("_p99_ns") && any([&](const ComparedSession& session) {
            const auto found = session.series.find(id);
            return found == session.series.end() || found->second.size() < kFewestForTail;
          }))
        continue;
      if (has(a, id, std::nullopt) && has(b, id, std::nullopt)) ids.push_back(id);
    }
    if (!ids.empty()) return ids;
  }
  for (std::string_view name : kUsual) {
    if (name == kSpan && (long_series || !spans)) continue;
    // In a recording that was ended from outside, CPU time says how long it was.
    if (name == kCpuTime && (!has(a, std::string(kRunTime), std::nullopt) || !has(b, std::string(kRunTime), std::nullopt)))
      continue;
    if (name == kTail && any([](const ComparedSession& session) { return session.iterations.size() < kFewestForTail; })) continue;
    if (const std::string id(name); has(a, id, std::nullopt) && has(b, id, std::nullopt)) ids.push_back(id);
  }
  if (ids.empty()) ids.emplace_back("latency.p50_ns");
  const auto kernels = std::find(ids.begin(), ids.end(), "gpu.kernel_sum_ns");
  if (!long_series && kernels != ids.end() && ids.front().starts_with("latency."))
    std::rotate(ids.begin(), ids.begin() + 1, kernels + 1);
  return ids;
}

const std::string* unit_in(const ComparedSession& session, const std::string& id, std::optional<std::int64_t> device) {
  const auto* value = device ? nullptr : traced_value(session, id);
  if (value == nullptr) value = find_metric(session.metrics, id, device);
  return value == nullptr || value->unit.empty() ? nullptr : &value->unit;
}

// A number in another unit is another number: a file that was edited, or a metric of the same name by another tool.
core::Status check_units(const std::string& id, std::optional<std::int64_t> device, const ComparedSide& a,
                         const ComparedSide& b) {
  const std::string* first = nullptr;
  for (const ComparedSide* side : {&a, &b})
    for (const ComparedSession& session : side->sessions) {
      const std::string* const unit = unit_in(session, id, device);
      if (unit == nullptr) continue;
      if (first == nullptr) first = unit;
      if (*unit != *first)
        return core::fail(ErrorCode::invalid_input,
                          id + " has unit '" + *first + "' in one session but '" + *unit + "' in " + session.id,
                          "values in different units cannot be compared: measure again, or fix the file");
    }
  return {};
}

}  // namespace

std::string metric_id(const std::string& name) {
  const auto found = std::find_if(kAliases.begin(), kAliases.end(), [&](const Alias& alias) { return alias.name == name; });
  if (found != kAliases.end()) return std::string(found->id);
  // "ttft_p50" of a language model.
  for (const std::string_view time : {"ttft_", "tpot_", "itl_", "e2el_"})
    if (name.starts_with(time) && !name.ends_with("_ns")) return "llm." + name + "_ns";
  return name;
}

std::string metric_hint(const std::string& name, const analytics::metrics::MetricCatalogue& catalogue) {
  std::vector<std::string_view> known;
  for (const auto& definition : catalogue.definitions()) known.emplace_back(definition.id);
  for (const auto& alias : kAliases) known.emplace_back(alias.name);
  if (const auto near = core::nearest(name, known); !near.empty()) return "did you mean " + std::string(near) + "?";
  // "median latency", "gpu_busy": each word is in the id or the title.
  std::string text = core::to_lower(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '.' || c == '_' || c == '-'; }, ' ');
  const auto words = core::split_words(text);
  std::string similar;
  std::size_t count = 0;
  for (const auto& definition : catalogue.definitions()) {
    const std::string about = definition.id + " " + core::to_lower(definition.title);
    const auto has = [&](std::string_view word) { return about.find(word) != std::string::npos; };
    if (words.empty() || !std::all_of(words.begin(), words.end(), has) || ++count > kMaxSimilar) continue;
    similar += (similar.empty() ? "" : ", ") + definition.id;
  }
  if (!similar.empty()) return "similar metrics: " + similar;
  return "'aaco show SESSION --json' lists the metrics of a session";
}

core::Result<std::vector<MetricInput>> comparison_metrics(const MetricChoice& choice, const ComparedSide& a,
                                                          const ComparedSide& b,
                                                          const analytics::metrics::MetricCatalogue& catalogue) {
  std::vector<std::string> ids;
  if (choice.names.empty()) {
    ids = usual_ids(a, b);
  } else {
    AACO_ASSIGN(ids, named_ids(choice, a, b, catalogue));
  }
  std::vector<MetricInput> metrics;
  std::set<std::string> seen;
  for (const std::string& id : ids) {
    if (!seen.insert(id).second) continue;
    for (const auto& device : devices_of(id, a)) {
      AACO_TRY(check_units(id, device, a, b));
      metrics.push_back(input_of(id, device, choice, a, b, catalogue));
    }
  }
  return metrics;
}

}  // namespace aaco::workflows
