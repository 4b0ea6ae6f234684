#include "workflows/run/memory_limit.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/fake_machine.h"

namespace aaco::workflows {
namespace {

using aaco::testing::FakeMachine;

std::optional<double> value(MemoryLimit& limit, std::string_view id) {
  trace::Metrics metrics;
  limit.account(metrics);
  const auto* found = find_metric(metrics, id);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

// A process in the group "job" of a version 2 tree, below a group with a limit of 64 MiB.
struct Version2 {
  FakeMachine machine;
  Version2() {
    machine.write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    machine.write("/proc/7/cgroup", "0::/outer/job\n");
    for (const char* group : {"/outer/job", "/other"}) machine.write(file(group, "memory.current"), "1000\n");
    machine.write(file("/outer", "memory.max"), "67108864\n");
    machine.write(file("/outer/job", "memory.max"), "max\n");
    events("/outer", 100, 5);
    events("/outer/job", 1, 2);
  }
  static std::string file(const std::string& group, const std::string& name) { return "/sys/fs/cgroup" + group + "/" + name; }
  void events(const std::string& group, int hits, int kills) const {
    machine.write(file(group, "memory.events"), "low 0\nhigh 0\nmax " + std::to_string(hits) + "\noom 9\noom_kill " +
                                                    std::to_string(kills) + "\noom_group_kill 0\n");
  }
};

TEST(MemoryLimit, CountsWhatTheGroupsOfVersion2Did) {
  const Version2 tree;
  MemoryLimit limit(tree.machine.root(), 7);
  tree.events("/outer", 140, 8);
  tree.events("/outer/job", 1, 3);
  EXPECT_EQ(value(limit, "cgroup.memory_limit_bytes"), 67108864);
  EXPECT_EQ(value(limit, "cgroup.memory_limit_hits"), 40) << "in the group that has the limit";
  EXPECT_EQ(value(limit, "cgroup.oom_kills"), 1) << "in the group of the process";
}

TEST(MemoryLimit, CountsWhatTheGroupsOfVersion1Did) {
  const FakeMachine machine("xeon_powersave");
  const auto counts = [&](int hits, int kills) {
    machine.write("/sys/fs/cgroup/memory/job/memory.failcnt", std::to_string(hits) + "\n");
    machine.write("/sys/fs/cgroup/memory/job/memory.oom_control",
                  "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills) + "\n");
  };
  machine.write("/proc/7/cgroup", "5:memory:/job\n");
  counts(3, 0);
  MemoryLimit limit(machine.root(), 7);
  counts(13, 1);
  EXPECT_EQ(value(limit, "cgroup.memory_limit_bytes"), 4294967296);
  EXPECT_EQ(value(limit, "cgroup.memory_limit_hits"), 10);
  EXPECT_EQ(value(limit, "cgroup.oom_kills"), 1);
}

TEST(MemoryLimit, FollowsAProcessAndKeepsWhatAGroupCounted) {
  const Version2 tree;
  tree.machine.write(Version2::file("/other", "memory.max"), "1048576\n");
  tree.events("/other", 1000, 70);
  MemoryLimit limit(tree.machine.root(), 7);
  tree.events("/outer", 104, 5);
  tree.machine.write("/proc/7/cgroup", "0::/other\n");
  limit.look();
  tree.events("/other", 1001, 71);
  limit.look();
  tree.machine.remove("/proc/7");  // it ended, and its group was removed
  tree.machine.remove("/sys/fs/cgroup/other");
  EXPECT_EQ(value(limit, "cgroup.memory_limit_hits"), 5);
  EXPECT_EQ(value(limit, "cgroup.oom_kills"), 1);
  EXPECT_EQ(value(limit, "cgroup.memory_limit_bytes"), 1048576);
}

TEST(MemoryLimit, WithoutGroupsNothingIsSaid) {
  const FakeMachine machine;
  MemoryLimit limit(machine.root(), 7);
  trace::Metrics metrics;
  limit.account(metrics);
  EXPECT_TRUE(metrics.empty());
}

}  // namespace
}  // namespace aaco::workflows
