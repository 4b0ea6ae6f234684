#include "analytics/llm/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analytics/llm.h"
#include "core/numbers.h"
#include "stats/fits.h"
#include "stats/ranks.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::size_t kMaxPoints = 200;  // of a line

std::string_view rose(double before, double after) { return after > before ? "rose" : "fell"; }

// Whether a change is large enough to be told.
bool large(double before, double after, double ratio) {
  const double low = std::min(before, after), high = std::max(before, after);
  return high >= ratio * low && high - low > kDriftFloorNs;
}

std::string step_of(std::string_view name, std::span<const double> values) {
  const auto half = static_cast<std::ptrdiff_t>((values.size() + 1) / 2);
  const auto before = stats::summarize({values.begin(), values.begin() + half}).p50;
  const auto after = stats::summarize({values.begin() + half, values.end()}).p50;
  if (!before || !after || !before->ci95 || !after->ci95) return {};
  const bool apart = before->ci95->high < after->ci95->low || after->ci95->high < before->ci95->low;
  if (!apart || !large(before->value, after->value, kDriftRatio)) return {};
  return fmt::format("the median {} {} from {} in the first half to {} in the second", name, rose(before->value, after->value),
                     core::format_duration(before->value), core::format_duration(after->value));
}

// A line through the values in their order, or through the medians of equal parts of them.
std::string trend_of(std::string_view name, std::span<const double> values) {
  const std::size_t count = std::min(values.size(), kMaxPoints);
  std::vector<double> places, points;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i * values.size() / count, to = (i + 1) * values.size() / count;
    std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                             values.begin() + static_cast<std::ptrdiff_t>(to));
    std::sort(part.begin(), part.end());
    points.push_back(stats::quantile_of_sorted(part, 0.5));
    places.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  }
  if (std::abs(stats::rank_trend(points)) < kTrendRank) return {};
  const auto line = stats::theil_sen(places, points);
  if (!line) return {};
  const auto [low, high] = std::minmax_element(points.begin(), points.end());
  const double before = std::clamp(line->intercept, *low, *high), after = std::clamp(line->intercept + line->slope, *low, *high);
  if (!large(before, after, kTrendRatio)) return {};
  return fmt::format("the {} {} steadily, from about {} at the first request to about {} at the last", name, rose(before, after),
                     core::format_duration(before), core::format_duration(after));
}

// Of values in the order of the schedule.
std::string drift_of(std::string_view name, std::span<const double> values) {
  if (values.size() < 2 * kFewestOfAHalf) return {};
  std::string drift = step_of(name, values);
  return drift.empty() ? trend_of(name, values) : drift;
}

}  // namespace

std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::vector<const trace::LlmRequestRow*> complete;
  for (const auto& row : requests)
    if (names.text(row.outcome) == "ok") complete.push_back(&row);
  std::stable_sort(complete.begin(), complete.end(),
                   [](const auto* a, const auto* b) { return a->scheduled_ns < b->scheduled_ns; });
  std::vector<double> ttft, tpot;
  for (const auto* row : complete) {
    const RequestTimes times = times_of(*row);
    if (times.ttft_ns) ttft.push_back(*times.ttft_ns);
    if (times.tpot_ns) tpot.push_back(*times.tpot_ns);
  }
  std::vector<std::string> drifts;
  for (std::string drift : {drift_of("TTFT", ttft), drift_of("TPOT", tpot)})
    if (!drift.empty()) drifts.push_back(std::move(drift));
  return drifts;
}

}  // namespace aaco::analytics::llm
