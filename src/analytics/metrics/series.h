#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/telemetry.h"
#include "stats/summary.h"

namespace aaco::analytics::metrics {

// The samples of one metric and entity (a core, a process, a sensor), ascending in time.
struct SampleSeries {
  std::string_view entity;
  std::vector<Sample> samples;
};

// The series of telemetry rows by metric name. Only samples inside the windows count for summaries; all are kept.
class SeriesIndex {
 public:
  void add(std::string_view metric, std::string_view entity, Sample sample);
  // Sorts; call once after the last add().
  void finish();

  [[nodiscard]] const std::vector<SampleSeries>& of(std::string_view metric) const;  // empty where there is none
  // The series of this entity, or null.
  [[nodiscard]] const SampleSeries* find(std::string_view metric, std::string_view entity) const;

 private:
  std::map<std::string_view, std::vector<SampleSeries>> series_;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> place_;
};

// Values inside the windows, bounds included.
std::vector<double> values_inside(const SampleSeries& series, std::span<const Window> windows);

}  // namespace aaco::analytics::metrics
