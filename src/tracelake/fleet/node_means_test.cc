#include <gtest/gtest.h>

#include "core/files.h"
#include "tracelake/fleet.h"
#include "tracelake/fleet/cell_collector.h"
#include "tracelake/fleet/means_sql.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
constexpr std::int64_t kBegin = 29'453'760 * kMinute;  // a whole hour

// Two nodes with two devices each for six hours: gaps, a device without power, a change of job; of "b" rows came again if
// `again`.
std::unique_ptr<FleetSource> written(const core::TemporaryDirectory& folder, bool again) {
  auto writer = *FleetWriter::create(folder.path());
  for (std::int64_t minute = 0; minute < 360; ++minute)
    for (const char* node : {"a", "b"})
      for (std::int32_t device = 0; device < 2; ++device) {
        if ((minute * 7 + device) % 13 == 0) continue;
        trace::FleetMinute row;
        row.minute_unix_ns = kBegin + minute * kMinute;
        row.node = node;
        row.device = device;
        row.group = trace::FleetGroup::gpu;
        row.job = minute < 100 ? "first" : "second";
        if (device == 0 || minute > 200)
          row.values[trace::fleet_column("power_watts")] = static_cast<double>(minute * minute % 997 + device);
        const bool twice = again && node[0] == 'b' && minute % 50 == 3;
        for (int copy = 0; copy <= (twice ? 1 : 0); ++copy) EXPECT_TRUE(writer->add(row));
      }
  EXPECT_TRUE(writer->close());
  return *open_fleet_files(folder.path());
}

void expect_means_of_cells(FleetSource& source, std::int64_t bin_minutes) {
  const std::size_t column = trace::fleet_column("power_watts");
  const std::int64_t bin_ns = bin_minutes * kMinute;
  const std::int64_t first = kBegin / bin_ns * bin_ns;
  const auto bins = static_cast<std::int32_t>((kBegin + 359 * kMinute - first) / bin_ns + 1);
  const auto means = *source.node_means(column, first, bins, bin_ns);
  const auto cells = *source.cells(trace::FleetGroup::gpu, first, bins, bin_ns);
  const auto expected = fleet::node_means_of(cells, trace::place_in_group(column));
  ASSERT_EQ(means.size(), expected.size());
  for (const auto& [node, series] : expected)
    for (std::size_t bin = 0; bin < series.size(); ++bin) {
      ASSERT_EQ(means.at(node)[bin].has_value(), series[bin].has_value()) << node << " " << bin;
      EXPECT_NEAR(means.at(node)[bin].value_or(0), series[bin].value_or(0), 1e-9 * series[bin].value_or(0) + 1e-9)
          << node << " " << bin;
    }
}

TEST(NodeMeans, AreThoseOfTheCells) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const auto source = written(folder, false);
  for (const std::int64_t minutes : {1, 9, 30, 60, 90, 120, 300}) expect_means_of_cells(*source, minutes);
}

TEST(NodeMeans, RowsThatCameAgainCountOnce) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const auto source = written(folder, true);
  for (const std::int64_t minutes : {1, 9, 30, 60, 90, 120, 300}) expect_means_of_cells(*source, minutes);
}

TEST(NodeMeans, BinsThatHoursDoNotFillNeedCells) {
  const auto sql = [](std::int64_t bin_ns) {
    return fleet::node_means_sql("t", "power_watts", {trace::FleetGroup::gpu, 0, bin_ns, 0, kMinute, ""});
  };
  EXPECT_TRUE(sql(9 * kMinute));
  EXPECT_TRUE(sql(120 * kMinute));
  EXPECT_FALSE(sql(90 * kMinute));
  EXPECT_FALSE(sql(kMinute / 2));
  EXPECT_FALSE(sql(kMinute + 1));
}

TEST(NodeMeans, NodesOfTheWindow) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const auto source = written(folder, false);
  EXPECT_EQ(*source->nodes(kBegin), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(source->nodes(kBegin + 360 * kMinute)->empty());
}

}  // namespace
}  // namespace aaco::tracelake
