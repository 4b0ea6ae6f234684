#include "laboratory/faults.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "core/clock.h"
#include "core/cpu_set.h"
#include "tests/support/fake_machine.h"

namespace aaco::laboratory::faults {
namespace {

Fault fault_of(std::string_view name, double intensity = 0.5, std::string_view generator = "") {
  return *make_fault(name, intensity, generator);
}

TEST(Catalogue, EveryFaultHasCauseAndGenerator) {
  std::set<std::string> ids;
  for (const FaultKind& kind : fault_kinds()) {
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_FALSE(kind.cause.empty());
    EXPECT_FALSE(kind.generators.empty());
    EXPECT_TRUE(make_fault(kind.id, 1, kind.generators.back())) << kind.id;
  }
}

TEST(Catalogue, RefusesUnknownFaults) {
  EXPECT_NE(make_fault("cpu_hog_same_cor", 0.5, "").error().remedy.find("cpu_hog_same_core"), std::string::npos);
  for (const double intensity : {0.0, -1.0, 1.01, std::nan("")}) EXPECT_FALSE(make_fault("sleep", intensity, "")) << intensity;
  EXPECT_FALSE(make_fault("sleep", 0.5, "spin"));
  EXPECT_EQ(make_fault("", 0.5, "").error().code, core::ErrorCode::invalid_argument);
}

TEST(Catalogue, RecordsFaultInTheSession) {
  const core::Json told = to_json(fault_of("cpu_quota", 0.25));
  EXPECT_EQ(told["cause"].text(), "cpu_throttling");
  EXPECT_EQ(told["intensity_ratio"].as_f64(), 0.25);
  EXPECT_EQ(told["generator"].text(), "cgroup");
}

class InjectTest : public ::testing::Test {
 protected:
  [[nodiscard]] FaultWorld world() const { return {"/", machine_.root() + "/journal"}; }
  testing::FakeMachine machine_;
};

TEST_F(InjectTest, AffinityIsNarrowedAndRestored) {
  const auto before = core::allowed_cpus();
  if (before.size() < 2) GTEST_SKIP() << "skipped, this process has one CPU";
  {
    const auto injection = inject(fault_of("affinity_one_core"), world());
    ASSERT_TRUE(injection) << injection.error().text();
    EXPECT_EQ(core::allowed_cpus().size(), 1U);
  }
  EXPECT_EQ(core::allowed_cpus(), before);
}

// A runtime may choose CPUs for threads that it starts later.
TEST_F(InjectTest, RestrictsLaterThreadsToo) {
  const auto before = core::allowed_cpus();
  if (before.size() < 2) GTEST_SKIP() << "skipped, this process has one CPU";
  const auto injection = inject(fault_of("affinity_one_core"), world());
  ASSERT_TRUE(injection) << injection.error().text();
  std::size_t held = 0;
  std::thread([&] {
    core::pin_to(before);
    for (int i = 0; i < 1000 && held != 1; ++i) {
      core::SystemClock().sleep_until(core::monotonic_ns() + 5'000'000);
      held = core::allowed_cpus().size();
    }
  }).join();
  EXPECT_EQ(held, 1U);
}

TEST_F(InjectTest, CpusetUnsupportedWithoutCgroups) {
  if (core::allowed_cpus().size() < 2) GTEST_SKIP() << "skipped, this process has one CPU";
  machine_.write("/proc/self/cgroup", "0::/\n");
  machine_.write("/proc/self/mountinfo", "1 1 0:1 / / rw - ext4 x rw\n");
  const FaultWorld bare{machine_.root(), machine_.root() + "/journal"};
  EXPECT_EQ(inject(fault_of("affinity_one_core", 1, "cpuset"), bare).error().code, core::ErrorCode::unsupported);
}

TEST_F(InjectTest, NeighboursEndWithTheirOwner) {
  {
    const auto injection = inject(fault_of("cpu_hog_same_core", 0.1), world());
    ASSERT_TRUE(injection);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), 0);  // a child lives
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// A process that is killed takes its neighbours along: they hold the pipe's other end.
TEST_F(InjectTest, NeighboursDieWithKilledOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    const auto injection = inject(fault_of("cpu_hog_same_core", 0.1), world());
    const char byte = 1;
    if (!injection || ::write(ends[1], &byte, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // ends only when the last holder is gone
  ::close(ends[0]);
}

TEST_F(InjectTest, AddsRequestedLoadToEveryCall) {
  for (const char* name : {"sleep", "slow_host", "page_fault_storm"}) {
    const auto injection = inject(fault_of(name, 1), world());
    ASSERT_TRUE(injection) << name;
    for (int call = 0; call < 8; ++call) {
      (*injection)->before_call();
      core::SystemClock().sleep_until(core::monotonic_ns() + 200'000);
    }
    const std::int64_t begin = core::monotonic_ns();
    (*injection)->before_call();
    EXPECT_GE(core::monotonic_ns() - begin, 190'000) << name;
  }
}

TEST_F(InjectTest, IgnoresRequestFaults) {
  const auto injection = inject(fault_of("fewer_threads"), world());
  ASSERT_TRUE(injection);
  (*injection)->before_call();
}

TEST_F(InjectTest, QuotaUnsupportedWithoutCgroups) {
  machine_.write("/proc/self/cgroup", "0::/\n");
  machine_.write("/proc/self/mountinfo", "1 1 0:1 / / rw - ext4 x rw\n");
  const FaultWorld bare{machine_.root(), machine_.root() + "/journal"};
  EXPECT_EQ(inject(fault_of("cpu_quota"), bare).error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(inject(fault_of("memory_limit"), bare).error().code, core::ErrorCode::unsupported);
}

// What the journal itself does is tested beside it (laboratory/undo).
TEST_F(InjectTest, QuotaIsRemovedByOwnerOrNextRun) {
  machine_.write("/proc/self/cgroup", "0::/\n");
  machine_.write("/proc/self/mountinfo", "33 31 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  machine_.write("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
  const FaultWorld fake{machine_.root(), machine_.root() + "/journal"};
  const std::string group = machine_.root() + "/sys/fs/cgroup/aaco-fault-" + std::to_string(::getpid());
  // No kernel makes the limit's file here, so the group cannot be set up, and it goes again.
  EXPECT_EQ(inject(fault_of("cpu_quota"), fake).error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(std::filesystem::exists(group));
  EXPECT_EQ(clean_up(fake).value(), 0);
}

TEST_F(InjectTest, ReportsWhatCleanupCannotRemove) {
  const std::string group = machine_.root() + "/sys/fs/cgroup/aaco-fault-7";
  std::string boot = *core::read_file("/proc/sys/kernel/random/boot_id");
  boot.pop_back();
  machine_.write("/sys/fs/cgroup/aaco-fault-7/inside", "x");
  machine_.write("/journal/7-a.journal", "{\"process_id\": 2147483000, \"start_ticks\": 5, \"boot_id\": \"" + boot +
                                             "\"}\n{\"group\": \"" + group + "\", \"home\": \"" + machine_.root() +
                                             "/sys/fs/cgroup\"}\n");
  const FaultWorld fake{machine_.root(), machine_.root() + "/journal"};
  EXPECT_FALSE(clean_up(fake));
  machine_.remove("/sys/fs/cgroup/aaco-fault-7/inside");
  EXPECT_EQ(clean_up(fake).value(), 1);
  EXPECT_FALSE(std::filesystem::exists(group));
}

}  // namespace
}  // namespace aaco::laboratory::faults
