#include "analytics/fleet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace aaco::analytics::fleet {
namespace {

using trace::FleetCells;
using trace::FleetGroup;

constexpr std::int64_t kBinNs = std::int64_t{1800} * 1'000'000'000;

// Devices of one model in one job; `value` gives a metric by unit and bin.
template <class Of>
FleetCells cells_of(std::int32_t nodes, std::int32_t devices, std::int32_t bins, std::string_view metric, Of&& value) {
  FleetCells out{0, kBinNs, bins, {}, {"job"}, {}};
  const std::size_t place = trace::place_in_group(trace::fleet_column(metric));
  for (std::int32_t node = 0; node < nodes; ++node)
    for (std::int32_t device = 0; device < devices; ++device) {
      out.units.push_back({"n" + std::to_string(node), device, "model"});
      for (std::int32_t bin = 0; bin < bins; ++bin) {
        trace::FleetCell cell;
        cell.unit = static_cast<std::int32_t>(out.units.size()) - 1;
        cell.job = 0;
        cell.bin = bin;
        cell.minutes = cell.rows = 30;
        cell.values[place] = value(cell.unit, bin);
        out.cells.push_back(cell);
      }
    }
  return out;
}

// Compute times with a load cycle and differences of 1 % between good devices.
FleetCells compute_times(double slow, std::int32_t since, std::int32_t nodes = 8, std::uint64_t seed = 1) {
  core::Random random(seed);
  std::vector<double> speed;
  for (int i = 0; i < nodes * 4; ++i) speed.push_back(1 + 0.01 * random.normal());
  return cells_of(nodes, 4, 48, "compute_ns", [&, slow, since](std::int32_t unit, std::int32_t bin) {
    const double cycle = 1 + 0.3 * std::sin(bin * 0.26);
    return 1e8 * cycle * speed[static_cast<std::size_t>(unit)] * (1 + 0.003 * random.normal()) *
           (unit == 5 && bin >= since ? 1 + slow : 1);
  });
}

std::vector<Finding> found_in(const FleetCells& cells, FleetGroup group) {
  Tests tests;
  test_group(cells, group, tests);
  return findings(std::move(tests));
}

TEST(Fleet, SlowDeviceIsFoundSinceItSlowed) {
  const auto found = found_in(compute_times(0.1, 20), FleetGroup::work);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "slow_gpu");
  EXPECT_EQ(found[0].node, "n1");
  EXPECT_EQ(found[0].device, 1);
  EXPECT_NEAR(static_cast<double>(found[0].since_unix_ns) / static_cast<double>(kBinNs), 20, 1);
  EXPECT_TRUE(found[0].lasting);
  EXPECT_NEAR(found[0].evidence[0].effect, 0.1, 0.03);
  EXPECT_EQ(found[0].evidence[0].peers, 31);
  EXPECT_LE(found[0].q(), kFalseDiscoveryRate);
}

TEST(Fleet, EqualDevicesYieldNoFinding) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_TRUE(found_in(compute_times(0, 0, 8, seed), FleetGroup::work).empty()) << seed;
}

TEST(Fleet, TooFewPeersAreCountedNotJudged) {
  Tests tests;
  test_group(cells_of(1, 3, 48, "compute_ns", [](std::int32_t unit, std::int32_t) { return unit == 0 ? 2e8 : 1e8; }),
             FleetGroup::work, tests);
  EXPECT_TRUE(tests.tests.empty());
  EXPECT_EQ(tests.units_without_peers, 3);
}

TEST(Fleet, ShortSpikeYieldsNoFinding) {
  const auto found = found_in(cells_of(8, 4, 48, "compute_ns",
                                       [](std::int32_t unit, std::int32_t bin) {
                                         return 1e8 * (1 + 0.001 * (unit % 7)) * (unit == 3 && (bin == 9 || bin == 10) ? 3 : 1);
                                       }),
                              FleetGroup::work);
  EXPECT_TRUE(found.empty());
}

TEST(Fleet, PartOfABinIsNotCompared) {
  FleetCells cells = compute_times(0.5, 0);
  for (auto& cell : cells.cells)
    if (cell.unit == 5) cell.minutes = 10;
  EXPECT_TRUE(found_in(cells, FleetGroup::work).empty());
}

TEST(Fleet, BinsWithoutValuesYieldNoTests) {
  Tests tests;
  test_group(FleetCells{0, kBinNs, 48, {}, {}, {}}, FleetGroup::gpu, tests);
  EXPECT_TRUE(tests.tests.empty());
}

TEST(Fleet, MemoryErrorsComeBeforeTheSlownessTheyCause) {
  Tests tests;
  test_group(compute_times(0.1, 10), FleetGroup::work, tests);
  core::Random random(3);
  test_group(cells_of(8, 4, 48, "ecc_corrected",
                      [&](std::int32_t unit, std::int32_t bin) {
                        return unit == 5 && bin >= 10 ? 4 + random.uniform() : random.uniform() < 0.02 ? 1.0 / 30 : 0.0;
                      }),
             FleetGroup::health, tests);
  const auto found = findings(std::move(tests));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "ecc_storm");
  EXPECT_EQ(found[0].evidence.size(), 2U);
}

FleetCells host_rows(std::int32_t bins) {
  return cells_of(16, 1, bins, "probe_ns", [](std::int32_t, std::int32_t) { return 5e6; });
}

