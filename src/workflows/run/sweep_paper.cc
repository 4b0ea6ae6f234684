#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "report/quantity.h"
#include "workflows/sweep.h"

namespace aaco::workflows {
namespace {

using report::PaperCurve;

constexpr std::size_t kMinCurve = 3;  // points of a curve that may have a knee

std::string whole_text(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; }

// What a curve's points share: all but the batch, or all but the first dimension where no batch was swept.
std::string curve_name(const SweepPoint& point) {
  std::string name = point.request.backend;
  if (point.request.threads) name += fmt::format(", {} thread{}", *point.request.threads, *point.request.threads == 1 ? "" : "s");
  for (const auto& [dimension, size] : point.request.dimensions) name += fmt::format(", {}={}", dimension, size);
  return name;
}

std::optional<PaperCurve::Point> curve_point(const SweepPoint& point) {
  const auto* rate = trace::find_metric(point.metrics, "throughput.items_per_second");
  const auto* latency = trace::find_metric(point.metrics, "latency.p50_ns");
  if (rate == nullptr || latency == nullptr || rate->value <= 0 || latency->value <= 0) return std::nullopt;
  PaperCurve::Point out{"batch " + whole_text(point.request.batch), rate->value, latency->value, {}, {}, {}};
  if (latency->ci95) {
    out.low_ns = latency->ci95->low;
    out.high_ns = latency->ci95->high;
  }
  if (const auto* tail = trace::find_metric(point.metrics, "latency.p90_ns")) out.tail_ns = tail->value;
  return out;
}

std::string metric_cell(const SweepPoint& point, std::string_view id) {
  const auto* metric = trace::find_metric(point.metrics, id);
  return metric == nullptr ? "-" : report::format_quantity(metric->value, report::unit_of_metric(metric->id, metric->unit));
}

report::PaperSection points_section(const SweepOutcome& outcome) {
  report::PaperSection section;
  section.title = "Points";
  section.table.header = {"backend", "batch", "threads"};
  section.table.numeric = {false, true, true};
  std::vector<std::string> dimensions;
  if (!outcome.points.empty())
    for (const auto& dimension : outcome.points.front().request.dimensions) dimensions.push_back(dimension.first);
  for (const std::string& name : dimensions) {
    section.table.header.push_back(name);
    section.table.numeric.push_back(true);
  }
  for (const char* name : {"median", "P90", "throughput", "session"}) {
    section.table.header.emplace_back(name);
    section.table.numeric.push_back(section.table.header.back() != "session");
  }
  for (const SweepPoint& point : outcome.points) {
    std::vector<std::string> row{point.request.backend, whole_text(point.request.batch), whole_text(point.request.threads)};
    for (const std::string& name : dimensions) row.push_back(std::to_string(point.request.dimensions.at(name)));
    for (const char* id : {"latency.p50_ns", "latency.p90_ns", "throughput.items_per_second"})
      row.push_back(metric_cell(point, id));
    row.push_back(point.error.empty() ? point.session_id : point.error);
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace

std::optional<std::size_t> knee_of(const std::vector<PaperCurve::Point>& points) {
  if (points.size() < kMinCurve) return std::nullopt;
  const auto worth = [](const PaperCurve::Point& point) { return point.items_per_second / point.latency_ns; };
  const auto best =
      std::max_element(points.begin(), points.end(), [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  return static_cast<std::size_t>(best - points.begin());
}

report::Paper sweep_paper(const SweepOutcome& outcome) {
  std::map<std::string, PaperCurve> curves;
  for (const SweepPoint& point : outcome.points) {
    auto one = curve_point(point);
    if (!one) continue;
    PaperCurve& curve = curves[curve_name(point)];
    curve.name = curve_name(point);
    curve.points.push_back(*std::move(one));
  }
  report::PaperSection head;
  report::Paper paper;
  for (auto& [name, curve] : curves) {
    curve.knee = knee_of(curve.points);
    if (curve.knee) {
      const auto& knee = curve.points[*curve.knee];
      head.facts.emplace_back("knee of " + name,
                              fmt::format("{}: {} at {} items/s", knee.label, core::format_duration(knee.latency_ns),
                                          core::format_count(knee.items_per_second)));
    }
    paper.curves.push_back(std::move(curve));
  }
  std::size_t failed = 0;
  for (const SweepPoint& point : outcome.points) failed += point.error.empty() ? 0 : 1;
  head.facts.emplace_back("points", fmt::format("{} of {} measured", outcome.points.size() - failed, outcome.asked));
  if (outcome.interrupted) head.lines.emplace_back("Stopped early; partial results.");
  if (std::any_of(paper.curves.begin(), paper.curves.end(), [](const auto& curve) { return curve.knee.has_value(); }))
    head.lines.emplace_back(
        "The knee is the point with the highest throughput per latency; beyond it latency grows faster than throughput.");
  paper.title = "Sweep" + (outcome.points.empty() ? "" : " of " + outcome.points.front().request.model);
  paper.sections = {std::move(head), points_section(outcome)};
  return paper;
}

}  // namespace aaco::workflows
