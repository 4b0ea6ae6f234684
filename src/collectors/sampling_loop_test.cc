#include "collectors/sampling_loop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "collectors/row_buffer.h"

namespace aaco::collectors {
namespace {

// What a collector saw, shared with the test.
struct Seen {
  std::atomic<int> samples{0}, forgets{0}, closes{0};
  std::atomic<bool> busy{false};
};

class CountingCollector final : public Collector {
 public:
  CountingCollector(Seen& seen, core::Status opens, int work_ms = 0) : seen_(seen), opens_(std::move(opens)), work_ms_(work_ms) {}
  [[nodiscard]] CollectorInfo info() const override { return {"counting", "samples"}; }
  core::Status open(const SysRoot&, const Target&) override { return opens_; }
  void sample(trace::Sink& sink) override {
    seen_.busy = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(work_ms_));
    sink.add(trace::SystemEventRow{0, 0, sink.name("test.count"), sink.name("entity"), static_cast<double>(++seen_.samples)});
    account_.keep();
    seen_.busy = false;
  }
  void forget() override { ++seen_.forgets; }
  void close() override { ++seen_.closes; }
  [[nodiscard]] trace::Account account() const override { return account_; }

 private:
  Seen& seen_;
  core::Status opens_;
  int work_ms_;
  trace::Account account_{"counting", {}, {}, 0, 0, {}, {}};
};

SamplingLoop loop_with(Seen& seen, core::Status opens = {}, int work_ms = 0,
                       core::Nanoseconds period = core::Nanoseconds(5'000'000)) {
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(std::make_unique<CountingCollector>(seen, std::move(opens), work_ms));
  return SamplingLoop(std::move(collectors), {period, {}, {}});
}

void wait_for_samples(const Seen& seen, int count) {
  while (seen.samples < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(SamplingLoop, DeliversEveryRowWithNames) {
  Seen seen;
  auto loop = loop_with(seen);
  ASSERT_TRUE(loop.start());
  wait_for_samples(seen, 3);
  trace::MemorySink sink;
  (void)sink.name("taken before");
  loop.stop(sink);
  const auto& rows = sink.rows<trace::SystemEventRow>();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(seen.samples));
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].value, static_cast<double>(i + 1));
  EXPECT_EQ(sink.text(rows[0].metric), "test.count");
  EXPECT_EQ(sink.text(rows[0].entity), "entity");
  EXPECT_EQ(loop.sampling().samples, seen.samples);
  EXPECT_EQ(seen.closes, 1);
  ASSERT_EQ(loop.accounts().size(), 1U);
  EXPECT_EQ(loop.accounts()[0].kept, seen.samples);
}

