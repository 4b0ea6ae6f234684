#include "analytics/noise.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::noise {
namespace {

constexpr std::int64_t kBlockNs = 250'000'000;

NoiseBook shipped() { return *NoiseBook::load(AACO_SOURCE_DIR "/data/rules/noise.yaml"); }

core::Result<NoiseBook> book_of(const std::string& sensors) {
  testing::FakeMachine folder;
  folder.write("noise.yaml", "schema: 1\nsensors:\n" + sensors);
  return NoiseBook::load(folder.root() + "/noise.yaml");
}

class NoiseTest : public ::testing::Test {
 protected:
  // A quiet run: every counter moves a little.
  explicit NoiseTest(std::size_t blocks = 40) {
    for (std::size_t i = 0; i < blocks; ++i) {
      trace::LoopBlockRow row;
      row.phase = names_.intern("measure");
      row.block = static_cast<std::int64_t>(i);
      row.start_ns = row.block * kBlockNs;
      row.end_ns = row.start_ns + kBlockNs;
      row.call_count = 100;
      const auto jitter = static_cast<std::int64_t>(i * 7 % 5);
      row.process_cpu_ns = kBlockNs;
      row.machine_busy_ns = kBlockNs + jitter * 2'000'000;
      row.process_wait_ns = jitter * 100'000;
      row.cpu_some_ns = jitter * 100'000;
      row.interrupts = 300 + jitter;
      row.softirqs = 100 + jitter;
      row.involuntary_switches = jitter;
      row.steal_ns = 0;
      row.throttled_ns = 0;
      row.caller_clock_hz = 3'000'000'000 + jitter * 1'000'000;
      rows_.push_back(row);
    }
  }
  [[nodiscard]] std::vector<Mark> marks() const { return disturbed_blocks(shipped(), rows_, names_); }
  [[nodiscard]] std::string cause_of(std::size_t block) const {
    for (const Mark& mark : marks())
      if (mark.block == static_cast<std::int64_t>(block)) return mark.cause;
    return {};
  }
  // Others have a fifth of a CPU, and our threads wait for it.
  static void wait_for_others(trace::LoopBlockRow& row) {
    row.process_wait_ns = kBlockNs / 5;
    row.machine_busy_ns = *row.machine_busy_ns + kBlockNs / 5;
  }
  trace::NameTable names_;
  std::vector<trace::LoopBlockRow> rows_;
};

TEST_F(NoiseTest, QuietRunIsUndisturbed) { EXPECT_TRUE(marks().empty()); }

TEST_F(NoiseTest, EachSensorNamesItsCause) {
  rows_[3].machine_busy_ns = 2 * kBlockNs;
  wait_for_others(rows_[5]);
  rows_[7].steal_ns = kBlockNs / 2;
  rows_[9].throttled_ns = kBlockNs / 10;
  rows_[11].caller_clock_hz = 1'500'000'000;
  rows_[13].interrupts = 40'000;
  rows_[15].softirqs = 40'000;
  rows_[17].involuntary_switches = 500;
  rows_[19].io_some_ns = kBlockNs / 2;
  rows_[21].memory_some_ns = kBlockNs / 2;
  rows_[23].thermal_throttles = 3;
  rows_[25].cpu_some_ns = kBlockNs / 4;
  EXPECT_EQ(cause_of(3), "other_processes");
  EXPECT_EQ(cause_of(5), "run_queue");
  EXPECT_EQ(cause_of(7), "steal");
  EXPECT_EQ(cause_of(9), "throttled");
  EXPECT_EQ(cause_of(11), "clock");
  EXPECT_EQ(cause_of(13), "interrupts");
  EXPECT_EQ(cause_of(15), "softirqs");
  EXPECT_EQ(cause_of(17), "switches");
  EXPECT_EQ(cause_of(21), "memory_pressure");
  EXPECT_EQ(cause_of(23), "thermal");
  EXPECT_EQ(cause_of(25), "cpu_pressure");
  EXPECT_EQ(marks().size(), 11U);  // I/O is measured in one block only: no level, and no limit that holds always
}

TEST_F(NoiseTest, StrongestCauseNamesTheBlock) {
  wait_for_others(rows_[3]);
  const auto found = marks();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, "run_queue");
  EXPECT_EQ(found[0].also, std::vector<std::string>{"other_processes"});
  EXPECT_GT(found[0].value, found[0].limit);
}

// The latency is not looked at: a block that is slow for no reason that a sensor gives is a measurement.
TEST_F(NoiseTest, ASlowBlockAloneIsNotDisturbed) {
  const auto add = [](std::optional<std::int64_t>& count, double by) {
    count = static_cast<std::int64_t>(static_cast<double>(*count) * by);
  };
  rows_[8].end_ns = rows_[8].start_ns + 3 * kBlockNs;
  add(rows_[8].process_cpu_ns, 3);
  add(rows_[8].machine_busy_ns, 3);
  add(rows_[8].interrupts, 3);
  add(rows_[8].softirqs, 3);
  EXPECT_TRUE(marks().empty());
}

