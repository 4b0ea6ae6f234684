#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>

#include "analytics/fleet_compare.h"
#include "core/strings.h"
#include "core/time_text.h"
#include "stats/distributions.h"

namespace aaco::analytics::fleet {
namespace {

bool is_named(const std::vector<std::string>& names, std::string_view text) {
  if (names.empty()) return true;
  for (const std::string_view name : names) {
    if (name == text) return true;
    if (name.ends_with('*') && text.starts_with(name.substr(0, name.size() - 1))) return true;
  }
  return false;
}

bool is_on_side(const Side& side, const trace::FleetCells& cells, const trace::FleetCell& cell) {
  const trace::FleetUnit& unit = cells.units[static_cast<std::size_t>(cell.unit)];
  const std::int64_t start = cells.first_unix_ns + cell.bin * cells.bin_ns;
  const std::string_view job =
      cell.job < 0 ? std::string_view{} : std::string_view(cells.jobs[static_cast<std::size_t>(cell.job)]);
  return is_named(side.nodes, unit.node) && is_named(side.hardware, unit.hardware) && is_named(side.jobs, job) &&
         (!side.after_unix_ns || start >= *side.after_unix_ns) &&
         (!side.before_unix_ns || start + cells.bin_ns <= *side.before_unix_ns);
}

struct Sample {
  std::vector<double> values;  // means of nodes
  [[nodiscard]] double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  // Of the mean.
  [[nodiscard]] double variance() const {
    const double centre = mean();
    double sum = 0;
    for (const double value : values) sum += (value - centre) * (value - centre);
    const auto count = static_cast<double>(values.size());
    return sum / (count - 1) / count;
  }
};

Sample sample_of(const trace::FleetCells& cells, std::size_t place, const Side& side) {
  std::map<std::string_view, std::pair<double, double>> nodes;
  for (const trace::FleetCell& cell : cells.cells)
    if (cell.values[place] && is_on_side(side, cells, cell)) {
      auto& [sum, weight] = nodes[cells.units[static_cast<std::size_t>(cell.unit)].node];
      sum += *cell.values[place] * cell.minutes;
      weight += cell.minutes;
    }
  Sample out;
  for (const auto& [node, sum] : nodes) out.values.push_back(sum.first / sum.second);
  return out;
}

MetricComparison compared(std::string_view metric, const Sample& a, const Sample& b) {
  MetricComparison out;
  out.metric = metric;
  out.nodes_a = static_cast<std::int32_t>(a.values.size());
  out.nodes_b = static_cast<std::int32_t>(b.values.size());
  out.mean_a = a.mean();
  out.mean_b = b.mean();
  out.relative = (metric.ends_with("_ns") || metric.ends_with("_hz") || metric.ends_with("_watts")) && out.mean_a > 0;
  const double scale = out.relative ? out.mean_a : 1;
  out.difference = (out.mean_b - out.mean_a) / scale;
  if (out.nodes_a < 2 || out.nodes_b < 2) return out;
  const double va = a.variance();
  const double vb = b.variance();
  if (va + vb <= 0) {
    out.low = out.high = out.difference;
    return out;
  }
  // Welch-Satterthwaite.
  const double freedom = (va + vb) * (va + vb) / (va * va / (out.nodes_a - 1) + vb * vb / (out.nodes_b - 1));
  const double half = stats::student_t_quantile(0.975, freedom) * std::sqrt(va + vb) / scale;
  out.low = out.difference - half;
  out.high = out.difference + half;
  return out;
}

}  // namespace

core::Result<Side> parse_side(const std::string& text) {
  const auto refuse = [&](std::string_view part) {
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("invalid side '{}': '{}' is not a valid condition", text, part),
                      "use node=NAME, job=NAME, hardware=NAME, after=TIME or before=TIME, joined by commas");
  };
  Side side;
  side.text = text;
  for (const std::string_view part : core::split(text, ',')) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals + 1 == part.size()) return refuse(part);
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (key == "node") {
      side.nodes.emplace_back(value);
    } else if (key == "job") {
      side.jobs.emplace_back(value);
    } else if (key == "hardware") {
      side.hardware.emplace_back(value);
    } else if (key == "after" || key == "before") {
      const auto time = core::parse_time_text(value);
      if (!time) return refuse(part);
      (key == "after" ? side.after_unix_ns : side.before_unix_ns) = time;
    } else {
      return refuse(part);
    }
  }
  return side;
}

std::vector<MetricComparison> compare_sides(const trace::FleetCells& cells, trace::FleetGroup group, const Side& a,
                                            const Side& b) {
  std::vector<MetricComparison> out;
  for (std::size_t column = 0; column < trace::kFleetValues; ++column) {
    const std::string_view metric = trace::kFleetColumns[column].name;
    if (trace::kFleetColumns[column].group != group || metric == "clock_joined" || metric == "uptime_s" ||
        metric == "clock_offset_ns")
      continue;
    const Sample of_a = sample_of(cells, trace::place_in_group(column), a);
    const Sample of_b = sample_of(cells, trace::place_in_group(column), b);
    if (!of_a.values.empty() && !of_b.values.empty()) out.push_back(compared(metric, of_a, of_b));
  }
  return out;
}

}  // namespace aaco::analytics::fleet
