#include "analytics/anomaly.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace aaco::analytics::anomaly {
namespace {

std::vector<trace::IterationRow> series(std::size_t count, double deviation = 10) {
  core::Random random(3);
  std::vector<trace::IterationRow> rows;
  std::int64_t time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    trace::IterationRow row;
    row.iteration = static_cast<std::int64_t>(i);
    row.start_ns = time;
    row.duration_ns = 1000 + static_cast<std::int64_t>(deviation * random.normal());
    time += row.duration_ns;
    rows.push_back(row);
  }
  return rows;
}

TEST(Iterations, StableSeriesHasNoAnomalies) {
  EXPECT_TRUE(of_iterations(series(2000)).empty());
  EXPECT_TRUE(of_iterations(series(2000, 0)).empty());
  EXPECT_TRUE(of_iterations(series(0)).empty());
}

TEST(Iterations, MergesAdjacentSpikes) {
  auto rows = series(200);
  rows[50].duration_ns = 5000;
  rows[52].duration_ns = 9000;
  rows[120].duration_ns = 4000;
  const auto found = of_iterations(rows);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].subject, "iterations 50 to 52");
  EXPECT_EQ(found[0].value, 9000);
  EXPECT_NEAR(found[0].expected, 1000, 10);
  EXPECT_EQ(found[1].subject, "iteration 120");
}

// 17 slow requests, and 139 as before: whatever is found of it, nothing lasts to the end.
TEST(Iterations, AShiftThatEndsHasFirstAndLast) {
  for (const double deviation : {10.0, 80.0}) {
    auto rows = series(240, deviation);
    for (std::size_t i = 84; i < 101; ++i) rows[i].duration_ns *= 43;
    int shifts = 0;
    for (const Anomaly& one : of_iterations(rows, {}, "request")) {
      EXPECT_EQ(one.text.find("since"), std::string::npos) << one.text;
      if (one.kind != Kind::level_shift) continue;
      ++shifts;
      EXPECT_EQ(one.text.find("from request 84 to 100, requests took 43"), 0U) << one.text;
      EXPECT_EQ(one.subject, "requests 84 to 100");
    }
    EXPECT_EQ(shifts, 1);
  }
}
// The requests of a stall: each waits for its end, so that the time falls from the first to the last of them.
TEST(Iterations, AStallIsNotAShiftToTheEnd) {
  auto rows = series(240, 80);
  for (std::size_t i = 84; i < 101; ++i) rows[i].duration_ns += 73 * 1000 - static_cast<std::int64_t>(i - 84) * 4000;
  for (const Anomaly& one : of_iterations(rows, {}, "request")) EXPECT_EQ(one.text.find("since"), std::string::npos) << one.text;
}
// Four slow requests of one pause among usual ones: no request took the mean of both.
TEST(Iterations, AFewSlowRequestsAreNotALevel) {
  auto rows = series(240, 10);
  for (const std::size_t i : {100U, 101U, 104U, 105U}) rows[i].duration_ns += 500;
  for (const Anomaly& one : of_iterations(rows, {}, "request")) EXPECT_EQ(one.kind, Kind::spike) << one.text;
}
TEST(Iterations, TwoShiftsThatLastAreBothTold) {
  auto rows = series(300);
  for (std::size_t i = 100; i < rows.size(); ++i) rows[i].duration_ns += i < 200 ? 300 : 900;
  const auto found = of_iterations(rows);
  std::vector<std::string> texts;
  for (const Anomaly& one : found)
    if (one.kind == Kind::level_shift) texts.push_back(one.text);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].find("from iteration 100 to 199, calls took"), 0U) << texts[0];
  EXPECT_EQ(texts[1].find("since iteration 200, calls take"), 0U) << texts[1];
}

TEST(Iterations, ReportsLevelShiftOnce) {
  auto rows = series(200);
  for (std::size_t i = 100; i < rows.size(); ++i) rows[i].duration_ns += 150;
  const auto found = of_iterations(rows);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::level_shift);
  EXPECT_EQ(found[0].subject, "iteration 100");
}

