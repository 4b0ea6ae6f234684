#include "analytics/metrics/series.h"

#include <algorithm>

namespace aaco::analytics::metrics {

void SeriesIndex::add(std::string_view metric, std::string_view entity, Sample sample) {
  std::vector<SampleSeries>& list = series_[metric];
  const auto [place, is_new] = place_.try_emplace({metric, entity}, list.size());
  if (is_new) list.push_back({entity, {}});
  list[place->second].samples.push_back(sample);
}

void SeriesIndex::finish() {
  for (auto& [metric, list] : series_)
    for (SampleSeries& series : list)
      std::stable_sort(series.samples.begin(), series.samples.end(),
                       [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
}

const std::vector<SampleSeries>& SeriesIndex::of(std::string_view metric) const {
  static const std::vector<SampleSeries> kNone;
  const auto found = series_.find(metric);
  return found == series_.end() ? kNone : found->second;
}

const SampleSeries* SeriesIndex::find(std::string_view metric, std::string_view entity) const {
  const auto place = place_.find({metric, entity});
  return place == place_.end() ? nullptr : &series_.at(metric)[place->second];
}

std::vector<double> values_inside(const SampleSeries& series, std::span<const Window> windows) {
  std::vector<double> values;
  for (const Window& window : windows) {
    auto sample = std::lower_bound(series.samples.begin(), series.samples.end(), window.start_ns,
                                   [](const Sample& a, std::int64_t time) { return a.time_ns < time; });
    for (; sample != series.samples.end() && sample->time_ns <= window.end_ns; ++sample) values.push_back(sample->value);
  }
  return values;
}

}  // namespace aaco::analytics::metrics
