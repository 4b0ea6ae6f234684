// What the kernel itself does: needs root (or CAP_BPF and CAP_PERFMON), and skips with the kernel's reason without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "collectors/scheduler_watch.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::collectors::ebpf {
namespace {

using ::testing::HasSubstr;

WatchOptions own(std::vector<std::string> ways) {
  WatchOptions options;
  options.process_id = ::getpid();
  options.ways = std::move(ways);
  return options;
}

#define OPEN_OR_SKIP(watch, options)                                                       \
  auto watch##_result = SchedulerWatch::open(options);                                     \
  if (!watch##_result) GTEST_SKIP() << "no eBPF here: " << watch##_result.error().message; \
  SchedulerWatch& watch = **watch##_result

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof(set), &set);
}

void spin_for(std::int64_t ns) {
  const std::int64_t end = core::monotonic_ns() + ns;
  while (core::monotonic_ns() < end) {
  }
}

struct Times {
  std::int64_t run_ns = 0, wait_ns = 0;
  std::int64_t time_ns = 0, taken_ns = 0;  // when they were read, and how long that took
};

// Of the calling thread, by the scheduler's own account, which asking for the thread's clock brings up to date. Read again where
// something came between the reading and the look at the clock.
std::optional<Times> sched_stat() {
  constexpr int kAttempts = 100;
  constexpr std::int64_t kUndisturbedNs = 200'000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::int64_t begin = core::monotonic_ns();
    timespec unused{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &unused);
    const auto text = core::read_file("/proc/thread-self/schedstat", 256);
    const std::int64_t end = core::monotonic_ns();
    if (!text) return std::nullopt;
    if (end - begin > kUndisturbedNs) continue;
    const auto words = core::split(core::trim(*text), ' ');
    if (words.size() < 2) return std::nullopt;
    const auto run = core::parse_i64(words[0]), wait = core::parse_i64(words[1]);
    if (!run || !wait) return std::nullopt;
    return Times{*run, *wait, end, end - begin};
  }
  return std::nullopt;
}

std::map<std::string, std::int64_t> counts_of(const trace::MemorySink& sink) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : sink.rows<trace::SchedEventRow>()) ++counts[std::string(sink.text(row.kind))];
  return counts;
}

// Sleeps, faults, competes for a CPU and starts a child.
void live_a_little() {
  std::thread sleeper([] {
    pin(0);
    for (int i = 0; i < 5; ++i) ::usleep(500);
  });
  std::thread rival([] {
    pin(0);
    spin_for(30'000'000);
  });
  sleeper.join();
  rival.join();
  constexpr std::size_t kBytes = 64 * 4096;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (std::size_t i = 0; i < kBytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
  ::munmap(memory, kBytes);
  if (const pid_t child = ::fork(); child == 0) {
    ::usleep(1000);
    ::_exit(0);
  } else {
    (void)::waitpid(child, nullptr, 0);
  }
}

class EveryWay : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryWay, TracesOnlyTheProcessTree) {
  OPEN_OR_SKIP(watch, own({GetParam()}));
  for (const Attachment& attached : watch.attachments()) {
    if (attached.way.empty()) continue;
    EXPECT_EQ(attached.way, GetParam()) << attached.event;
  }
  trace::MemorySink sink;
  watch.resume();
  live_a_little();
  watch.pause();
  watch.finish(sink);
  const auto counts = counts_of(sink);
  for (const char* kind : {"run", "run_queue", "off_cpu"}) EXPECT_TRUE(counts.contains(kind)) << kind;
  std::int64_t others = 0, children = 0;
  for (const auto& row : sink.rows<trace::SchedEventRow>()) {
    EXPECT_GT(row.thread_id, 0);
    EXPECT_GE(row.duration_ns, 0);
    if (row.process_id != ::getpid()) ++children;
    if (sink.text(row.thread_name) == "aaco-ebpf") ++others;
  }
  EXPECT_GT(children, 0);
  EXPECT_EQ(others, 0) << "the reader itself is not watched";
  EXPECT_EQ(watch.account().dropped.count("kernel ring buffer full"), 0U);
}
INSTANTIATE_TEST_SUITE_P(Ways, EveryWay, ::testing::Values("tp_btf", "raw_tp", "tracepoint"));

TEST(KernelSource, FaultsOfThisProcessAreRows) {
  OPEN_OR_SKIP(watch, own({"tp_btf", "raw_tp", "tracepoint"}));
  trace::MemorySink sink;
  watch.resume();
  live_a_little();
  watch.finish(sink);
  for (const Attachment& attached : watch.attachments())
    if (attached.event == "page fault" && attached.way.empty()) GTEST_SKIP() << attached.reason;
  EXPECT_GE(counts_of(sink)["page_fault"], 64);
}