// A few are a spike, many a level.
TEST(Iterations, SlowOnesUpToTheEndAreReportedOnce) {
  for (const auto& [slow, kind] : {std::pair(4U, Kind::spike), {30U, Kind::level_shift}}) {
    auto rows = series(200);
    for (std::size_t i = rows.size() - slow; i < rows.size(); ++i) rows[i].duration_ns += 500;
    const auto found = of_iterations(rows, {}, "request");
    ASSERT_EQ(found.size(), 1U) << slow;
    EXPECT_EQ(found[0].kind, kind) << found[0].text;
    EXPECT_TRUE(found[0].subject.starts_with(slow == 4 ? "requests 196 to 199" : "request 170")) << found[0].subject;
  }
}

// Six clients of a server that serves two at once, 1000 each: all later ones wait for two rounds.
TEST(Iterations, FillingOfAClosedLoopRaisesNoLevelShift) {
  std::vector<trace::IterationRow> rows;
  for (std::int64_t i = 0; i < 60; ++i) {
    trace::IterationRow row;
    row.iteration = i;
    row.start_ns = std::max<std::int64_t>(0, i / 2 - 2) * 1000;
    row.duration_ns = (i / 2 + 1) * 1000 - row.start_ns;
    rows.push_back(row);
  }
  EXPECT_FALSE(of_iterations(rows, {}, "request").empty());
  const auto later = after_filling(rows);
  EXPECT_EQ(later.size(), 54U);
  EXPECT_TRUE(of_iterations(later, {}, "request").empty());
  EXPECT_TRUE(after_filling({}).empty());
}

TEST(Iterations, NeedsEnoughIterations) {
  auto rows = series(8);
  rows[3].duration_ns = 90'000;
  EXPECT_TRUE(of_iterations(rows).empty());
}

std::vector<trace::LoopBlockRow> blocks(trace::NameTable& names, std::size_t count) {
  std::vector<trace::LoopBlockRow> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].phase = names.intern("measure");
    rows[i].block = static_cast<std::int64_t>(i);
    rows[i].start_ns = static_cast<std::int64_t>(i) * 1'000'000;
    rows[i].end_ns = rows[i].start_ns + 1'000'000;
    rows[i].process_wait_ns = 1000;
    rows[i].minor_faults = 0;
  }
  return rows;
}

TEST(Blocks, ReportsWaitingBlock) {
  trace::NameTable names;
  auto rows = blocks(names, 8);
  EXPECT_TRUE(of_blocks(rows, names).empty());
  rows[5].process_wait_ns = 400'000;
  const auto found = of_blocks(rows, names);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "process_wait_ns");
  EXPECT_EQ(found[0].start_ns, 5'000'000);
}

TEST(Blocks, OmitsUnchangedCounters) {
  trace::NameTable names;
  auto rows = blocks(names, 8);
  rows[2].process_wait_ns = 9000;  // nine times the others, and 0.9 % of the block
  EXPECT_TRUE(of_blocks(rows, names).empty());
}

TEST(Blocks, SkipsCountersMissingFromABlock) {
  trace::NameTable names;
  auto rows = blocks(names, 8);
  rows[5].process_wait_ns = 400'000;
  rows[6].process_wait_ns.reset();
  EXPECT_TRUE(of_blocks(rows, names).empty());
}

TEST(Joined, SpikeListsConcurrentCounters) {
  std::vector<Anomaly> spikes = {{Kind::spike, "iteration 1", 5, 1, 9, 100, 200, "slow"},
                                 {Kind::spike, "iteration 9", 5, 1, 9, 900, 950, "slow"}};
  const std::vector<Anomaly> counters = {{Kind::counter, "faults", 5, 1, 9, 150, 400, "many faults"}};
  join_causes(spikes, counters);
  EXPECT_EQ(spikes[0].text, "slow; at the same time: many faults");
  EXPECT_EQ(spikes[1].text, "slow");
}

TEST(Executions, ComparedWithSameNameOnly) {
  trace::NameTable names;
  std::vector<Execution> list;
  for (int i = 0; i < 30; ++i) {
    list.push_back({names.intern("fast"), i * 100, 10});
    list.push_back({names.intern("slow"), i * 100 + 20, 5000});
  }
  EXPECT_TRUE(of_executions(list, names, 10).empty());
  list[20].duration_ns = 400;
  const auto found = of_executions(list, names, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "fast");
  EXPECT_TRUE(of_executions(list, names, 0).empty());
}

