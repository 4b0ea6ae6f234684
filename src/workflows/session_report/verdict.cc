#include "workflows/session_report/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "core/numbers.h"
#include "report/rates.h"
#include "trace/session_kind.h"
#include "workflows/session_report/record_verdict.h"

namespace aaco::workflows {
namespace {

constexpr double kNarrow = 0.02;  // relative width of the median's interval: a well-known median
constexpr double kWide = 0.10;    // and one that is hardly known
constexpr double kHiddenShare = 0.10;
constexpr double kMostlyDisturbed = 0.5;  // of the iterations: the median is theirs

std::string counted(std::int64_t count, const std::string& noun) {
  return core::format_count(static_cast<double>(count)) + " " + noun + (count == 1 ? "" : "s");
}

// "trace.json", "a.csv and 3 more files".
std::string imported_files(const report::ReportModel& model) {
  const auto& files = model.session.outcome.files.items();
  if (files.empty()) return "the import";
  const std::string first(files.front()["file"].text());
  return files.size() == 1 ? first
                           : fmt::format("{} and {}", first, counted(static_cast<std::int64_t>(files.size()) - 1, "more file"));
}

std::string what_ran(const report::ReportModel& model) {
  const auto& outcome = model.session.outcome;
  if (model.session.kind == "import") return imported_files(model);
  const std::string name(outcome.model);
  if (model.session.kind != "run") return name;
  const auto batch = outcome.batch;
  const std::string requested = outcome.requested_backend.empty() ? "" : " (requested: " + outcome.requested_backend + ")";
  return fmt::format("{} on {}{}{}", name, outcome.backend, requested, batch ? fmt::format(", batch {},", *batch) : "");
}

// The cause comes before the model's parts: what others take has no part of its own among them.
std::string where_it_went(const report::ReportModel& model) {
  if (!model.lost_time.empty()) return "; " + model.lost_time;
  if (model.operators.empty()) return {};
  const auto& first = model.operators.front();
  std::string text = fmt::format("; {} takes {} of it", first.name, core::format_percent(first.share_ratio));
  if (model.operators.size() > 1 && model.operators[1].share_ratio >= kHiddenShare)
    text += fmt::format(", {} {}", model.operators[1].name, core::format_percent(model.operators[1].share_ratio));
  return text;
}

std::string latency_sentence(const report::ReportModel& model, const trace::MetricValue& median) {
  std::string text = fmt::format("{} takes {} per call", what_ran(model), core::format_duration(median.value));
  if (const auto* rate = find_metric(model.metrics, "throughput.items_per_second"))
    text += fmt::format(" ({} items/s)", report::rate_text(rate->value));
  return text + where_it_went(model) + ".";
}

// How far outside disturbance reaches into the median: what it would be without is known only where blocks were left alone.
struct Disturbance {
  const char* level = "high";
  std::string doubt;  // empty: nothing that matters
};
Disturbance disturbance_of(const core::Json& noise, double median) {
  const double ratio = noise["disturbed_ratio"].as_f64().value_or(0);
  if (ratio <= 0 || noise["dropped"].as_bool().value_or(false) || median <= 0) return {};
  const std::string share = core::format_percent(ratio) + " of the iterations were affected by external load";
  if (const auto quiet = noise["undisturbed"]["median_ns"].as_f64(); quiet && *quiet > 0) {
    const double shift = std::abs(median / *quiet - 1);
    if (shift <= kNarrow) return {};
    return {shift > kWide ? "low" : "medium", share + ", which shifts the median by " + core::format_percent(shift)};
  }
  if (ratio < kMostlyDisturbed) return {};
  return {"low", share + "; undisturbed latency unavailable"};
}

// How well the median is known, and what speaks against trusting it.
std::string latency_confidence(const report::ReportModel& model, const trace::MetricValue& median) {
  std::vector<std::string> doubts;
  std::string level = "high";
  const auto lower = [&level](const char* to) {
    if (level == "high" || std::string_view(to) == "low") level = to;
  };
  std::string width = "no interval";
  if (median.ci95 && median.value > 0) {
    const double relative = (median.ci95->high - median.ci95->low) / median.value;
    width = relative < 2 ? "median ±" + core::format_percent(relative / 2) : "the median is very uncertain";
    if (relative > kWide)
      lower("low");
    else if (relative > kNarrow)
      lower("medium");
  } else {
    lower("low");
  }
  if (const auto* drift = find_metric(model.metrics, "latency.drift_ratio"); drift && std::abs(drift->value) > 0.05) {
    doubts.push_back(fmt::format("latency drifted by {}", core::format_percent(drift->value)));
    lower("medium");
  }
  if (auto disturbed = disturbance_of(model.session.outcome.noise, median.value); !disturbed.doubt.empty()) {
    lower(disturbed.level);
    doubts.push_back(std::move(disturbed.doubt));
  }
  if (model.session.outcome.warmup_stationary == false) {
    doubts.emplace_back("latency was not stable at the end of warm-up");
    lower("medium");
  }
  if (const auto* effect = find_metric(model.metrics, "observer.effect_ratio"); effect && std::abs(effect->value) > 0.02)
    doubts.push_back(fmt::format("telemetry changed latency by {} in the blocks where it ran (not counted)",
                                 core::format_percent(effect->value)));
  const auto* count = find_metric(model.metrics, "latency.count");
  std::string text = fmt::format("{}: {} iterations, {}", level, core::format_count(count ? count->value : 0), width);
  for (const auto& doubt : doubts) text += ", " + doubt;
  return text;
}

// Of an import without iterations and without work of a GPU: what is in it, and what it therefore cannot tell.
VerdictText imported(const report::ReportModel& model) {
  const core::Json& rows = model.session.outcome.rows;
  const auto count = [&](const char* key) { return rows[key].as_i64().value_or(0); };
  std::vector<std::string> holds;
  const auto add = [&](const char* key, const char* noun) {
    if (const auto number = count(key); number > 0) holds.push_back(counted(number, noun));
  };
  add("calls", "call");
  add("copies", "memory transfer");
  add("node_executions", "node execution");
  add("graph_nodes", "graph node");
  add("samples", "sensor reading");
  if (count("kernels") == 0) add("counters", "counter value");
  add("kernels", "kernel");  // without a duration: else there were a verdict of the GPU
  const core::Json& totals = model.session.outcome.totals;
  if (const auto names = totals["kernel_names"].as_i64().value_or(0); names > 0 && count("kernels") == 0) {
    const auto* executions = find_metric(model.metrics, "gpu.kernel_count");
    const auto* sum = find_metric(model.metrics, "gpu.kernel_sum_ns");
    holds.push_back(fmt::format("totals of {} ({}, {} in total)", counted(names, "kernel"),
                                counted(static_cast<std::int64_t>(executions ? executions->value : 0), "execution"),
                                core::format_duration(sum ? sum->value : 0)));
  }
  if (const auto names = totals["call_names"].as_i64().value_or(0); names > 0)
    holds.push_back("totals of " + counted(names, "call"));
  if (const auto samples = totals["samples"].as_i64().value_or(0); samples > 0)
    holds.push_back(counted(samples, "program counter sample"));
  VerdictText verdict;
  std::string text = imported_files(model) + (model.session.outcome.files.items().size() > 1 ? " contain " : " contains ");
  for (std::size_t i = 0; i < holds.size(); ++i) text += (i == 0 ? "" : i + 1 == holds.size() ? " and " : ", ") + holds[i];
  if (holds.empty()) text += "no events with a timestamp";
  for (const auto& phase : model.session.phases)
    if (phase.name == "trace" && phase.end_ns > phase.start_ns)
      text += " over " + core::format_duration(static_cast<double>(phase.end_ns - phase.start_ns));
  const bool host = count("calls") > 0, nodes = count("node_executions") > 0;
  if (totals.is_object() && !host && !nodes)
    text += "; timeline, busy time and gaps are unavailable without events";
  else if (count("kernels") > 0)
    text += count("kernels") == 1 ? "; its duration is zero" : "; their durations are zero";
  else if (host)
    text += count("copies") > 0 ? "; no kernels" : "; no GPU work";
  else if (!nodes && count("graph_nodes") > 0)
    text += "; no timing data";
  else if (!nodes && count("samples") > 0)
    text += ": machine state only, no workload events";
  else if (!nodes && count("counters") > 0)
    text += "; timeline, busy time and gaps are unavailable without timestamps";
  verdict.sentence = text + ".";
  for (const char* id : {"gpu.kernel_count", "gpu.kernel_sum_ns", "gpu.use_ratio", "gpu.power_mean_watts",
                         "gpu.temperature_peak_celsius", "cpu.use_ratio"})
    if (find_metric(model.metrics, id) && verdict.headline_metrics.size() < 3) verdict.headline_metrics.emplace_back(id);
  return verdict;
}

}  // namespace

VerdictText verdict_of(const report::ReportModel& model) {
  VerdictText verdict;
  if (const auto* median = find_metric(model.metrics, "latency.p50_ns")) {
    verdict.sentence = latency_sentence(model, *median);
    verdict.confidence = latency_confidence(model, *median);
    verdict.headline_metrics = {"latency.p50_ns"};
    verdict.headline_metrics.emplace_back(find_metric(model.metrics, "latency.p99_ns") ? "latency.p99_ns" : "latency.p90_ns");
    verdict.headline_metrics.emplace_back("throughput.items_per_second");
    return verdict;
  }
  if (const auto* mean = find_metric(model.metrics, "latency.mean_ns")) {
    verdict.sentence = fmt::format("{} takes {} per call on average; too few iterations for a median with an interval.",
                                   what_ran(model), core::format_duration(mean->value));
    verdict.confidence = "low: too few iterations";
    verdict.headline_metrics = {"latency.mean_ns", "throughput.items_per_second"};
    return verdict;
  }
  if (model.session.kind == "import") return imported(model);
  if (model.session.outcome.model.empty() && !model.session.whole()) {
    verdict.sentence = fmt::format("No result: the {} did not end.", trace::kind_noun(model.session.kind));
    return verdict;
  }
  const auto wall = model.session.outcome.wall_ns;
  verdict.sentence = wall ? fmt::format("{} ran for {}.", what_ran(model), core::format_duration(*wall))
                          : fmt::format("{}: {} without a duration.", what_ran(model), trace::kind_noun(model.session.kind));
  if (const auto used = model.session.kind == "record" ? record_verdict(model) : std::nullopt) {
    verdict.sentence.back() = ':';
    verdict.sentence += " " + used->sentence + ".";
  }
  for (const char* id : {"process.cpu_use_cores", "process.run_queue_wait_ratio", "cpu.cores_used", "memory.rss_peak_bytes",
                         "process.context_switches_per_second", "gpu.busy_ns"})
    if (find_metric(model.metrics, id) && verdict.headline_metrics.size() < 3) verdict.headline_metrics.emplace_back(id);
  return verdict;
}

}  // namespace aaco::workflows
