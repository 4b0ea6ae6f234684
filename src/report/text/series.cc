#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kTelemetryRows = 16;

void write_quantiles(TextPage& page, const ReportModel& model) {
  for (std::string_view id : {"latency.mean_ns", "latency.p50_ns", "latency.p90_ns", "latency.p95_ns", "latency.p99_ns",
                              "latency.p999_ns", "latency.std_ns", "latency.cov_ratio"}) {
    const trace::MetricValue* metric = trace::find_metric(model.metrics, id);
    if (!metric) continue;
    std::string row = fit_right(page.value(*metric), 10, page.ascii());
    if (metric->ci95 && page.width() >= 64) row += "   " + page.styled(page.interval(*metric), Style::dim);
    page.named(metric_title(model, id), page.width() >= 80 ? 36 : std::min(26, page.width() / 2 - 2), row);
  }
}

void write_series(TextPage& page, const ReportModel& model) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> durations;
  std::map<std::string, std::int64_t> outliers;
  for (const IterationPoint& point : model.iterations) {
    auto& list = durations[point.phase];
    if (list.empty()) order.push_back(point.phase);
    list.push_back(static_cast<double>(point.duration_ns));
    if (point.outlier) ++outliers[point.phase];
  }
  const int room = page.width() - 2 - 18;
  const bool levels = model.sections.llm && model.sections.llm->levels.size() > 1;
  for (const std::string& phase : order) {
    const auto& list = durations[phase];
    page.line("  " + fit_left(page.clean(levels && phase == "measure" ? model.sections.llm->counts : phase), 17, page.ascii()) +
              " " + page.styled(sparkline(list, room, page.ascii()), Style::accent));
    const auto [low, high] = std::minmax_element(list.begin(), list.end());
    page.paragraph(fmt::format("{} {}s, ", core::format_count(static_cast<double>(list.size())), call_of(model)) +
                       page.quantity(*low, "ns") + " to " + page.quantity(*high, "ns") +
                       (outliers[phase] > 0 ? ", " + core::format_count(static_cast<double>(outliers[phase])) + " outliers" : ""),
                   20, Style::dim);
  }
}

void write_histogram(TextPage& page, const ReportModel& model) {
  if (model.histogram.empty()) return;
  std::vector<double> counts;
  for (const HistogramBin& bin : model.histogram) counts.push_back(static_cast<double>(bin.count));
  const std::string low = page.quantity(model.histogram.front().low, "ns"),
                    high = page.quantity(model.histogram.back().high, "ns");
  page.line("  " + fit_left("distribution", 17, page.ascii()) + " " +
            page.styled(sparkline(counts, page.width() - 20, page.ascii()), Style::accent));
  const int columns = std::min(static_cast<int>(counts.size()), page.width() - 20);
  const int gap = std::max(1, columns - display_width(low) - display_width(high));
  page.line(std::string(20, ' ') +
            page.styled(fit(low + std::string(static_cast<std::size_t>(gap), ' ') + high, page.width() - 20, page.ascii()),
                        Style::dim));
}

}  // namespace

void write_phases(TextPage& page, const ReportModel& model) {
  if (model.session.phases.empty()) return;
  page.heading("Timeline");
  const std::int64_t from = model.session.phases.front().start_ns;
  const auto measured = std::count_if(model.session.phases.begin(), model.session.phases.end(),
                                      [](const trace::Phase& phase) { return phase.name == "measure"; });
  const bool levels = model.sections.llm && measured == std::ssize(model.sections.llm->levels);  // a phase each, in their order
  std::size_t level = 0;
  for (const trace::Phase& phase : model.session.phases)
    page.line("  " +
              fit_left(page.clean(levels && phase.name == "measure" ? model.sections.llm->levels[level++].load : phase.name),
                       std::min(20, page.width() - 27), page.ascii()) +
              fit_right(page.quantity(static_cast<double>(phase.end_ns - phase.start_ns), "ns"), 10, page.ascii()) +
              page.styled("  from " + page.quantity(static_cast<double>(phase.start_ns - from), "ns"), Style::dim));
}

void write_latency(TextPage& page, const ReportModel& model) {
  const bool any = std::any_of(model.metrics.begin(), model.metrics.end(),
                               [](const auto& metric) { return metric.id.starts_with("latency."); });
  if (model.iterations.empty() && model.histogram.empty() && !any) return;
  page.heading("Latency", page.width() >= 64 ? "value, 95 % CI" : "");
  write_quantiles(page, model);
  write_series(page, model);
  write_histogram(page, model);
}

void write_telemetry(TextPage& page, const ReportModel& model) {
  if (model.telemetry.empty()) return;
  const auto changes = [](const Series& series) {
    const auto finite = [](double value) { return std::isfinite(value); };
    const auto first = std::find_if(series.value.begin(), series.value.end(), finite);
    return first != series.value.end() &&
           std::any_of(first, series.value.end(), [&](double value) { return finite(value) && value != *first; });
  };
  page.heading("Telemetry", "min, mean, max");
  const int name_room = std::min(34, page.width() - 32);
  const int line_room = page.width() - 2 - name_room - 30 - 2;
  std::size_t shown = 0, hidden = 0, unchanged = 0;
  for (const Series& series : model.telemetry) {
    if (!changes(series)) {
      ++unchanged;
      continue;
    }
    if (shown == kTelemetryRows) {
      ++hidden;
      continue;
    }
    ++shown;
    double low = INFINITY, high = -INFINITY, sum = 0, count = 0;
    for (const double value : series.value)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value), sum += value, ++count;
    const std::string name = series.entity.empty() ? series.metric : series.metric + " " + series.entity;
    std::string row = "  " + fit_left(page.clean(name), name_room, page.ascii());
    for (const double value : {low, sum / count, high})
      row += " " + fit_right(page.quantity(value, unit_of_metric(series.metric, series.unit)), 9, page.ascii());
    if (line_room >= 8) row += "  " + page.styled(sparkline(series.value, std::min(line_room, 40), page.ascii()), Style::accent);
    page.line(row);
  }
  std::string rest;
  if (hidden > 0) rest = std::to_string(hidden) + " more series on the HTML page";
  if (unchanged > 0) rest += (rest.empty() ? "" : "; ") + std::to_string(unchanged) + " series unchanged";
  if (!rest.empty()) page.paragraph(rest + ".", 2, Style::dim);
}

}  // namespace aaco::report
