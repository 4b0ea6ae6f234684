#include "stats/changepoint.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/autocorrelation.h"
#include "stats/change_reader.h"
#include "stats/robust.h"
#include "stats/seasonal_changes.h"
#include "stats/two_sample.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kMaxValues = 8192;  // read one by one

std::vector<double> block_medians(std::span<const double> series, std::size_t block) {
  std::vector<double> medians;
  for (std::size_t start = 0; start + block <= series.size(); start += block)
    medians.push_back(median(series.subspan(start, block)));
  return medians;
}

// The split of the values that leaves the least distance from the medians at both ends of them.
std::size_t best_split(std::span<const double> values) {
  const std::size_t quarter = std::max<std::size_t>(values.size() / 4, 1);
  const double before = median(values.first(quarter)), after = median(values.last(quarter));
  double balance = 0, largest = 0;
  std::size_t place = values.size() / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    balance += std::abs(values[i] - after) - std::abs(values[i] - before);
    if (balance > largest) {
      largest = balance;
      place = i + 1;
    }
  }
  return place;
}

std::vector<ReadChange> read_long(std::span<const double> series) {
  const std::size_t block = (series.size() + kMaxValues - 1) / kMaxValues;
  std::vector<ReadChange> changes = read_changes(block_medians(series, block));
  for (ReadChange& change : changes) {
    const std::size_t from = (change.index - std::min<std::size_t>(change.index, 2)) * block;
    const std::size_t to = std::min((change.index + 2) * block, series.size());
    change.index = change.shape == FoundShape::bend ? change.index * block : from + best_split(series.subspan(from, to - from));
  }
  return changes;
}

struct Slope {
  double per_value = 0, centre = 0, level = 0;  // the level at the centre
  [[nodiscard]] double at(double k) const { return level + per_value * (k - centre); }
};

Slope slope_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Slope slope{0, (n - 1) / 2, 0};
  for (const double value : values) slope.level += value / n;
  double products = 0, squares = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double distance = static_cast<double>(k) - slope.centre;
    products += distance * (values[k] - slope.level);
    squares += distance * distance;
  }
  slope.per_value = squares > 0 ? products / squares : 0;
  return slope;
}

SampleView worth(std::span<const double> values) { return {values, effective_sample_size(values)}; }

double rank_p_value(std::span<const double> before, std::span<const double> after) {
  const auto test = rank_test(worth(before), worth(after));
  return test ? test->p_value : 1;
}

std::vector<double> less_slope(std::span<const double> values, double per_value, double origin) {
  std::vector<double> result;
  for (std::size_t k = 0; k < values.size(); ++k) result.push_back(values[k] - per_value * (static_cast<double>(k) - origin));
  return result;
}

ChangePoint described(const ReadChange& change, std::span<const double> before, std::span<const double> after) {
  ChangePoint result;
  result.index = static_cast<std::int64_t>(change.index);
  if (change.shape == FoundShape::step) {
    result.before = median(before);
    result.after = median(after);
    result.p_value = rank_p_value(before, after);
    return result;
  }
  const Slope first = slope_of(before), second = slope_of(after);
  const auto length = static_cast<double>(before.size());
  if (change.shape == FoundShape::bend) {
    result.shape = ChangeShape::bend;
    result.before = result.after = (first.at(length) * length + second.at(0) * static_cast<double>(after.size())) /
                                   (length + static_cast<double>(after.size()));
    result.p_value = std::exp(-change.gain / 2);
    return result;
  }
  // The slope of the longer side holds for both.
  const double slope = before.size() >= after.size() ? first.per_value : second.per_value;
  const std::vector<double> level_before = less_slope(before, slope, length), level_after = less_slope(after, slope, 0);
  result.before = median(level_before);
  result.after = median(level_after);
  result.p_value = rank_p_value(level_before, level_after);
  return result;
}

}  // namespace

std::vector<ChangePoint> find_changes(std::span<const double> series) {
  AACO_CHECK(std::all_of(series.begin(), series.end(), [](double value) { return std::isfinite(value); }));
  SeasonalReading reading;
  if (series.size() > kMaxValues)
    reading = {{series.begin(), series.end()}, read_long(series)};
  else
    reading = read_seasonal_changes(series);
  const std::vector<double>& values = reading.values;
  const std::vector<ReadChange>& found = reading.changes;
  std::vector<ChangePoint> changes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t start = i == 0 ? 0 : found[i - 1].index;
    const std::size_t end = i + 1 < found.size() ? found[i + 1].index : values.size();
    const std::size_t index = found[i].index;
    changes.push_back(
        described(found[i], std::span(values).subspan(start, index - start), std::span(values).subspan(index, end - index)));
  }
  return changes;
}

}  // namespace aaco::stats
