#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace aaco::stats {

// Takes single and double outliers out of a series as it is read from its start: a value that is far beyond the medians of the
// three values before it and of the three after it becomes the nearer of the two. Of what comes after, only values up to a given
// end are used, so that what is said of a prefix never depends on what follows.
class SpikeFilter {
 public:
  explicit SpikeFilter(std::span<const double> series);

  // Value `i` as it looks once the values up to `last` are known, i <= last. Earlier values are taken as settled.
  [[nodiscard]] double value(std::size_t i, std::size_t last) const;
  void settle(std::size_t i, double value) { values_[i] = value; }
  [[nodiscard]] double settled(std::size_t i) const { return values_[i]; }

  // The smallest step other than 0 between neighbours up to `last`: what values are rounded to, if they are. 0: all are equal.
  [[nodiscard]] double resolution(std::size_t last) const { return resolutions_[last]; }

 private:
  std::vector<double> values_;  // settled ones replaced
  std::vector<double> series_;  // as given
  std::vector<double> scales_;  // of neighbours' differences, from the values up to each
  std::vector<double> resolutions_;
};

}  // namespace aaco::stats
