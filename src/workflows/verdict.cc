#include "workflows/verdict.h"

#include <fmt/format.h>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

constexpr double kNarrow = 0.02;  // relative width of the median's interval: a well-known median
constexpr double kWide = 0.10;    // and one that is hardly known
constexpr double kHiddenShare = 0.10;

std::string what_ran(const report::ReportModel& model) {
  const auto& outcome = model.session.outcome;
  const std::string name(outcome["model"].text());
  if (model.session.kind != "run") return name;
  const auto batch = outcome["batch"].as_i64();
  return fmt::format("{} on {}{}", name, outcome["backend"].text(), batch ? fmt::format(", batch {},", *batch) : "");
}

std::string where_it_went(const report::ReportModel& model) {
  if (model.operators.empty()) return {};
  const auto& first = model.operators.front();
  std::string text = fmt::format("; {} takes {} of it", first.name, core::format_percent(first.share_ratio));
  if (model.operators.size() > 1 && model.operators[1].share_ratio >= kHiddenShare)
    text += fmt::format(", {} {}", model.operators[1].name, core::format_percent(model.operators[1].share_ratio));
  return text;
}

std::string latency_sentence(const report::ReportModel& model, const trace::MetricValue& median) {
  std::string text = fmt::format("{} takes {} a call", what_ran(model), core::format_duration(median.value));
  if (const auto* rate = find_metric(model.metrics, "throughput.items_per_second"))
    text +=
        fmt::format(" ({} items/s)", rate->value >= 100 ? core::format_count(rate->value) : fmt::format("{:.3g}", rate->value));
  return text + where_it_went(model) + ".";
}

// How well the median is known, and what speaks against trusting it.
std::string latency_confidence(const report::ReportModel& model, const trace::MetricValue& median) {
  std::vector<std::string> doubts;
  std::string level = "high";
  const auto lower = [&level](const char* to) {
    if (level == "high" || std::string_view(to) == "low") level = to;
  };
  std::string width = "without an interval";
  if (median.ci95 && median.value > 0) {
    const double relative = (median.ci95->high - median.ci95->low) / median.value;
    width = fmt::format("the median is known to {}", core::format_percent(relative / 2));
    if (relative > kWide)
      lower("low");
    else if (relative > kNarrow)
      lower("medium");
  } else {
    lower("low");
  }
  if (const auto* drift = find_metric(model.metrics, "latency.drift_ratio"); drift && std::abs(drift->value) > 0.05) {
    doubts.push_back(fmt::format("the series drifted by {}", core::format_percent(drift->value)));
    lower("medium");
  }
  if (model.session.outcome["warmup_stationary"].as_bool() == false) {
    doubts.emplace_back("it had not settled when warm-up ended");
    lower("medium");
  }
  if (const auto* effect = find_metric(model.metrics, "observer.effect_ratio"); effect && std::abs(effect->value) > 0.02)
    doubts.push_back(
        fmt::format("telemetry itself changed it by {}, in blocks that are not counted", core::format_percent(effect->value)));
  const auto* count = find_metric(model.metrics, "latency.count");
  std::string text = fmt::format("{}: {} iterations, {}", level, core::format_count(count ? count->value : 0), width);
  for (const auto& doubt : doubts) text += ", " + doubt;
  return text;
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
    verdict.sentence = fmt::format("{} takes {} a call on average; too few iterations for a median with an interval.",
                                   what_ran(model), core::format_duration(mean->value));
    verdict.confidence = "low: too few iterations";
    verdict.headline_metrics = {"latency.mean_ns", "throughput.items_per_second"};
    return verdict;
  }
  const auto wall = model.session.outcome["wall_ns"].as_f64();
  verdict.sentence = wall ? fmt::format("{} ran for {}.", what_ran(model), core::format_duration(*wall))
                          : fmt::format("{} {}.", model.session.kind, what_ran(model));
  for (const char* id : {"cpu.cores_used", "memory.rss_peak_bytes", "process.context_switches_per_second", "gpu.busy_ns"})
    if (find_metric(model.metrics, id) && verdict.headline_metrics.size() < 3) verdict.headline_metrics.emplace_back(id);
  return verdict;
}

}  // namespace aaco::workflows