// Each sample costs a millisecond of CPU time, a fifth of the period.
class ComputingCollector final : public Collector {
 public:
  explicit ComputingCollector(Seen& seen) : seen_(seen) {}
  [[nodiscard]] CollectorInfo info() const override { return {"computing", "samples"}; }
  core::Status open(const SysRoot&, const Target&) override { return {}; }
  void sample(trace::Sink&) override {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    for (const auto until = now.tv_sec * 1'000'000'000L + now.tv_nsec + 1'000'000;
         now.tv_sec * 1'000'000'000L + now.tv_nsec < until;)
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    ++seen_.samples;
  }
  void close() override {}
  [[nodiscard]] trace::Account account() const override { return {}; }

 private:
  Seen& seen_;
};

TEST(SamplingLoop, ExpensiveCollectorsAreSampledLessOften) {
  Seen seen;
  std::vector<std::unique_ptr<Collector>> collectors;
  collectors.push_back(std::make_unique<ComputingCollector>(seen));
  SamplingLoop loop(std::move(collectors), {core::Nanoseconds(5'000'000), {}, {}});
  ASSERT_TRUE(loop.start());
  wait_for_samples(seen, 30);
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_EQ(loop.sampling().longest_period, core::Nanoseconds(25'000'000));
}
TEST(SamplingLoop, CheapCollectorsKeepTheirPeriod) {
  Seen seen;
  auto loop = loop_with(seen, {}, 0, core::Nanoseconds(20'000'000));
  ASSERT_TRUE(loop.start());
  wait_for_samples(seen, 30);
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_EQ(loop.sampling().longest_period, core::Nanoseconds(0));
}

TEST(SamplingLoop, StopIsIdempotentAndFinal) {
  Seen seen;
  auto loop = loop_with(seen);
  ASSERT_TRUE(loop.start());
  trace::MemorySink sink;
  loop.stop(sink);
  const int samples = seen.samples;
  loop.stop(sink);
  loop.resume();
  loop.pause();
  EXPECT_EQ(seen.samples, samples);
  EXPECT_EQ(sink.rows<trace::SystemEventRow>().size(), static_cast<std::size_t>(samples));
  EXPECT_EQ(loop.start().error().code, core::ErrorCode::conflict);
}

TEST(SamplingLoop, StopBeforeStartGivesNothing) {
  Seen seen;
  auto loop = loop_with(seen);
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_EQ(seen.samples, 0);
  EXPECT_TRUE(sink.rows<trace::SystemEventRow>().empty());
}

TEST(SamplingLoop, NothingIsSampledInAPause) {
  Seen seen;
  auto loop = loop_with(seen);
  ASSERT_TRUE(loop.start());
  for (int round = 1; round <= 20; ++round) {
    wait_for_samples(seen, round);
    loop.pause();
    EXPECT_FALSE(seen.busy);
    const int samples = seen.samples;
    EXPECT_EQ(seen.forgets, round);
    std::this_thread::sleep_for(std::chrono::milliseconds(6));
    EXPECT_EQ(seen.samples, samples);
    loop.resume();
    wait_for_samples(seen, samples + 1);
  }
  trace::MemorySink sink;
  loop.pause();
  loop.stop(sink);
  EXPECT_EQ(sink.rows<trace::SystemEventRow>().size(), static_cast<std::size_t>(seen.samples));
}

TEST(SamplingLoop, QuickPausesAndResumesNeverHang) {
  Seen seen;
  auto loop = loop_with(seen);
  ASSERT_TRUE(loop.start());
  for (int i = 0; i < 2000; ++i) {
    loop.pause();
    loop.resume();
  }
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_LE(loop.sampling().wall_time.count(), std::int64_t{600'000'000'000});
}

TEST(SamplingLoop, CountsMissedDeadlines) {
  Seen seen;
  auto loop = loop_with(seen, {}, 22);  // four deadlines pass while it works
  ASSERT_TRUE(loop.start());
  wait_for_samples(seen, 3);
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_GE(loop.sampling().missed_deadlines, 6);
}

TEST(SamplingLoop, DrainAndStopDeliverRowsInOrder) {
  RowBuffer buffer;
  trace::MemorySink sink;
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i) buffer.add(trace::SystemEventRow{0, i, buffer.name("a"), {}, 0.0});
  };
  add(0, 1500);
  buffer.drain(sink);
  EXPECT_EQ(sink.rows<trace::SystemEventRow>().size(), 1024U);
  add(1500, 1600);
  buffer.drain_all(sink);
  const auto& rows = sink.rows<trace::SystemEventRow>();
  ASSERT_EQ(rows.size(), 1600U);
  for (int i = 0; i < 1600; ++i) EXPECT_EQ(rows[static_cast<std::size_t>(i)].time_ns, i);
}

TEST(SamplingLoop, RefusesAPeriodBelowFiveMilliseconds) {
  Seen seen;
  auto loop = loop_with(seen, {}, 0, core::Nanoseconds(4'999'999));
  EXPECT_EQ(loop.start().error().code, core::ErrorCode::invalid_argument);
}

TEST(SamplingLoop, ReportsCollectorThatCannotOpen) {
  Seen seen;
  auto loop = loop_with(seen, core::fail(core::ErrorCode::unsupported, "no such hardware", "plug it in"));
  ASSERT_TRUE(loop.start());
  trace::MemorySink sink;
  loop.stop(sink);
  EXPECT_EQ(seen.samples, 0);
  ASSERT_EQ(loop.accounts().size(), 1U);
  EXPECT_EQ(loop.accounts()[0].state, trace::Account::State::unsupported);
  EXPECT_EQ(loop.accounts()[0].source, "counting");
  EXPECT_NE(loop.accounts()[0].reason.find("plug it in"), std::string::npos);
}

TEST(SamplingLoop, OtherFailuresAreNotUnsupported) {
  Seen seen;
  auto loop = loop_with(seen, core::fail(core::ErrorCode::invalid_input, "damaged"));
  EXPECT_EQ(loop.accounts()[0].state, trace::Account::State::failed);
}

TEST(SamplingLoop, TheBuiltInCollectorsObserveThisProcess) {
  SamplingLoop loop(builtin_collectors(), {core::Nanoseconds(5'000'000), {}, {.process_id = getpid()}});
  ASSERT_TRUE(loop.start());
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  trace::MemorySink sink;
  loop.stop(sink);
  bool rss = false;
  for (const auto& row : sink.rows<trace::SystemEventRow>()) {
    EXPECT_GT(row.time_ns, 0);
    rss = rss || (sink.text(row.metric) == "process.rss_bytes" && row.value > 0);
  }
  EXPECT_TRUE(rss);
}

}  // namespace
}  // namespace aaco::collectors
