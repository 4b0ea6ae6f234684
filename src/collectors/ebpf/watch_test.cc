#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "collectors/ebpf/event_source.h"
#include "core/clock.h"

namespace aaco::collectors::ebpf {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Stands in for the kernel: what a test puts into it is read once.
struct FakeKernel {
  std::mutex mutex;
  std::vector<WireEvent> waiting;
  std::vector<std::uint32_t> forgotten;
  std::vector<Attachment> attachments{{"switch", "tp_btf", {}}};
  SourceCounts counts;
  bool enabled = false;

  void put(WireKind kind, std::int64_t time_ns, std::uint32_t thread, std::uint32_t state = 0) {
    WireEvent event{};
    event.kind = kind;
    event.time_ns = static_cast<std::uint64_t>(time_ns);
    event.thread = thread;
    event.process = 100;
    event.state = state;
    const std::lock_guard lock(mutex);
    waiting.push_back(event);
  }
};

class FakeSource final : public EventSource {
 public:
  explicit FakeSource(FakeKernel& kernel) : kernel_(kernel) {}
  void set_enabled(bool enabled) override { kernel_.enabled = enabled; }
  void skip_this_thread() override {}
  void adopt(std::uint32_t, bool) override {}
  void forget(std::uint32_t process) override { kernel_.forgotten.push_back(process); }
  void read(std::vector<WireEvent>& events) override {
    const std::lock_guard lock(kernel_.mutex);
    events.insert(events.end(), kernel_.waiting.begin(), kernel_.waiting.end());
    kernel_.waiting.clear();
  }
  [[nodiscard]] std::vector<std::uint64_t> stack(std::int32_t) const override { return {}; }
  [[nodiscard]] SourceCounts counts() const override { return kernel_.counts; }
  [[nodiscard]] const std::vector<Attachment>& attachments() const override { return kernel_.attachments; }

 private:
  FakeKernel& kernel_;
};

struct WatchTest : ::testing::Test {
  FakeKernel kernel;
  trace::MemorySink sink;
  std::unique_ptr<SchedulerWatch> watch =
      make_watch(std::make_unique<FakeSource>(kernel), WatchOptions{.root = {"/nowhere"}, .process_id = 100});
  [[nodiscard]] const std::vector<trace::SchedEventRow>& rows() const { return sink.rows<trace::SchedEventRow>(); }
};

TEST_F(WatchTest, RecordsBetweenResumeAndPauseOnly) {
  EXPECT_FALSE(kernel.enabled);
  const std::int64_t before = core::monotonic_ns();
  kernel.put(wire_fault, before - 1, 7);
  watch->resume();
  EXPECT_TRUE(kernel.enabled);
  kernel.put(wire_fault, core::monotonic_ns(), 7);
  watch->pause();
  EXPECT_FALSE(kernel.enabled);
  kernel.put(wire_fault, core::monotonic_ns() + 1, 7);
  watch->finish(sink);
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(sink.text(rows()[0].kind), "page_fault");
  const trace::Account account = watch->account();
  EXPECT_EQ(account.read, 3);
  EXPECT_EQ(account.kept, 1);
  EXPECT_EQ(account.dropped_total(), 2);
  EXPECT_EQ(account.state, trace::Account::State::ok);
}

TEST_F(WatchTest, SortsEventsOfSeveralRings) {
  watch->resume();
  const std::int64_t now = core::monotonic_ns();
  kernel.put(wire_wakeup, now + 20, 7);  // of the other CPU's ring
  kernel.put(wire_wakeup, now + 10, 7, wire_state_new);
  while (core::monotonic_ns() < now + 1000) {
  }
  watch->pause();
  watch->finish(sink);
  ASSERT_EQ(rows().size(), 1U);  // woken again while it waits
  EXPECT_EQ(rows()[0].time_ns, now + 10);
  EXPECT_EQ(sink.text(rows()[0].detail), "new");
}

TEST_F(WatchTest, LossesAreCountedByKind) {
  kernel.counts.total.lost[wire_switch] = 5;
  kernel.counts.total.untracked = 2;
  watch->finish(sink);
  const trace::Account account = watch->account();
  EXPECT_EQ(account.dropped.at("kernel ring buffer full"), 5);
  EXPECT_EQ(account.state, trace::Account::State::partial);
  EXPECT_THAT(account.notes, Contains(HasSubstr("5 lost events of kind switch")));
  EXPECT_THAT(account.notes, Contains(HasSubstr("2 processes, threads or requests")));
}

TEST_F(WatchTest, ReportsUntracedEvents) {
  kernel.attachments.push_back({"block I/O", "", "tp_btf: no such event"});
  watch->finish(sink);
  EXPECT_EQ(watch->account().state, trace::Account::State::partial);
  EXPECT_THAT(watch->account().notes, Contains("block I/O is not traced: tp_btf: no such event"));
  EXPECT_THAT(watch->account().notes, Contains("switch by tp_btf"));
}

TEST_F(WatchTest, EndedProcessLeavesTheTreeAfterTwoDrains) {
  watch->resume();
  kernel.put(wire_exit, core::monotonic_ns(), 7, wire_state_group_dead);
  watch->pause();
  watch->drain(sink);
  EXPECT_TRUE(kernel.forgotten.empty());
  const std::int64_t drained = core::monotonic_ns();
  while (kernel.forgotten.empty() && core::monotonic_ns() < drained + 10'000'000'000) watch->drain(sink);
  EXPECT_EQ(kernel.forgotten, std::vector<std::uint32_t>{100});
}

TEST_F(WatchTest, FinishIsIdempotent) {
  watch->resume();
  kernel.put(wire_fault, core::monotonic_ns(), 7);
  watch->finish(sink);
  watch->finish(sink);
  watch->resume();
  EXPECT_EQ(rows().size(), 1U);
}

}  // namespace
}  // namespace aaco::collectors::ebpf
