#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"

namespace aaco::stats {

// Draws one statistic of a series over circular block resamples: a quantile (type 7) or the mean. Costs less than a sort or a
// pass per resample: the mean adds sums of blocks; a quantile counts one by one only the values near those that earlier resamples
// gave.
class BlockResampler {
 public:
  // `series` is not empty; `quantile` empty for the mean.
  BlockResampler(std::span<const double> series, std::optional<double> quantile);

  double draw(std::int64_t block, core::Random& random);

 private:
  // Order statistics counted one by one: those at [low, high). Of the others only how many lie below matters.
  struct Band {
    std::size_t low = 0, high = 0;
    std::vector<std::uint32_t> below_before;   // at i: values of series[0, i) whose rank is below the band
    std::vector<std::uint32_t> inside_before;  // at i: values of series[0, i) in the band
    std::vector<std::uint32_t> inside;         // ranks in the band, in the order of the series
  };
  struct Found {
    double value = 0;
    std::size_t rank = 0;  // of the lower order statistic
  };

  void draw_starts(std::int64_t block, core::Random& random);
  template <typename Visit>  // of [begin, end) within the series
  void for_each_piece(Visit&& visit) const;
  [[nodiscard]] double mean() const;
  double quantile();
  [[nodiscard]] std::optional<Found> quantile_within(const Band& band);
  [[nodiscard]] Band band_over(std::size_t low, std::size_t high) const;
  void learn(std::size_t rank);

  std::optional<double> quantile_;
  double centre_ = 0;
  std::vector<double> sums_;  // at i: of series[0, i) less the centre
  std::vector<double> sorted_;
  std::vector<std::uint32_t> rank_;  // of each value of the series
  std::vector<std::size_t> starts_;  // of the blocks drawn
  std::size_t block_ = 1;
  std::vector<std::uint32_t> counts_;
  std::size_t lowest_ = 0, highest_ = 0;  // ranks seen
  int seen_ = 0;
  Band everything_, narrow_;
};

}  // namespace aaco::stats
