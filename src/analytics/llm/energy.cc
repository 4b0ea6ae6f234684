#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analytics/llm_energy.h"

namespace aaco::analytics::llm {
namespace {

// Readings of one sensor within the level.
struct Sensor {
  std::int64_t first_ns = 0, last_ns = 0;
  double first = 0, last = 0, sum = 0;
  std::int64_t count = 0;
  bool fell = false;

  void add(std::int64_t time_ns, double value) {
    if (count == 0) {
      first_ns = time_ns;
      first = value;
    }
    fell |= count > 0 && value < last;
    last_ns = time_ns;
    last = value;
    sum += value;
    ++count;
  }
  [[nodiscard]] bool covers(double level_ns) const {
    return count > 1 && static_cast<double>(last_ns - first_ns) >= kEnergyCovered * level_ns;
  }
  [[nodiscard]] double counted(double level_ns) const {
    return (last - first) * level_ns / static_cast<double>(last_ns - first_ns);
  }
  [[nodiscard]] double drawn(double level_ns) const { return sum / static_cast<double>(count) * level_ns * 1e-9; }
};

// "package-0" is a whole package; "package-0 core" lies inside it.
bool is_package(std::string_view entity) { return entity.starts_with("package") && entity.find(' ') == std::string_view::npos; }

struct Sensors {
  Sensor counter, power;
};

}  // namespace

std::optional<double> joules_of(std::span<const trace::SystemEventRow> events, std::span<const trace::GpuEventRow> gpu,
                                const trace::NameTable& names, std::int32_t machine, std::int64_t from_ns, std::int64_t to_ns) {
  std::map<std::string, Sensors> sources;
  const auto add = [&](std::string source, std::string_view metric, const auto& row) {
    if (row.rank != machine || row.time_ns < from_ns || row.time_ns > to_ns) return;
    auto& sensors = sources[std::move(source)];
    (metric.ends_with("joules") ? sensors.counter : sensors.power).add(row.time_ns, row.value);
  };
  for (const auto& row : events) {
    const std::string_view metric = names.text(row.metric), entity = names.text(row.entity);
    if ((metric == "cpu.energy_joules" || metric == "cpu.power_watts") && is_package(entity))
      add(std::string(entity), metric, row);
  }
  for (const auto& row : gpu) {
    const std::string_view metric = names.text(row.metric);
    // Two sensors of one device are one source: the first that reads it counts.
    if (metric == "gpu.energy_joules" || metric == "gpu.power_watts") add("gpu " + std::to_string(row.device), metric, row);
  }
  const auto level_ns = static_cast<double>(to_ns - from_ns);
  std::optional<double> total;
  for (const auto& [source, sensors] : sources) {
    if (sensors.counter.covers(level_ns) && !sensors.counter.fell)
      total = total.value_or(0) + sensors.counter.counted(level_ns);
    else if (sensors.power.covers(level_ns))
      total = total.value_or(0) + sensors.power.drawn(level_ns);
    else
      return std::nullopt;  // a part is no sum
  }
  return total;
}

}  // namespace aaco::analytics::llm
