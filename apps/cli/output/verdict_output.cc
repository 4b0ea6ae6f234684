#include "cli/output/verdict_output.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/context.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/time_shares.h"

namespace aaco::cli {
namespace {

constexpr std::size_t kKernelsShown = 8;
constexpr int kNameWidth = 60;

void print_differences(const Context& context, const workflows::DiffOutcome& outcome) {
  if (outcome.differences.empty()) return context.print("comparable: no relevant differences between the two sides\n");
  context.print(outcome.comparable ? "comparable, with these differences:\n" : "not comparable because of these differences:\n");
  for (const auto& difference : outcome.differences)
    context.print(fmt::format("  {} {}\n", difference.severity == hardware::Severity::hard ? "!" : "-", to_text(difference)));
}

void print_metric(const Context& context, const analytics::regression::MetricResult& metric) {
  const std::string name = metric.device ? fmt::format("{}[{}]", metric.id, *metric.device) : metric.id;
  if (!metric.baseline || !metric.delta_ratio)
    return context.print(fmt::format("{:<28} not compared: {}\n", name, metric.reason));
  const std::string unit = report::unit_of_metric(metric.id, metric.unit);
  std::string line =
      fmt::format("{:<28} {:>10} -> {:>10}  {:>8}", name, report::format_quantity(*metric.baseline, unit),
                  report::format_quantity(*metric.candidate, unit), core::format_signed_percent(*metric.delta_ratio));
  if (metric.interval)
    line +=
        fmt::format("  [{}, {}]  detectable {:<8}", core::format_signed_percent(metric.interval->low),
                    core::format_signed_percent(metric.interval->high), core::format_percent(*metric.smallest_detectable_ratio));
  context.print(fmt::format("{} {}\n", line, metric.interval ? std::string(to_string(metric.verdict)) : metric.reason));
}

void print_kernels(const Context& context, const analytics::tracediff::TraceDifference& difference) {
  context.print(fmt::format("\nkernels: largest differences per step (total {}):\n",
                            (difference.delta_ns < 0 ? "-" : "+") + core::format_duration(std::abs(difference.delta_ns))));
  std::size_t shown = 0;
  for (const auto& kernel : difference.kernels) {
    if (kernel.change == analytics::tracediff::Change::same || shown == kKernelsShown) continue;
    ++shown;
    context.print(fmt::format("  {:>10}  {:<10} {:.1f} x {} -> {:.1f} x {}  {}\n",
                              (kernel.delta_ns < 0 ? "-" : "+") + core::format_duration(std::abs(kernel.delta_ns)),
                              to_string(kernel.change), kernel.a.calls_per_step, core::format_duration(kernel.a.mean_ns),
                              kernel.b.calls_per_step, core::format_duration(kernel.b.mean_ns),
                              report::fit(report::names_for({kernel.name}, kNameWidth).front(), kNameWidth)));
  }
  if (shown == 0) context.print("  none above the noise\n");
}

// A signal's value in the unit that its name ends with.
std::string value_of(const core::Json& number, std::string_view signal) {
  const std::string_view unit = signal.ends_with("_ns")           ? "ns"
                                : signal.ends_with("_ratio")      ? "ratio"
                                : signal.ends_with("_bytes")      ? "bytes"
                                : signal.ends_with("_per_second") ? "1/s"
                                                                  : "";
  return report::format_quantity(number.as_f64().value_or(0), unit);
}

std::string since(double ns) { return ns > 0 ? "after " + core::format_duration(ns) : "from the first block"; }

}  // namespace

int exit_code_for(const std::string& verdict) {
  if (verdict == "regression") return kRegression;
  if (verdict == "inconclusive" || verdict == "not-comparable") return kInconclusive;
  return kFine;
}

// What changed first on the timeline, where that was seen.
void print_order(const Context& context, const core::Json& details) {
  std::size_t number = 0;
  for (const core::Json& one : details["order"].items())
    context.print(fmt::format("  {}. {}: {} {} instead of {}\n", ++number, since(one["since_ns"].as_f64().value_or(0)),
                              one["signal"].text(), value_of(one["candidate"], one["signal"].text()),
                              value_of(one["baseline"], one["signal"].text())));
  if (!details["chain"].items().empty()) context.print("  events leading to the longest gap:\n");
  for (const core::Json& one : details["chain"].items()) {
    const double at = one["at_ns"].as_f64().value_or(0);
    context.print(fmt::format("  {:>12}  {}\n", (at < 0 ? "-" : "+") + core::format_duration(std::abs(at)), one["what"].text()));
  }
}

void print_verdict(const Context& context, const workflows::DiffOutcome& outcome) {
  print_differences(context, outcome);
  if (!outcome.metrics.empty()) context.print("\n");
  for (const auto& metric : outcome.metrics) print_metric(context, metric);
  if (outcome.kernels) print_kernels(context, *outcome.kernels);
  context.print(fmt::format("\nverdict: {}", outcome.verdict));
  if (outcome.severity != "none") context.print(", " + outcome.severity);
  if (outcome.verdict != "not-comparable")
    context.print(fmt::format(" (confidence {})", report::format_estimate(outcome.confidence)));
  context.print("\n");
  if (!outcome.metrics.empty()) context.print(outcome.metrics.front().id + " " + outcome.metrics.front().explanation + "\n");
  if (outcome.cause) {
    context.print("suspected cause: " + outcome.cause->cause + "\n");
    print_order(context, outcome.cause->details);
  }
  context.print("next: " + outcome.recommendation + "\n");
  if (!outcome.metrics.empty() && outcome.metrics.front().method == analytics::regression::Method::paired)
    context.print(
        "note: the change is computed from adjacent blocks and may differ from the change between the overall values\n");
  for (const auto& note : outcome.notes) context.print("note: " + note + "\n");
}

}  // namespace aaco::cli
