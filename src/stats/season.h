#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace aaco::stats {

// The period of a repeating pattern, in values; 0 where there is none. At least four periods must be there, of 4 to 60 values or
// of a usual length above (hours of a day or week in steps of 5 to 60 minutes, days of a year). A pattern counts where, its
// moving mean over a period taken off, values one and two periods apart correlate by about 0.45 or more, and more with few
// values. A period that is too long for the values to show is not mistaken for a shorter one. `known` is the period found before,
// 0 if none: it stays unless its pattern fades or another one is clearly stronger.
// Steps of like height and length in one direction are no pattern: the values never come back.
std::size_t find_season(std::span<const double> series, std::size_t known = 0);

// A series less its pattern, value by value.
class SeasonFilter {
 public:
  SeasonFilter(std::span<const double> series, std::size_t period);  // the series must outlive it
  // As the values before `end` show the pattern: of each value's phase, the median distance from the moving mean over the seven
  // nearest periods, so that a pattern may grow. Only for index < end.
  [[nodiscard]] std::vector<double> all_before(std::size_t end) const;
  // As the earlier values alone foretell it: the same over the last seven periods, at the strength that their trend leads to.
  // Does not depend on later values.
  [[nodiscard]] double ahead(std::size_t index) const;

 private:
  [[nodiscard]] double amplitude(std::size_t before) const;

  std::span<const double> series_;
  std::size_t period_, half_;
  std::vector<double> distances_;   // from the moving mean, of the values from half_ on
  std::vector<double> amplitudes_;  // running sum of their size
};

}  // namespace aaco::stats
