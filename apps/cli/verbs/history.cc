#include "workflows/history.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/run_options.h"
#include "cli/options/session_where.h"
#include "cli/options/whole_number.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "report/history_plot.h"
#include "report/quantity.h"
#include "workflows/history_json.h"

namespace aaco::cli {
namespace {

constexpr int kChartHeight = 12;
constexpr std::size_t kMaxCharts = 4;
constexpr std::size_t kNamedInterrupted = 5;

struct HistoryOptions {
  workflows::HistoryRequest request;
  std::string threshold = "2%", budget, better, horizon, svg;
  std::vector<std::string> where;
  std::optional<std::int64_t> last;
  bool json = false, check = false;
};

core::Status resolve(HistoryOptions& options) {
  auto& request = options.request;
  AACO_ASSIGN(request.options.threshold_ratio, parse_threshold(options.threshold, "--threshold"));
  if (!options.budget.empty()) {
    AACO_ASSIGN(request.options.budget_ratio, parse_threshold(options.budget, "--budget"));
  }
  if (!options.better.empty()) request.lower_is_better = options.better == "lower";
  if (options.last) request.last = static_cast<std::size_t>(*options.last);
  AACO_ASSIGN(request.where, parse_where(options.where));
  return {};
}

report::HistoryPlot plot_of(const workflows::HistorySeries& series) {
  report::HistoryPlot plot;
  plot.title = series.of.empty() ? series.name : series.name + " of " + series.of;
  plot.unit = series.unit;
  const auto day = [](const workflows::HistoryPoint& point) {
    return point.time_ns ? core::iso8601_utc(*point.time_ns).substr(0, 10) : point.label;
  };
  plot.first_label = day(series.points.front());
  plot.last_label = day(series.points.back());
  plot.in_days = series.trend && series.trend->in_days;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& point = series.points[i];
    plot.x.push_back(plot.in_days ? static_cast<double>(*point.time_ns - *series.points.front().time_ns) / 86'400e9
                                  : static_cast<double>(i));
    plot.values.push_back(point.value);
  }
  if (!series.trend) return plot;
  const auto& trend = *series.trend;
  for (const auto& step : trend.steps) {
    if (step.part_of_drift) continue;
    if (plot.levels.empty()) plot.levels.emplace_back(0, step.before);
    plot.steps.push_back(step.index);
    plot.levels.emplace_back(step.index, step.after);
  }
  if (plot.levels.empty()) plot.levels.emplace_back(0, trend.level);
  if (trend.drift && trend.drift->significant) plot.levels.pop_back();
  if (trend.forecast)
    plot.forecast = report::HistoryPlot::Cone{plot.x.back() + trend.forecast->ahead, trend.forecast->value,
                                              trend.forecast->interval.low, trend.forecast->interval.high};
  if (trend.breaks) plot.limit = trend.breaks->limit;
  return plot;
}

std::string name_of(const workflows::HistoryPoint& point) {
  std::string text = point.label;
  if (point.time_ns) text += (text.empty() ? "" : ", ") + core::iso8601_utc(*point.time_ns).substr(0, 10);
  return text;
}

// The index is that of --json: from 0.
std::string place_of(const workflows::HistorySeries& series, std::size_t index) {
  const std::string text = name_of(series.points[index]);
  return fmt::format("index {}{}", index, text.empty() ? text : " (" + text + ")");
}

void print_interrupted(const Context& context, const workflows::HistorySeries& series) {
  const std::size_t count = series.interrupted.size();
  for (std::size_t i = 0; i < std::min(count, kNamedInterrupted); ++i)
    context.print(fmt::format("  ~ interrupted {}  {}; not part of the trend\n",
                              report::format_quantity(series.interrupted[i].value, series.unit), name_of(series.interrupted[i])));
  if (count > kNamedInterrupted)
    context.print(fmt::format("  ~ interrupted: {} more (--json lists them)\n", count - kNamedInterrupted));
}

void print_trend(const Context& context, const workflows::HistorySeries& series) {
  const auto& trend = *series.trend;
  for (const auto& step : trend.steps) {
    if (step.part_of_drift) continue;
    context.print(fmt::format("  {} {:<11} {:>8}  {} -> {}  at {}{}\n", step.alarm ? "!" : "-", to_string(step.meaning),
                              step.delta_ratio ? core::format_signed_percent(*step.delta_ratio) : std::string(),
                              report::format_quantity(step.before, series.unit), report::format_quantity(step.after, series.unit),
                              place_of(series, step.index), step.alarm ? "" : "  (below the threshold)"));
  }
  const std::string unit = trend.in_days ? "day" : "point";
  if (trend.drift && trend.drift->significant)
    context.print(
        fmt::format("  ! drift       {} per {} ({} to {}), {}\n", report::format_quantity(trend.drift->per_unit, series.unit),
                    unit, report::format_quantity(trend.drift->per_unit_ci95.low, series.unit),
                    report::format_quantity(trend.drift->per_unit_ci95.high, series.unit), to_string(trend.drift->meaning)));
  if (trend.forecast)
    context.print(fmt::format("  forecast in {:.3g} {}s: {} ({} to {})\n", trend.forecast->ahead, unit,
                              report::format_quantity(trend.forecast->value, series.unit),
                              report::format_quantity(trend.forecast->interval.low, series.unit),
                              report::format_quantity(trend.forecast->interval.high, series.unit)));
  if (trend.breaks) context.print("  ! " + trend.alarms.back() + "\n");
  if (trend.alarms.empty() && trend.tells_steps) context.print("  no alarms\n");
  if (!trend.tells_steps) context.print("  undecided: " + series.reason + "\n");
}

void print_series(const Context& context, const workflows::HistorySeries& series, bool chart) {
  const std::size_t count = series.points.size();
  const std::string values = count == 1   ? "1 value, " + report::format_quantity(series.points.front().value, series.unit)
                             : count == 0 ? "no complete session"
                                          : fmt::format("{} values", count);
  context.print(fmt::format("{}{}{}: {}\n", series.name, series.of.empty() ? "" : " of ", series.of, values));
  if (chart && count > 1)
    for (const auto& line : report::text_history(plot_of(series), std::min(context.width, 120), kChartHeight))
      context.print(line + "\n");
  if (series.trend)
    print_trend(context, series);
  else
    context.print("  no result: " + series.reason + "\n");
  print_interrupted(context, series);
}

void print_outcome(const Context& context, const workflows::HistoryOutcome& outcome) {
  const bool charts = outcome.series.size() <= kMaxCharts;
  std::size_t quiet = 0, undecided = 0;
  for (const auto& series : outcome.series) {
    const bool alarmed = series.trend && !series.trend->alarms.empty();
    if (!charts && !alarmed) {
      ++(series.trend && series.trend->tells_steps ? quiet : undecided);
      continue;
    }
    print_series(context, series, charts);
  }
  if (quiet > 0) context.print(fmt::format("{} other series: no alarms\n", quiet));
  if (undecided > 0) context.print(fmt::format("{} other series: undecided, too few values\n", undecided));
  for (const auto& [why, count] : outcome.account.dropped) context.note(fmt::format("skipped: {} ({})", count, why));
  for (const auto& note : outcome.notes) context.note("note: " + note);
}

void look_back(Context& context, HistoryOptions& options) {
  if (const auto resolved = resolve(options); !resolved) return context.fail(resolved.error());
  const auto outcome = workflows::history(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (!options.svg.empty()) {
    if (outcome->series.size() != 1)
      return context.fail({core::ErrorCode::invalid_argument,
                           fmt::format("--svg draws exactly one series, got {}", outcome->series.size()),
                           "select one with a metric name and --where",
                           {}});
    if (const auto written = core::write_file_atomic(options.svg, svg_history(plot_of(outcome->series.front()))); !written)
      return context.fail(written.error());
  }
  if (options.json)
    context.print_json(to_json(*outcome, options.request));
  else
    print_outcome(context, *outcome);
  if (options.check && outcome->worsened()) context.exit_code = kRegression;
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "history", "Track a metric over sessions or versions: change points, drift, and when it will exceed its budget");
  auto options = std::make_shared<HistoryOptions>();
  auto& request = options->request;
  verb->add_option("metric,--metric", request.metric,
                   "Metric (p50, p99, throughput, memory.rss_peak_bytes ...) or series in the files; 'BM_*' matches several");
  verb->add_option("--from", request.files,
                   "Read from CSV; JSON from Google Benchmark, pytest-benchmark or hyperfine; data.js from "
                   "github-action-benchmark; or lists of numbers (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option(
          "--where", options->where,
          "Only sessions with this model, backend, kind, tag or fingerprint, or table rows with this column value (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--on", request.on,
                   "Sessions of this fleet instead of the local ones: clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->type_name("FLEET");
  verb->add_option("--last", options->last, "Only the newest N values")->check(positive_count());
  verb->add_option("--threshold", options->threshold, "No alarm for changes smaller than this")->capture_default_str();
  verb->add_option("--budget", options->budget, "Allowed degradation relative to the start of the current segment, e.g. 10%");
  verb->add_option("--limit", request.options.limit, "Absolute limit instead of a budget, in the metric's unit")
      ->check(finite_number());
  verb->add_option("--better", options->better, "Which direction is better, if the metric does not define it")
      ->check(CLI::IsMember({"lower", "higher"}));
  verb->add_option("--horizon", request.options.horizon, "Forecast horizon in days, or in values if there are no timestamps")
      ->check(positive_number())
      ->capture_default_str();
  verb->add_option("--svg", options->svg, "Write the chart of one series to this SVG file");
  verb->add_flag("--check", options->check, "Exit with 1 if any series got worse");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n  aaco history p50 --where model=resnet50 --budget 10%\n  aaco history --from bench/data.js\n  aaco history "
      "latency --from nightly.csv --where branch=main --svg latency.svg\n\nChange points come from an optimal segmentation, "
      "confirmed by ranks or by a Bayesian detector; there is nothing to tune. Indices count from 0, in text and in JSON.");
  verb->callback([&context, options] { look_back(context, *options); });
}

}  // namespace aaco::cli
