#include "cli/output/verdict_output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "cli/context.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/time_shares.h"
#include "workflows/compare_page.h"

namespace aaco::cli {
namespace {

struct Page {
  std::string text;
  void print(std::string_view line) { text += line; }
};

constexpr std::size_t kKernelsShown = 8;
constexpr std::size_t kGridsShown = 4;  // of a kernel
constexpr int kNameWidth = 60;
constexpr std::size_t kIdleCausesShown = 5;
constexpr double kIdleShown = 0.02;  // of the largest cause: smaller changes are not listed

template <class Wanted>
void print_those(Page& page, const workflows::DiffOutcome& outcome, Wanted wanted) {
  for (const auto& difference : outcome.differences)
    if (wanted(difference.severity))
      page.print(fmt::format("  {} {}\n", difference.severity == hardware::Severity::hard ? "!" : "-", to_text(difference)));
}

void print_differences(Page& page, const workflows::DiffOutcome& outcome) {
  if (outcome.differences.empty()) return page.print("comparable: no relevant differences between the two sides\n");
  if (!outcome.comparable) {
    page.print("not comparable because of these differences:\n");
    return print_those(page, outcome, [](auto) { return true; });
  }
  const bool changed = std::any_of(outcome.differences.begin(), outcome.differences.end(),
                                   [](const auto& one) { return one.severity == hardware::Severity::changed; });
  if (!changed) {
    page.print("comparable, with these differences:\n");
    return print_those(page, outcome, [](auto) { return true; });
  }
  page.print("changed from A to B:\n");
  print_those(page, outcome, [](auto severity) { return severity == hardware::Severity::changed; });
  if (outcome.differences.back().severity == hardware::Severity::changed) return;
  page.print("comparable, with these other differences:\n");
  print_those(page, outcome, [](auto severity) { return severity != hardware::Severity::changed; });
}

// The same id is of the whole trace in 'aaco show': what is compared is said where it is a step.
std::string name_of(const analytics::regression::MetricResult& metric) {
  std::string name = metric.device ? fmt::format("{}[{}]", metric.id, *metric.device) : metric.id;
  if (metric.scope == "step" && metric.id.starts_with("gpu.")) name += " per step";
  return name;
}

// `reason`: whether to say why nothing was decided.
void print_metric(Page& page, const analytics::regression::MetricResult& metric, bool reason) {
  const std::string name = name_of(metric);
  if (!metric.baseline || !metric.delta_ratio) return page.print(fmt::format("{:<28} not compared: {}\n", name, metric.reason));
  const std::string unit = report::unit_of_metric(metric.id, metric.unit);
  std::string line =
      fmt::format("{:<28} {:>10} -> {:>10}  {:>8}", name, report::format_quantity(*metric.baseline, unit),
                  report::format_quantity(*metric.candidate, unit), core::format_signed_percent(*metric.delta_ratio));
  if (metric.interval)
    line += fmt::format("  [{}, {}]  detectable {:<18}", core::format_signed_percent(metric.interval->low),
                        core::format_signed_percent(metric.interval->high), to_text(*metric.detectable));
  page.print(fmt::format("{} {}\n", line, metric.interval ? std::string(to_string(metric.verdict)) : metric.reason));
  if (reason && metric.verdict == stats::Verdict::inconclusive && !metric.explanation.empty())
    page.print("  " + metric.explanation + "\n");
}

// Idle time by what the host did, where it changed by a share of the step that shows.
void print_idle(Page& page, const workflows::DiffOutcome& outcome) {
  double largest = 0;
  for (const auto& one : outcome.idle_causes) largest = std::max({largest, one.baseline_ns, one.candidate_ns});
  std::size_t shown = 0;
  for (const auto& one : outcome.idle_causes) {
    if (std::abs(one.delta_ns()) < kIdleShown * largest || shown == kIdleCausesShown) break;
    if (shown++ == 0) page.print("\nidle time by cause, per step (the whole trace if it has no steps):\n");
    std::string line =
        fmt::format("  {:>10}  {} -> {}  {}", (one.delta_ns() < 0 ? "-" : "+") + core::format_duration(std::abs(one.delta_ns())),
                    core::format_duration(one.baseline_ns), core::format_duration(one.candidate_ns), one.title);
    if (one.p_holm) line += fmt::format(" (p = {:.2g})", *one.p_holm);
    page.print(line + "\n");
  }
}

// Of the time per call, corrected for the number of kernels and grids.
std::string verdict_of(const analytics::tracediff::CallChange& row) {
  if (!row.p_holm) return "";
  return fmt::format(" ({} per call, {})", core::format_signed_percent(row.call_ratio.value_or(0)), to_string(row.verdict));
}

std::string calls_of(const analytics::tracediff::CallChange& row) {
  return fmt::format("{:.1f} x {} -> {:.1f} x {}{}", row.a.calls_per_step, core::format_duration(row.a.mean_ns),
                     row.b.calls_per_step, core::format_duration(row.b.mean_ns), verdict_of(row));
}

// The grids that changed, where a kernel has several.
void print_grids(Page& page, const analytics::tracediff::KernelChange& kernel) {
  using analytics::tracediff::CallVerdict;
  using analytics::tracediff::Change;
  std::size_t shown = 0;
  for (const auto& grid : kernel.grids) {
    const bool time = grid.verdict == CallVerdict::slower || grid.verdict == CallVerdict::faster;
    const bool count = grid.change != Change::same && grid.change != Change::slower && grid.change != Change::faster;
    if ((!time && !count) || shown == kGridsShown) continue;
    ++shown;
    page.print(fmt::format("  {:>10}    {:<12} grid {}: {}\n", core::format_signed_duration(grid.delta_ns),
                           to_string(grid.change), analytics::tracediff::to_string(grid.grid), calls_of(grid)));
  }
}

void print_kernels(Page& page, const analytics::tracediff::TraceDifference& difference) {
  page.print(
      fmt::format("\nkernels: largest differences per step (total {}):\n", core::format_signed_duration(difference.delta_ns)));
  std::size_t shown = 0;
  for (const auto& kernel : difference.kernels) {
    if (kernel.change == analytics::tracediff::Change::same || shown == kKernelsShown) continue;
    ++shown;
    page.print(fmt::format("  {:>10}  {:<10} {}  {}\n", core::format_signed_duration(kernel.delta_ns), to_string(kernel.change),
                           calls_of(kernel), report::fit(report::names_for({kernel.name}, kNameWidth).front(), kNameWidth)));
    print_grids(page, kernel);
  }
  if (shown == 0) page.print("  none above the noise\n");
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
void print_order(Page& page, const core::Json& details) {
  std::size_t number = 0;
  for (const core::Json& one : details["order"].items())
    page.print(fmt::format("  {}. {}: {} {} instead of {}\n", ++number, since(one["since_ns"].as_f64().value_or(0)),
                           one["signal"].text(), value_of(one["candidate"], one["signal"].text()),
                           value_of(one["baseline"], one["signal"].text())));
  if (!details["chain"].items().empty()) page.print("  events leading to the longest gap:\n");
  for (const core::Json& one : details["chain"].items()) {
    const double at = one["at_ns"].as_f64().value_or(0);
    page.print(fmt::format("  {:>12}  {}\n", (at < 0 ? "-" : "+") + core::format_duration(std::abs(at)), one["what"].text()));
  }
}

std::string verdict_text(const workflows::DiffOutcome& outcome) {
  Page page;
  print_differences(page, outcome);
  if (!outcome.metrics.empty()) page.print("\n");
  for (const auto& metric : outcome.metrics) print_metric(page, metric, &metric != &outcome.metrics.front());
  print_idle(page, outcome);
  if (outcome.kernels) print_kernels(page, *outcome.kernels);
  page.print(fmt::format("\nverdict: {}", outcome.verdict));
  if (!outcome.opposite.empty()) page.print(": " + outcome.opposite);
  if (outcome.severity != "none") page.print(", " + outcome.severity);
  if (outcome.verdict != "not-comparable")
    page.print(fmt::format(" (confidence {})", report::format_estimate(outcome.confidence)));
  page.print("\n");
  if (!outcome.metrics.empty()) page.print(outcome.metrics.front().id + " " + outcome.metrics.front().explanation + "\n");
  if (outcome.cause) {
    page.print("suspected cause: " + outcome.cause->cause + "\n");
    print_order(page, outcome.cause->details);
  }
  page.print("next: " + outcome.recommendation + "\n");
  if (!outcome.metrics.empty() && outcome.metrics.front().method == analytics::regression::Method::paired)
    page.print("note: the change is computed from adjacent blocks and may differ from the change between the overall values\n");
  for (const auto& note : outcome.notes) page.print("note: " + note + "\n");
  return page.text;
}

void print_verdict(const Context& context, const workflows::DiffOutcome& outcome) { context.print(verdict_text(outcome)); }

void show_verdict(Context& context, const workflows::DiffOutcome& outcome, const core::Json& document,
                  const VerdictOutput& output) {
  if (!output.html.empty()) {
    const auto page = workflows::render_comparison(document, verdict_text(outcome), context.paths);
    if (!page) return context.fail(page.error());
    if (auto written = core::write_file_atomic(output.html, *page); !written) return context.fail(written.error());
    context.note("wrote " + output.html);
  }
  if (output.json) return context.print_json(document);
  print_verdict(context, outcome);
}

void add_verdict_output(CLI::App& verb, VerdictOutput& output) {
  verb.add_flag("--json", output.json, "Print the verdict as JSON");
  verb.add_option("--html", output.html, "Write the comparison as a self-contained HTML page to FILE as well");
}

}  // namespace aaco::cli