TEST_F(NoiseTest, WorkOnCpusThatTheRunMayNotUseDisturbsNoBlock) {
  for (auto& row : rows_) row.allowed_busy_ns = *row.machine_busy_ns;
  rows_[8].machine_busy_ns = 3 * kBlockNs;
  EXPECT_TRUE(marks().empty());
  rows_[8].allowed_busy_ns = 2 * kBlockNs;
  EXPECT_EQ(marks().size(), 1U);
}

TEST_F(NoiseTest, MostlyDisturbedRunStillHasALevel) {
  for (std::size_t i = 0; i < 25; ++i) wait_for_others(rows_[i]);
  EXPECT_EQ(marks().size(), 25U);
}

TEST_F(NoiseTest, AlwaysLimitMarksEveryBlock) {
  for (auto& row : rows_) wait_for_others(row);
  EXPECT_EQ(marks().size(), rows_.size());
}

TEST_F(NoiseTest, ConstantLoadOnOtherCpusIsNotNoise) {
  for (auto& row : rows_) row.machine_busy_ns = 2 * kBlockNs;
  EXPECT_TRUE(marks().empty());
}

// Threads that wait for each other are the run's own doing.
TEST_F(NoiseTest, WaitingWithoutOtherProcessesIsNotNoise) {
  for (std::size_t i = 0; i < 10; ++i) rows_[i].process_wait_ns = kBlockNs;
  EXPECT_TRUE(marks().empty());
}

TEST_F(NoiseTest, FewBlocksHaveNoOwnLevel) {
  rows_.resize(kMinBlocks - 1);
  rows_[2].machine_busy_ns = 2 * kBlockNs;
  EXPECT_TRUE(marks().empty());
  rows_[2].throttled_ns = kBlockNs / 5;
  EXPECT_EQ(marks().size(), 1U);
}

TEST_F(NoiseTest, SkipsTelemetryAndEmptyBlocks) {
  rows_[3].machine_busy_ns = 3 * kBlockNs;
  rows_[3].phase = names_.intern("measure_telemetry");
  rows_[4].machine_busy_ns = 3 * kBlockNs;
  rows_[4].end_ns = rows_[4].start_ns;
  EXPECT_TRUE(marks().empty());
  EXPECT_TRUE(disturbed_blocks(shipped(), {}, names_).empty());
}

TEST_F(NoiseTest, AccountsWithAndWithoutDisturbedBlocks) {
  rows_[3].machine_busy_ns = 2 * kBlockNs;
  std::vector<Call> calls;
  for (const auto& row : rows_)
    for (int i = 0; i < 10; ++i) calls.push_back({row.block, row.block == 3 ? 2e6 : 1e6});
  const auto found = marks();
  const Account account = account_of(found, rows_.size(), calls);
  EXPECT_EQ(account.all.iterations, 400);
  EXPECT_EQ(account.undisturbed.iterations, 390);
  EXPECT_NEAR(account.disturbed_ratio(), 0.025, 1e-12);
  EXPECT_EQ(account.all.p99_ns, 2e6);
  EXPECT_EQ(account.undisturbed.p99_ns, 1e6);
  EXPECT_EQ(account.undisturbed.cov_ratio, 0);
  EXPECT_TRUE(can_drop(account));
  const std::string text = to_text(account, shipped());
  EXPECT_NE(text.find("1 of 40 blocks (2.5"), std::string::npos) << text;
  EXPECT_NE(text.find("other processes used CPU time (1)"), std::string::npos) << text;
  const core::Json document = to_json(account, found, shipped());
  EXPECT_EQ(document["marks"].items().size(), 1U);
  EXPECT_EQ(document["undisturbed"]["iterations"].as_i64(), 390);
}

TEST_F(NoiseTest, KeepsDisturbedBlocksIfTooFewRemain) {
  std::vector<Mark> all;
  std::vector<Call> calls;
  for (std::int64_t block = 0; block < 10; ++block) {
    all.push_back({block, "steal", {}, 1, 0.1});
    for (int i = 0; i < 10; ++i) calls.push_back({block, 1e6});
  }
  const Account none_left = account_of(all, 10, calls);
  EXPECT_FALSE(can_drop(none_left));
  EXPECT_FALSE(none_left.undisturbed.median_ns);
  all.resize(8);
  EXPECT_TRUE(can_drop(account_of(all, 10, calls)));
  EXPECT_EQ(account_of({}, 0, {}).disturbed_ratio(), 0);
}

TEST(NoiseBookFile, RefusesInvalidSensors) {
  EXPECT_TRUE(book_of("  - {id: a, title: t, sensor: wait_ratio, deviations: 5}\n"));
  for (const char* sensors :
       {"", "  - {id: a, title: t, sensor: latency, deviations: 5}\n", "  - {id: a, title: t, sensor: wait_ratio}\n",
        "  - {id: a, title: t, sensor: wait_ratio, deviations: -1}\n", "  - {id: a, sensor: wait_ratio, deviations: 5}\n",
        "  - {id: a, title: t, sensor: clock_hz, low: true, always: 5}\n",
        "  - {id: a, title: t, sensor: wait_ratio, deviation: 5}\n",
        "  - {id: a, title: t, sensor: wait_ratio, always: 5}\n  - {id: a, title: t, sensor: wait_ratio, always: 5}\n"})
    EXPECT_FALSE(book_of(sensors)) << sensors;
}

}  // namespace
}  // namespace aaco::analytics::noise
