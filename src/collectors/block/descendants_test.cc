#include "collectors/block/descendants.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "collectors/block_account.h"
#include "core/clock.h"
#include "core/files.h"
#include "tests/support/fake_machine.h"

namespace aaco::collectors {
namespace {

class Descendants : public ::testing::Test {
 protected:
  // User, system, and both of children it waited for: `ticks` each.
  void process(int id, int session, int ticks, const std::string& children = "") const {
    const std::string folder = "/proc/" + std::to_string(id);
    const std::string time = std::to_string(ticks);
    machine_.write(folder + "/stat", std::to_string(id) + " (a) R 1 1 " + std::to_string(session) + " 0 -1 0 0 0 0 0 " + time +
                                         " " + time + " " + time + " " + time + " 20 0 1 0 100 0 50 0 0\n");
    machine_.write(folder + "/task/" + std::to_string(id) + "/children", children);
  }
  [[nodiscard]] std::int64_t ticks() const { return descendants_cpu_ns({machine_.root()}, 1) / 10'000'000; }
  testing::FakeMachine machine_;
};

TEST_F(Descendants, AreCountedWithWhatTheyWaitedFor) {
  process(1, 1, 100, "2 3");
  process(2, 1, 1, "4");
  process(3, 1, 10);
  process(4, 1, 1000);
  EXPECT_EQ(ticks(), 4 * 1011);
}
TEST_F(Descendants, AProcessWithoutChildrenHasNone) {
  process(1, 1, 100);
  EXPECT_EQ(ticks(), 0);
}
TEST_F(Descendants, ADetachedSessionIsAnotherProcess) {
  process(1, 1, 100, "2 3");
  process(2, 2, 1, "4");
  process(3, 1, 10);
  process(4, 2, 1000);
  EXPECT_EQ(ticks(), 4 * 10);
}
TEST_F(Descendants, ChildrenOfEveryThreadAreFound) {
  process(1, 1, 100);
  process(2, 1, 1);
  machine_.write("/proc/1/task/9/children", "2 ");
  EXPECT_EQ(ticks(), 4);
}
TEST_F(Descendants, EndedAndUnreadableChildrenCountNothing) {
  process(1, 1, 100, "2 3 x");
  process(3, 1, 1);
  machine_.write("/proc/3/stat", "3 (cut");
  EXPECT_EQ(ticks(), 0);
  EXPECT_EQ(descendants_cpu_ns({machine_.root()}, 77), 0);
}
TEST_F(Descendants, EachIsCountedOnce) {
  process(1, 1, 0, "2 2");
  process(2, 1, 1, "2");
  EXPECT_EQ(ticks(), 4);
}

void spin_until(std::int64_t deadline_ns) {
  while (core::monotonic_ns() < deadline_ns) {
  }
}

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Two threads and a child of the measured process compute: none of it is the CPU time of other processes.
TEST(BlockAccountOfThisProcess, CountsItsThreadsAndChildren) {
  if (!core::exists("/proc/self/task/" + std::to_string(::gettid()) + "/children"))
    GTEST_SKIP() << "skipped, the kernel does not list children";
  const auto account = BlockAccount::open({}, ::getpid(), ::gettid());
  const std::int64_t begin = core::monotonic_ns(), before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  account->begin();
  const pid_t child = ::fork();
  if (child == 0) {
    spin_until(begin + 2'000'000'000);
    ::_exit(0);
  }
  std::thread one(spin_until, begin + 300'000'000), other(spin_until, begin + 300'000'000);
  one.join();
  other.join();
  clockid_t of_child{};
  ASSERT_EQ(::clock_getcpuclockid(child, &of_child), 0);
  const std::int64_t least = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before + clock_ns(of_child);
  trace::LoopBlockRow row;
  account->end(row);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(row.process_cpu_ns);
  constexpr std::int64_t kTicks = 30'000'000;  // what a child has beyond whole ticks
  EXPECT_GE(*row.process_cpu_ns, least - kTicks);
}

}  // namespace
}  // namespace aaco::collectors