// 60 executions of 100 ns, those at `slow` of 400.
std::vector<Anomaly> anomalies_at(std::initializer_list<std::size_t> slow) {
  trace::NameTable names;
  std::vector<Execution> list;
  for (int i = 0; i < 60; ++i) list.push_back({names.intern("k"), i * 1000, 100});
  for (const std::size_t at : slow) list[at].duration_ns = 400;
  return of_executions(list, names, 10);
}
// Executions of one kernel that take these times, in ns, one after another.
std::vector<Anomaly> anomalies_of(std::initializer_list<std::int64_t> times) {
  trace::NameTable names;
  std::vector<Execution> list;
  for (const std::int64_t ns : times)
    list.push_back({names.intern("k"), static_cast<std::int64_t>(list.size()) * 1'000'000'000, ns});
  return of_executions(list, names, 10);
}

TEST(Executions, TheFirstOfTwo) {
  const auto found = anomalies_of({431'000'000, 630'000});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "the first execution of k took 431 ms, the one after it at most 630 \u00B5s");
  EXPECT_EQ(found[0].expected, 630'000);
}
TEST(Executions, TheFirstOfAFew) { EXPECT_EQ(anomalies_of({431'000'000, 630'000, 640'000}).size(), 1U); }
TEST(Executions, AFewWithoutASlowFirstOne) {
  EXPECT_TRUE(anomalies_of({431'000'000}).empty());
  EXPECT_TRUE(anomalies_of({630'000, 431'000'000}).empty()) << "only the first can be told";
  EXPECT_TRUE(anomalies_of({5'000'000, 630'000}).empty()) << "eight times";
  EXPECT_TRUE(anomalies_of({900'000, 9'000}).empty()) << "below a millisecond";
  EXPECT_TRUE(anomalies_of({431'000'000, 0}).empty()) << "no time to compare with";
}

TEST(Executions, SkipsTheSamePlaceOfEveryStep) { EXPECT_TRUE(anomalies_at({7, 22, 37, 52}).empty()); }
TEST(Executions, SkipsTwoPlacesOfEveryStep) { EXPECT_TRUE(anomalies_at({7, 9, 27, 29, 47, 49}).empty()); }
TEST(Executions, IrregularOnesAre) { EXPECT_EQ(anomalies_at({7, 22, 40, 52}).size(), 4U); }
TEST(Executions, TwoAreNoPattern) { EXPECT_EQ(anomalies_at({7, 37}).size(), 2U); }
TEST(Executions, APatternThatEndsEarlyIsAChange) { EXPECT_EQ(anomalies_at({1, 4, 7, 10}).size(), 4U); }

TEST(Executions, ATenThousandthOfTheTimeMattersToNobody) {
  trace::NameTable names;
  std::vector<Execution> list = {{names.intern("long"), 0, 10'000'000}};
  for (int i = 0; i < 60; ++i) list.push_back({names.intern("k"), i * 1000, 100});
  list[20].duration_ns = 400;
  EXPECT_TRUE(of_executions(list, names, 10).empty());
  list[20].duration_ns = 4000;
  EXPECT_EQ(of_executions(list, names, 10).size(), 1U);
}

TEST(Sessions, DetectsOutlierSession) {
  const std::vector<double> earlier = {100, 101, 99, 100, 102, 98};
  EXPECT_FALSE(of_session("latency.p50_ns", 104, earlier));
  ASSERT_TRUE(of_session("latency.p50_ns", 150, earlier));
  EXPECT_GT(of_session("latency.p50_ns", 150, earlier)->deviations, 5);
  EXPECT_FALSE(of_session("latency.p50_ns", 150, std::span(earlier).first(4)));
  EXPECT_FALSE(of_session("latency.p50_ns", std::nan(""), earlier));
  std::vector<double> bytes;
  for (const double one : earlier) bytes.push_back(one * 1048576);
  EXPECT_EQ(of_session("memory.rss_peak_bytes", 150 * 1048576.0, bytes)->text,
            "memory.rss_peak_bytes is 150 MiB; the median was 100 MiB in the 6 earlier comparable sessions");
}

}  // namespace
}  // namespace aaco::analytics::anomaly
