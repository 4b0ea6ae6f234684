#include "hardware/usable_cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "hardware/thread_cpus.h"
#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

UsableCpus machine(std::vector<int> allowed, std::optional<double> quota = {}) { return {std::move(allowed), quota, 4}; }

TEST(UsableCpus, NothingIsNarrowedOnTheWholeMachine) {
  EXPECT_EQ(machine({0, 1, 2, 3}).pool_threads(), 0);
  EXPECT_EQ(machine({0, 1, 2, 3}, 4.0).pool_threads(), 0);
  EXPECT_TRUE(machine({0, 1, 2, 3}).pool_cpus().empty());
}

TEST(UsableCpus, MaskSizesAndPinsThePool) {
  EXPECT_EQ(machine({0}).pool_threads(), 1);
  EXPECT_EQ(machine({1, 3}).pool_threads(), 2);
  EXPECT_EQ(machine({1, 3}).pool_cpus(), (std::vector<int>{1, 3}));
}

TEST(UsableCpus, QuotaSizesThePoolAndPinsNothing) {
  EXPECT_EQ(machine({0, 1, 2, 3}, 1.5).pool_threads(), 2);
  EXPECT_EQ(machine({0, 1, 2, 3}, 0.1).pool_threads(), 1);
  EXPECT_EQ(machine({1, 2, 3}, 1.0).pool_threads(), 1);
  EXPECT_TRUE(machine({1, 2, 3}, 1.0).pool_cpus().empty());
}

TEST(UsableCpus, UnknownMasksNarrowNothing) {
  EXPECT_EQ(machine({}).pool_threads(), 0);
  EXPECT_EQ(UsableCpus({{0}, std::nullopt, 0}).pool_threads(), 0);
  EXPECT_EQ(machine({}).allowed_list(), "");
}

TEST(UsableCpus, ListIsTheKernels) { EXPECT_EQ(machine({0, 1, 2, 5, 7, 8}).allowed_list(), "0-2,5,7-8"); }

TEST(UsableCpus, ThreadsHaveTheirMasksTogether) {
  testing::FakeMachine machine;
  machine.write("/proc/42/task/42/status", "Cpus_allowed_list:\t0\n");
  machine.write("/proc/42/task/43/status", "Name:\ta\nCpus_allowed_list:\t2-3\n");
  EXPECT_EQ(cpus_of_threads(machine.root(), "42"), (std::set<std::int64_t>{0, 2, 3}));
  machine.write("/proc/42/task/43/status", "Cpus_allowed_list:\tall\n");
  EXPECT_EQ(cpus_of_threads(machine.root(), "42"), (std::set<std::int64_t>{0}));
  EXPECT_TRUE(cpus_of_threads(machine.root(), "43").empty());
}

TEST(UsableCpus, ReadsTheMaskOfThisThread) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const auto all = usable_cpus();
  ASSERT_FALSE(all.allowed.empty());
  CPU_ZERO(&one);
  CPU_SET(all.allowed.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus().allowed, std::vector<int>{all.allowed.back()});
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace aaco::hardware
