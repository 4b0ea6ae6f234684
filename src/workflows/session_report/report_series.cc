#include "workflows/session_report/report_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "stats/summary.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {
namespace {

// Indices that stay when `values` is drawn `limit` points wide: the first, smallest and largest of each stretch.
std::vector<std::size_t> thin(const std::vector<double>& values, std::size_t limit) {
  std::vector<std::size_t> kept;
  if (values.size() <= limit) {
    kept.resize(values.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i;
    return kept;
  }
  const std::size_t stretch = (values.size() * 3 + limit - 1) / limit;
  for (std::size_t begin = 0; begin < values.size(); begin += stretch) {
    const std::size_t end = std::min(values.size(), begin + stretch);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto [low, high] = std::minmax_element(first, values.begin() + static_cast<std::ptrdiff_t>(end));
    std::array<std::size_t, 3> picks = {begin, static_cast<std::size_t>(low - values.begin()),
                                        static_cast<std::size_t>(high - values.begin())};
    std::sort(picks.begin(), picks.end());
    kept.insert(kept.end(), picks.begin(), std::unique(picks.begin(), picks.end()));
  }
  return kept;
}

struct Fences {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
};

Fences fences_of(std::vector<double> values) {
  if (values.size() < 11) return {};
  std::sort(values.begin(), values.end());
  const double q1 = stats::quantile_of_sorted(values, 0.25);
  const double q3 = stats::quantile_of_sorted(values, 0.75);
  return {q1 - stats::kOutlierFence * (q3 - q1), q3 + stats::kOutlierFence * (q3 - q1)};
}

void add_series(std::vector<report::Series>& out, std::string metric, std::string entity,
                const std::vector<std::pair<std::int64_t, double>>& points, std::size_t limit) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const auto& point : points) values.push_back(point.second);
  report::Series series;
  series.unit = unit_of(metric);
  series.metric = std::move(metric);
  series.entity = std::move(entity);
  for (std::size_t index : thin(values, limit)) {
    series.time_ns.push_back(points[index].first);
    series.value.push_back(points[index].second);
  }
  out.push_back(std::move(series));
}

}  // namespace

std::vector<report::IterationPoint> iteration_points(std::span<const trace::IterationRow> rows, const trace::NameTable& names,
                                                     std::int64_t origin_ns, std::size_t limit) {
  std::map<std::uint32_t, std::vector<const trace::IterationRow*>> by_phase;
  for (const auto& row : rows) by_phase[row.phase.value].push_back(&row);
  std::vector<report::IterationPoint> points;
  for (const auto& [phase, members] : by_phase) {
    std::vector<double> durations;
    for (const auto* row : members) durations.push_back(static_cast<double>(row->duration_ns));
    const Fences fences = fences_of(durations);
    const std::size_t share = std::max<std::size_t>(200, limit * members.size() / std::max<std::size_t>(1, rows.size()));
    for (std::size_t index : thin(durations, share)) {
      const auto& row = *members[index];
      const double duration = durations[index];
      points.push_back({std::string(names.text(row.phase)), row.iteration, row.start_ns - origin_ns, row.duration_ns,
                        duration < fences.low || duration > fences.high, std::string(names.text(row.disturbance))});
    }
  }
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return points;
}

std::vector<report::HistogramBin> histogram(const std::vector<double>& values, std::size_t most_bins) {
  if (values.empty()) return {};
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double low = stats::quantile_of_sorted(sorted, 0.001);
  const double high = stats::quantile_of_sorted(sorted, 0.995);
  if (!(high > low)) return {{sorted.front(), sorted.back(), static_cast<std::int64_t>(sorted.size())}};
  const double iqr = stats::quantile_of_sorted(sorted, 0.75) - stats::quantile_of_sorted(sorted, 0.25);
  const double wanted = iqr > 0 ? 2 * iqr / std::cbrt(static_cast<double>(sorted.size())) : (high - low) / 10;
  const double count = std::clamp(std::ceil((high - low) / wanted), 5.0, static_cast<double>(most_bins));
  const double width = (high - low) / count;
  std::vector<report::HistogramBin> bins(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bins.size(); ++i)
    bins[i] = {low + width * static_cast<double>(i), low + width * static_cast<double>(i + 1), 0};
  for (double value : sorted) {
    const double position = std::clamp((value - low) / width, 0.0, count - 1);
    ++bins[static_cast<std::size_t>(position)].count;
  }
  return bins;
}

std::string unit_of(std::string_view metric) {
  using Ending = std::pair<std::string_view, std::string_view>;  // of the name, the unit
  constexpr std::array<Ending, 13> kEndings = {{{"bytes_per_second", "bytes/s"},
                                                {"per_second", "1/s"},
                                                {"ns", "ns"},
                                                {"seconds", "s"},
                                                {"bytes", "bytes"},
                                                {"hz", "hz"},
                                                {"watts", "watts"},
                                                {"joules", "joules"},
                                                {"ratio", "ratio"},
                                                {"count", "count"},
                                                {"celsius", "celsius"},
                                                {"volts", "volts"},
                                                {"cores", "cores"}}};
  for (auto [ending, unit] : kEndings) {
    if (!metric.ends_with(ending) || metric.size() == ending.size()) continue;
    const char before = metric[metric.size() - ending.size() - 1];
    if (before == '_' || before == '.') return std::string(unit);
  }
  return {};
}

std::vector<report::Series> telemetry_series(std::span<const trace::SystemEventRow> system,
                                             std::span<const trace::GpuEventRow> gpu, const trace::NameTable& names,
                                             std::int64_t origin_ns, std::size_t limit) {
  using Points = std::vector<std::pair<std::int64_t, double>>;
  std::vector<report::Series> out;
  std::map<std::pair<std::string_view, std::string_view>, Points> host;
  for (const auto& row : system)
    host[{names.text(row.metric), names.text(row.entity)}].emplace_back(row.time_ns - origin_ns, row.value);
  for (const auto& [key, points] : host) add_series(out, std::string(key.first), std::string(key.second), points, limit);
  std::map<std::tuple<std::string_view, std::int32_t, std::int64_t, std::string_view>, Points> devices;
  for (const auto& row : gpu)
    devices[{names.text(row.metric), row.rank, row.device, names.text(row.source)}].emplace_back(row.time_ns - origin_ns,
                                                                                                 row.value);
  for (const auto& [key, points] : devices) {
    const auto& [metric, rank, device, source] = key;
    add_series(out, std::string(metric), gpu_label(rank, device) + " (" + std::string(source) + ")", points, limit);
  }
  return out;
}

}  // namespace aaco::workflows
