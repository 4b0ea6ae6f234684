#include "workflows/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

struct DiffOptions {
  std::string a, b, threshold = "5%", metrics;
  bool force = false;
  bool json = false;
};

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (std::string_view part : core::split(text, ',')) out.emplace_back(core::trim(part));
  return out;
}

int exit_code_for(const std::string& verdict) {
  if (verdict == "regression") return kRegression;
  if (verdict == "inconclusive" || verdict == "not-comparable") return kInconclusive;
  return kFine;
}

std::string signed_percent(double ratio) { return (ratio > 0 ? "+" : "") + core::format_percent(ratio); }

void print_differences(const Context& context, const workflows::DiffOutcome& outcome) {
  if (outcome.differences.empty()) return context.print("comparable: nothing that matters differs between the two sides\n");
  context.print(outcome.comparable ? "comparable, and this differs:\n" : "not comparable, because this differs:\n");
  for (const auto& difference : outcome.differences)
    context.print(fmt::format("  {} {}\n", difference.severity == hardware::Severity::hard ? "!" : "-", to_text(difference)));
}

void print_metric(const Context& context, const workflows::MetricComparison& metric) {
  if (!metric.comparison) return context.print(fmt::format("{:<18} no comparison: {}\n", metric.metric, metric.reason));
  const auto& c = *metric.comparison;
  context.print(fmt::format("{:<18} {:>10} -> {:>10}  {:>8}  [{}, {}]  detectable {:<8} {}\n", metric.metric,
                            core::format_duration(c.baseline), core::format_duration(c.candidate), signed_percent(c.delta_ratio),
                            signed_percent(c.interval.low), signed_percent(c.interval.high),
                            core::format_percent(c.smallest_detectable_ratio), to_string(c.verdict)));
}

void compare(Context& context, const DiffOptions& options) {
  workflows::DiffRequest request;
  request.baseline = list_of(options.a);
  request.candidate = list_of(options.b);
  request.metrics = list_of(options.metrics);
  request.force = options.force;
  const auto threshold = core::parse_ratio(options.threshold);
  if (!threshold || *threshold <= 0 || *threshold >= 1)
    return context.fail(
        {core::ErrorCode::invalid_argument, "--threshold wants a share such as 5%, not '" + options.threshold + "'", {}, {}});
  request.threshold_ratio = *threshold;
  const auto outcome = workflows::diff(request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.exit_code = exit_code_for(outcome->verdict);
  if (options.json) return context.print_json(to_json(*outcome, request));
  print_differences(context, *outcome);
  if (!outcome->metrics.empty()) context.print("\n");
  for (const auto& metric : outcome->metrics) print_metric(context, metric);
  context.print(fmt::format("\nverdict: {}\n", outcome->verdict));
  if (!outcome->metrics.empty() && outcome->metrics.front().comparison)
    context.print(outcome->metrics.front().comparison->explanation + "\n");
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("diff", "Compare two sessions (or sets): what differs, by how much, how sure");
  auto options = std::make_shared<DiffOptions>();
  verb->add_option("baseline", options->a, "Session A, or several of the same thing: ID,ID,...")->required();
  verb->add_option("candidate", options->b, "Session B, or several")->required();
  verb->add_option("--threshold", options->threshold, "Changes within this are equivalent")->capture_default_str();
  verb->add_option("--metric", options->metrics,
                   "Latency statistics: p50,p90,p95,p99,mean; the first decides (default: p50,p90,mean)");
  verb->add_flag("--force", options->force, "Compare even what is not comparable");
  verb->add_flag("--json", options->json, "Print the verdict as JSON");
  verb->footer("Exit codes: 0 equivalent or improvement, 1 regression, 4 inconclusive or not comparable.");
  verb->callback([&context, options] { compare(context, *options); });
}

}  // namespace aaco::cli
