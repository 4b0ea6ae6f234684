#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "report/quantity.h"
#include "report/svg/axes.h"
#include "report/svg/plots.h"
#include "report/thin.h"

namespace aaco::report {
namespace {

constexpr std::size_t kCharts = 12, kLines = 5;
constexpr double kChartHeight = 120, kLane = 20;
constexpr std::size_t kDrawnSpans = 20'000, kTracks = 40;

// A stretch without samples is a gap, not a line: a step longer than this many usual ones.
constexpr double kGapSteps = 5;

// The values with a gap before each sample that comes after such a stretch.
void with_gaps(const Series& series, std::vector<double>& times, std::vector<double>& values) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < series.time_ns.size(); ++i) steps.push_back(series.time_ns[i] - series.time_ns[i - 1]);
  std::int64_t usual = 0;
  if (!steps.empty()) {
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    usual = *middle;
  }
  for (std::size_t i = 0; i < std::min(series.time_ns.size(), series.value.size()); ++i) {
    const auto time = static_cast<double>(series.time_ns[i]);
    if (i > 0 && usual > 0 && time - static_cast<double>(series.time_ns[i - 1]) > kGapSteps * static_cast<double>(usual)) {
      times.push_back(time);
      values.push_back(NAN);
    }
    times.push_back(time);
    values.push_back(series.value[i]);
  }
}

void draw_chart(Svg& svg, const std::vector<const Series*>& list, double top, const Extent& time) {
  const Frame frame{100, top + 22, kChartWidth - 24, top + kChartHeight - 24};
  std::vector<double> all;
  for (const Series* series : list) all.insert(all.end(), series->value.begin(), series->value.end());
  const auto range = extent_of(all);
  if (!range) return;
  const Extent domain = padded(*range, 0.08);
  const Axis x{time.low, time.high, frame.left, frame.right};
  const Axis y{range->low >= 0 ? std::max(0.0, domain.low) : domain.low, domain.high, frame.bottom, frame.top};
  svg.text(16, top + 14, fit_pixels(list[0]->metric, 420), {.bold = true});
  draw_y_axis(svg, y, frame, list[0]->unit, 3);
  draw_x_axis(svg, x, frame, "ns");
  double key = frame.right;
  for (std::size_t i = 0; i < list.size(); ++i) {
    constexpr std::array<std::string_view, kLines> kDashes = {"", "5 2.5", "2 2", "8 2 2 2", "1 2.5"};
    const int slot = std::array<int, kLines>{0, 5, 2, 3, 1}[i % kLines];
    std::vector<double> times, values;
    with_gaps(*list[i], times, values);
    svg.path(line_path(times, values, x, y), "none", Svg::slot_colour(slot), 1.2, kDashes[i % kLines]);
    if (list[i]->entity.empty() || i >= kLines) continue;
    const std::string name = fit_pixels(list[i]->entity, 110);
    svg.text(key, top + 14, name, {.fill = kInkSoft, .anchor = "end"});
    key -= static_cast<double>(name.size()) * 7.2 + 8;
    svg.line(key - 18, top + 10, key, top + 10, Svg::slot_colour(slot), 1.5, kDashes[i % kLines]);
    key -= 34;
  }
}

}  // namespace

std::optional<std::string> plot_telemetry(const ReportModel& model) {
  std::vector<std::vector<const Series*>> charts;
  std::map<std::string_view, std::size_t> place;
  std::vector<double> times;
  for (const Series& series : model.telemetry) {
    if (series.time_ns.empty() || !extent_of(series.value)) continue;
    const auto [at, fresh] = place.try_emplace(series.metric, charts.size());
    if (fresh) charts.emplace_back();
    charts[at->second].push_back(&series);
    times.insert(times.end(), {static_cast<double>(series.time_ns.front()), static_cast<double>(series.time_ns.back())});
  }
  const auto time = extent_of(times);
  if (!time) return std::nullopt;
  const std::size_t shown = std::min(kCharts, charts.size());
  const double height = 60 + static_cast<double>(shown) * kChartHeight + 8;
  Svg svg(kChartWidth, height, "Telemetry", report_title(model));
  std::string aside = report_title(model) + "; time since session start";
  if (shown < charts.size()) aside += fmt::format("; the first {} of {} metrics", shown, charts.size());
  double top = draw_title(svg, "Telemetry", aside, kChartWidth);
  for (std::size_t i = 0; i < shown; ++i, top += kChartHeight)
    draw_chart(svg, charts[i], top, {time->low, std::max(time->high, time->low + 1)});
  return svg.finish();
}