TEST(KernelSource, NothingIsRecordedWhilePaused) {
  OPEN_OR_SKIP(watch, own({"tp_btf", "raw_tp", "tracepoint"}));
  trace::MemorySink sink;
  live_a_little();
  watch.finish(sink);
  EXPECT_TRUE(sink.rows<trace::SchedEventRow>().empty());
}

TEST(KernelSource, TracesOnlyNewChildren) {
  WatchOptions options = own({"tp_btf", "raw_tp", "tracepoint"});
  options.with_itself = false;
  OPEN_OR_SKIP(watch, options);
  trace::MemorySink sink;
  watch.resume();
  live_a_little();
  watch.stop_adopting();
  const std::size_t before = [&] {
    watch.pause();
    return sink.rows<trace::SchedEventRow>().size();
  }();
  EXPECT_EQ(before, 0U);
  watch.resume();
  live_a_little();  // its child is not adopted any more
  watch.finish(sink);
  std::map<std::int64_t, std::int64_t> processes;
  for (const auto& row : sink.rows<trace::SchedEventRow>()) ++processes[row.process_id];
  EXPECT_EQ(processes.count(::getpid()), 0U);
  EXPECT_EQ(processes.size(), 1U);
}

TEST(KernelSource, RefusesUnknownAttachMethod) {
  const auto refused = SchedulerWatch::open(own({"telepathy"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(refused.error().remedy.empty());
}

TEST(KernelSource, FallsBackToWorkingAttachMethod) {
  OPEN_OR_SKIP(watch, own({"telepathy", "raw_tp"}));
  for (const Attachment& attached : watch.attachments()) {
    if (attached.way.empty()) continue;
    EXPECT_EQ(attached.way, "raw_tp");
    EXPECT_THAT(attached.reason, HasSubstr("telepathy: unknown attach method"));
  }
}

// Four threads compete for one CPU, one of them sleeps now and then: what the rows add up to is what the scheduler itself
// accounts.
TEST(KernelSource, RunAndQueueTimesMatchSchedstat) {
  OPEN_OR_SKIP(watch, own({"tp_btf", "raw_tp", "tracepoint"}));
  if (!sched_stat()) GTEST_SKIP() << "this kernel has no /proc/PID/task/TID/schedstat";
  constexpr std::size_t kThreads = 4;
  struct Worker {
    std::int64_t id = 0;
    std::optional<Times> before, after;
  };
  std::array<Worker, kThreads> workers;
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      pin(0);
      workers.at(i).id = ::gettid();
      ++ready;
      while (!go.load()) ::usleep(1000);
      workers.at(i).before = sched_stat();
      const std::int64_t end = core::monotonic_ns() + 1'500'000'000;
      while (core::monotonic_ns() < end) {
        spin_for(2'000'000);
        if (i == 0) ::usleep(300);
      }
      workers.at(i).after = sched_stat();
    });
  while (ready.load() < kThreads) ::usleep(1000);
  trace::MemorySink sink;
  watch.resume();
  go = true;
  for (std::thread& thread : threads) thread.join();
  watch.finish(sink);
  for (const Worker& worker : workers) {
    if (!worker.before || !worker.after) GTEST_SKIP() << "the machine is too busy to read the scheduler's account undisturbed";
    Times seen;
    std::int64_t off_ns = 0;
    for (const auto& row : sink.rows<trace::SchedEventRow>()) {
      if (row.thread_id != worker.id) continue;
      const std::int64_t inside =
          std::min(row.time_ns + row.duration_ns, worker.after->time_ns) - std::max(row.time_ns, worker.before->time_ns);
      if (inside <= 0) continue;
      if (sink.text(row.kind) == "run") seen.run_ns += inside;
      if (sink.text(row.kind) == "run_queue") seen.wait_ns += inside;
      if (sink.text(row.kind) == "off_cpu") off_ns += inside;
    }
    const double run = static_cast<double>(worker.after->run_ns - worker.before->run_ns);
    const double wait = static_cast<double>(worker.after->wait_ns - worker.before->wait_ns);
    const std::string number = std::to_string(&worker - workers.data());
    RecordProperty("run_error_" + number, std::to_string(static_cast<double>(seen.run_ns) / run - 1));
    RecordProperty("wait_error_" + number, std::to_string(static_cast<double>(seen.wait_ns) / wait - 1));
    EXPECT_NEAR(static_cast<double>(seen.wait_ns), wait, 0.01 * wait) << number;
    // A row is wall time, of which the scheduler leaves out what the hypervisor took: what is missing in its account.
    const double stolen = static_cast<double>(worker.after->time_ns - worker.before->time_ns - off_ns) - run - wait;
    EXPECT_GE(static_cast<double>(seen.run_ns), 0.99 * run) << number;
    EXPECT_LE(static_cast<double>(seen.run_ns), 1.01 * run + std::max(0.0, stolen)) << number;
  }
}

}  // namespace
}  // namespace aaco::collectors::ebpf