TEST(Fleet, MissingLateAndDuplicateRowsAreFound) {
  FleetCells cells = host_rows(48);
  for (auto& cell : cells.cells) {
    if (cell.unit == 2 && cell.bin > 20) cell.minutes = cell.rows = 24;
    if (cell.unit == 4) cell.late = 5;
    if (cell.unit == 7 && cell.bin < 30) cell.rows = 36;
  }
  Presence presence;
  presence.add(cells);
  Tests tests;
  test_presence(presence, tests);
  std::vector<std::string> kinds;
  for (const auto& one : findings(std::move(tests))) kinds.push_back(one.kind + " " + one.node);
  std::sort(kinds.begin(), kinds.end());
  EXPECT_EQ(kinds, (std::vector<std::string>{"duplicate_rows n7", "late_rows n4", "missing_rows n2"}));
}

TEST(Fleet, RestartIsNotMissingTelemetry) {
  FleetCells cells = host_rows(48);
  for (auto& cell : cells.cells)
    if (cell.unit == 2 && cell.bin == 20) cell.minutes = cell.rows = 18;
  Presence presence;
  presence.add(cells);
  Tests tests;
  test_presence(presence, tests);
  EXPECT_TRUE(findings(std::move(tests)).empty());
}

// Ranks of one job; rank `late` computes longer and waits less.
FleetCells ranks_of(std::int32_t count, std::int32_t late, double slow, std::int32_t since, double joined = 1) {
  FleetCells out{0, kBinNs, 48, {}, {"train"}, {}};
  core::Random random(5);
  const auto place = [](std::string_view metric) { return trace::place_in_group(trace::fleet_column(metric)); };
  for (std::int32_t unit = 0; unit < count; ++unit) {
    out.units.push_back({"n" + std::to_string(unit / 4), unit % 4, "model"});
    for (std::int32_t bin = 0; bin < out.bins; ++bin) {
      const double delay = late >= 0 && bin >= since ? slow : 0;
      trace::FleetCell cell;
      cell.unit = unit;
      cell.job = 0;
      cell.rank = unit;
      cell.bin = bin;
      cell.minutes = cell.rows = 30;
      cell.values[place("compute_ns")] = 7e7 * (unit == late ? 1 + delay / 0.7 : 1) + 1e5 * random.normal();
      cell.values[place("wait_ns")] = 1e6 + 1e8 * (unit == late ? 0 : delay) + 1e5 * random.normal();
      cell.values[place("transfer_ns")] = 2e7;
      cell.values[place("host_ns")] = 1e7;
      cell.values[place("clock_joined")] = joined;
      out.cells.push_back(cell);
    }
  }
  return out;
}

TEST(Straggler, LateRankIsNamedAndVictimsAreNot) {
  const auto jobs = stragglers(ranks_of(8, 6, 0.1, 0));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].state, StragglerState::found);
  EXPECT_EQ(jobs[0].node, "n1");
  EXPECT_EQ(jobs[0].devices, std::vector<std::int32_t>{2});
  EXPECT_EQ(jobs[0].rank_numbers, std::vector<std::int32_t>{6});
  EXPECT_EQ(jobs[0].cause, "compute");
  EXPECT_TRUE(jobs[0].chronic);
  EXPECT_NEAR(jobs[0].late_ns, 1e7, 1e6);
  EXPECT_GT(jobs[0].last_ratio, 0.95);
}

TEST(Straggler, OneOfTwoRanksIsNamed) {
  const auto jobs = stragglers(ranks_of(2, 1, 0.1, 0));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].state, StragglerState::found);
  EXPECT_EQ(jobs[0].rank_numbers, std::vector<std::int32_t>{1});
}

TEST(Straggler, EpisodeIsNotChronic) {
  const auto jobs = stragglers(ranks_of(8, 3, 0.2, 40));
  ASSERT_EQ(jobs[0].state, StragglerState::found);
  EXPECT_FALSE(jobs[0].chronic);
  EXPECT_EQ(jobs[0].since_unix_ns / kBinNs, 40);
}

TEST(Straggler, EqualRanksHaveNone) { EXPECT_EQ(stragglers(ranks_of(8, -1, 0, 0))[0].state, StragglerState::none); }
TEST(Straggler, SmallDelayYieldsNone) { EXPECT_EQ(stragglers(ranks_of(8, 2, 0.005, 0))[0].state, StragglerState::none); }
TEST(Straggler, SingleRankYieldsNoEntry) { EXPECT_TRUE(stragglers(ranks_of(1, 0, 0.1, 0)).empty()); }

TEST(Straggler, ClocksThatAreNotJoinedCannotTell) {
  const auto jobs = stragglers(ranks_of(8, 6, 0.1, 0, 0));
  EXPECT_EQ(jobs[0].state, StragglerState::cannot_tell);
  EXPECT_NE(jobs[0].reason.find("not joined"), std::string::npos);
}

TEST(Straggler, RanksWithoutWaitsCannotTell) {
  FleetCells cells = ranks_of(8, 6, 0.1, 0);
  for (auto& cell : cells.cells) cell.values[trace::place_in_group(trace::fleet_column("wait_ns"))].reset();
  EXPECT_EQ(stragglers(cells)[0].state, StragglerState::cannot_tell);
}

TEST(Jobs, GoodputIsComputeOverStep) {
  const auto jobs = job_summaries(ranks_of(4, -1, 0, 0), {});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_NEAR(jobs[0].goodput_ratio.value(), 7.0 / 10.1, 0.01);
  EXPECT_FALSE(jobs[0].energy_per_step_j.has_value());
}

}  // namespace
}  // namespace aaco::analytics::fleet