std::optional<std::string> plot_timeline(const ReportModel& model) {
  if (model.timeline.empty()) return std::nullopt;
  const auto spans = thin_timeline(model.timeline, kDrawnSpans);
  std::vector<std::string_view> tracks;
  std::map<std::string_view, std::size_t> place;  // of a track
  std::map<std::string_view, double> weights;
  double low = INFINITY, high = -INFINITY;
  for (const TimelineSpan& span : spans) {
    if (place.try_emplace(span.track, tracks.size()).second) tracks.push_back(span.track);
    if (!span.group.empty()) weights[span.group] += static_cast<double>(span.duration_ns);
    low = std::min(low, static_cast<double>(span.start_ns));
    high = std::max(high, (static_cast<double>(span.start_ns) + static_cast<double>(span.duration_ns)));
  }
  std::vector<std::pair<double, std::string_view>> order;
  for (const auto& [group, weight] : weights) order.emplace_back(-weight, group);
  std::sort(order.begin(), order.end());
  std::map<std::string_view, int> slots;
  for (const auto& [weight, group] : order) slots[group] = std::min(7, static_cast<int>(slots.size()));

  std::stable_partition(tracks.begin(), tracks.end(), [](std::string_view track) { return track == "iterations"; });
  for (std::size_t i = 0; i < tracks.size(); ++i) place[tracks[i]] = i;
  const std::size_t all_tracks = tracks.size();
  tracks.resize(std::min(kTracks, all_tracks));
  const double height = 60 + static_cast<double>(tracks.size()) * (kLane + 24) + 56;
  Svg svg(kChartWidth, height, "Timeline", report_title(model));
  std::string aside = report_title(model) + "; " + format_quantity(high - low, "ns") + " shown";
  if (spans.size() < model.timeline.size())
    aside += fmt::format(", the longest {} of {} spans", spans.size(), model.timeline.size());
  if (tracks.size() < all_tracks) aside += fmt::format(", the first {} of {} tracks", tracks.size(), all_tracks);
  const double top = draw_title(svg, "Timeline", aside, kChartWidth);
  const Frame frame{16, top, kChartWidth - 16, top + static_cast<double>(tracks.size()) * (kLane + 24)};
  const Axis x{0, std::max(1.0, high - low), frame.left, frame.right};
  for (std::size_t t = 0; t < tracks.size(); ++t)
    svg.text(16, top + static_cast<double>(t) * (kLane + 24) + 14, fit_pixels(tracks[t], kChartWidth - 32),
             {.fill = kInkSoft, .bold = true});
  for (const TimelineSpan& span : spans) {
    const auto track = static_cast<double>(place.at(span.track));
    if (place.at(span.track) >= tracks.size()) continue;
    const double from = x(static_cast<double>(span.start_ns) - low),
                 width =
                     std::max(0.3, x((static_cast<double>(span.start_ns) + static_cast<double>(span.duration_ns)) - low) - from);
    const int slot = span.group.empty() ? 7 : slots.at(span.group);
    const double y = top + track * (kLane + 24) + 20;
    svg.rect(from, y, width > 3 ? width - 0.6 : width, kLane,
             width > 12 ? Svg::slot_fill(slot) : std::string(Svg::slot_colour(slot)), width > 3 ? span.name : std::string());
    if (width > 44)
      svg.text(from + 4, y + 14, fit_pixels(span.name, width - 8, 11), {.size = 11, .fill = Svg::ink_on_slot(slot)});
  }
  draw_x_axis(svg, x, frame, "ns");
  double key = 16;
  for (const auto& [weight, group] : order) {
    if (slots[group] >= 7 || key > kChartWidth - 120) break;
    svg.rect(key, frame.bottom + 32, 12, 12, Svg::slot_fill(slots[group]));
    const std::string name = fit_pixels(group, 150);
    svg.text(key + 17, frame.bottom + 42, name, {.fill = kInkSoft});
    key += 17 + static_cast<double>(name.size()) * 7.2 + 18;
  }
  return svg.finish();
}

}  // namespace aaco::report
