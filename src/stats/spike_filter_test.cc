#include "stats/spike_filter.h"

#include <gtest/gtest.h>

namespace aaco::stats {
namespace {

const std::vector<double> kQuiet = {10, 11, 10, 12, 11, 10, 11, 12, 10, 11, 10, 12};

std::vector<double> settled(std::vector<double> series) {
  SpikeFilter filter(series);
  std::vector<double> result;
  for (std::size_t i = 0; i < series.size(); ++i) {
    filter.settle(i, filter.value(i, series.size() - 1));
    result.push_back(filter.settled(i));
  }
  return result;
}

TEST(SpikeFilter, SingleAndDoubleOutliersGo) {
  std::vector<double> series = kQuiet;
  series[5] = 500;
  EXPECT_LE(settled(series)[5], 12);
  series[6] = 480;
  EXPECT_LE(settled(series)[5], 12);
  EXPECT_LE(settled(series)[6], 12);
}

TEST(SpikeFilter, AStepStays) {
  std::vector<double> series = kQuiet;
  for (std::size_t i = 6; i < series.size(); ++i) series[i] += 100;
  EXPECT_EQ(settled(series), series);
}

TEST(SpikeFilter, TheLastValueIsDoubtedUntilOthersFollow) {
  std::vector<double> series = kQuiet;
  for (std::size_t i = 8; i < series.size(); ++i) series[i] += 100;
  const SpikeFilter filter(series);
  EXPECT_LE(filter.value(8, 8), 12);
  EXPECT_EQ(filter.value(8, 10), series[8]);
}

TEST(SpikeFilter, QuietValuesStay) { EXPECT_EQ(settled(kQuiet), kQuiet); }

TEST(SpikeFilter, OneValueStays) { EXPECT_EQ(settled({7}), (std::vector<double>{7})); }

TEST(SpikeFilter, Resolution) {
  const SpikeFilter filter(std::vector<double>{3, 3, 5, 5.5});
  EXPECT_EQ(filter.resolution(1), 0);
  EXPECT_EQ(filter.resolution(2), 2);
  EXPECT_EQ(filter.resolution(3), 0.5);
}

}  // namespace
}  // namespace aaco::stats
