#include "collectors/block_account.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/fake_machine.h"

namespace aaco::collectors {
namespace {

constexpr const char* kStat =
    "42 (a (b) c) R 1 1 1 0 -1 0 %FAULTS% 0 %MAJOR% 0 10 %SYSTEM% 0 0 20 0 2 0 100 0 50 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
    "0 0 0 0\n";

std::string stat_text(int minor, int major, int system) {
  std::string text = kStat;
  const auto put = [&](const char* key, int value) {
    text.replace(text.find(key), std::string(key).size(), std::to_string(value));
  };
  put("%FAULTS%", minor);
  put("%MAJOR%", major);
  put("%SYSTEM%", system);
  return text;
}

class BlockAccountTest : public ::testing::Test {
 protected:
  void write(int step) const {
    machine_.write("/proc/42/stat", stat_text(100 + step * 7, step, 3 + step));
    machine_.write("/proc/42/io", "rchar: 1\nread_bytes: " + std::to_string(step * 4096) + "\nwrite_bytes: 512\n");
    machine_.write("/proc/42/task/42/schedstat", std::to_string(1000 + step * 500) + " " + std::to_string(step * 40) + " 3\n");
    machine_.write("/proc/42/task/42/sched",
                   "a (42, #threads: 2)\nse.nr_migrations        :       " + std::to_string(step) + "\n");
    machine_.write("/proc/42/task/42/status", "Name:\ta\nCpus_allowed_list:\t1\n");
    machine_.write("/proc/42/task/43/schedstat", std::to_string(step * 300) + " " + std::to_string(step * 10) + " 3\n");
    machine_.write("/proc/stat", "cpu  " + std::to_string(100 + step * 5) + " 0 0 1000 " + std::to_string(step) + " 0 0 " +
                                     std::to_string(step * 2) + " 0 0\ncpu0 " + std::to_string(60 + step) +
                                     " 0 0 500 0 0 0 0 0 0\ncpu1 " + std::to_string(40 + step * 4) +
                                     " 0 0 500 0 0 0 0 0 0\nintr " + std::to_string(1000 + step) + " 1 2\nctxt 5\nsoftirq " +
                                     std::to_string(7 + step * 3) + " 1\n");
    for (const char* resource : {"cpu", "memory", "io"})
      machine_.write(std::string("/proc/pressure/") + resource,
                     "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(100 + step * 20) +
                         "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(10 + step * 2) + "\n");
    machine_.write("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", std::to_string(4 + step) + "\n");
    machine_.write("/proc/42/task/42/stat",
                   "42 (a) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0\n");
    machine_.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", std::to_string(2'000'000 + step) + "\n");
  }
  trace::LoopBlockRow measure() const {
    const auto account = BlockAccount::open({machine_.root()}, 42, 42);
    account->begin();
    write(1);
    trace::LoopBlockRow row;
    account->end(row);
    return row;
  }
  testing::FakeMachine machine_;
};

TEST_F(BlockAccountTest, ReportsGrowthOfEveryCounter) {
  write(0);
  const auto row = measure();
  EXPECT_EQ(row.caller_cpu_ns, 500);
  EXPECT_EQ(row.caller_wait_ns, 40);
  EXPECT_EQ(row.process_wait_ns, 50);
  EXPECT_EQ(row.migrations, 1);
  EXPECT_EQ(row.minor_faults, 7);
  EXPECT_EQ(row.major_faults, 1);
  EXPECT_EQ(row.process_system_ns, 10'000'000);
  EXPECT_EQ(row.storage_bytes, 4096);
  EXPECT_EQ(row.machine_busy_ns, 50'000'000);
  EXPECT_EQ(row.allowed_busy_ns, 40'000'000);
  EXPECT_EQ(row.steal_ns, 20'000'000);
  EXPECT_EQ(row.iowait_ns, 10'000'000);
  EXPECT_EQ(row.interrupts, 1);
  EXPECT_EQ(row.softirqs, 3);
  EXPECT_EQ(row.cpu_some_ns, 20'000);
  EXPECT_EQ(row.memory_some_ns, 20'000);
  EXPECT_EQ(row.memory_full_ns, 2'000);
  EXPECT_EQ(row.io_some_ns, 20'000);
  EXPECT_EQ(row.io_full_ns, 2'000);
  EXPECT_EQ(row.thermal_throttles, 1);
  EXPECT_EQ(row.caller_clock_hz, 2'000'001'000);
  EXPECT_FALSE(row.throttled_ns);
}

TEST_F(BlockAccountTest, AllowedCpuThatIsNotListedIsNotMeasured) {
  write(0);
  machine_.write("/proc/42/task/43/status", "Cpus_allowed_list:\t1-2\n");
  EXPECT_FALSE(measure().allowed_busy_ns);
  EXPECT_EQ(measure().machine_busy_ns, 0);
}

TEST_F(BlockAccountTest, UnavailableCountersStayEmpty) {
  const auto account = BlockAccount::open({machine_.root()}, 42, 42);
  account->begin();
  trace::LoopBlockRow row;
  account->end(row);
  EXPECT_EQ(row, trace::LoopBlockRow{});
}

TEST(OwnBlockAccount, HasTheCallersTimeUpToTheLastInstruction) {
  const auto account = BlockAccount::open({}, ::getpid(), ::gettid());
  for (int block = 0; block < 20; ++block) {  // each far shorter than a tick
    const auto thread_ns = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    const std::int64_t outside = thread_ns();
    account->begin();
    const std::int64_t begin = thread_ns();
    while (thread_ns() - begin < 300'000) {
    }
    const std::int64_t inside = thread_ns() - begin;
    trace::LoopBlockRow row;
    account->end(row);
    ASSERT_TRUE(row.caller_cpu_ns);
    EXPECT_GE(*row.caller_cpu_ns, inside);
    EXPECT_LE(*row.caller_cpu_ns, thread_ns() - outside);
  }
}

TEST_F(BlockAccountTest, BackwardCounterIsNotMeasured) {
  write(2);
  const auto row = measure();
  EXPECT_FALSE(row.caller_cpu_ns);
  EXPECT_FALSE(row.minor_faults);
  EXPECT_FALSE(row.storage_bytes);
  EXPECT_FALSE(row.machine_busy_ns);
}

TEST_F(BlockAccountTest, ThreadStartedWithinBlockCountsFully) {
  write(0);
  machine_.remove("/proc/42/task/43");
  EXPECT_EQ(measure().process_wait_ns, 50);
}

TEST_F(BlockAccountTest, InvalidTextIsNotMeasured) {
  write(0);
  machine_.write("/proc/42/stat", "42 (cut");
  const auto account = BlockAccount::open({machine_.root()}, 42, 42);
  account->begin();
  machine_.write("/proc/42/task/42/schedstat", "many\n");
  machine_.write("/proc/stat", "");
  machine_.write("/proc/pressure/io", "some total=");
  machine_.write("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "often");
  machine_.write("/proc/42/task/42/stat", "42 (a) R 1");
  trace::LoopBlockRow row;
  account->end(row);
  EXPECT_FALSE(row.caller_cpu_ns);
  EXPECT_FALSE(row.minor_faults);
  EXPECT_FALSE(row.interrupts);
  EXPECT_FALSE(row.io_some_ns);
  EXPECT_FALSE(row.thermal_throttles);
  EXPECT_FALSE(row.caller_clock_hz);
}

TEST(BlockAccountOfThisProcess, SeesFaultsOfThisProcess) {
  const auto account = BlockAccount::open({}, ::getpid(), ::gettid());
  account->begin();
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < kBytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  trace::LoopBlockRow row;
  account->end(row);
  ::munmap(memory, kBytes);
  ASSERT_TRUE(row.minor_faults);
  EXPECT_GE(*row.minor_faults, 200);
}

}  // namespace
}  // namespace aaco::collectors
