#include "laboratory/capsule.h"

#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "laboratory/capsule/switch.h"
#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::laboratory::capsule {
namespace {

LevelBook shipped() { return *LevelBook::load(AACO_SOURCE_DIR "/data/isolation/levels.yaml"); }

core::Result<LevelBook> book_of(const std::string& text) {
  testing::FakeMachine folder;
  folder.write("levels.yaml", text);
  return LevelBook::load(folder.root() + "/levels.yaml");
}

std::string level_with(const std::string& set) { return "schema: 1\nlevels:\n  - id: a\n    title: t\n    set: {" + set + "}\n"; }

Wanted wanted(const std::vector<std::string>& changes, bool for_child = true) {
  Wanted one = *make_wanted(shipped(), "", changes);
  one.for_child = for_child;
  return one;
}

TEST(Levels, ShippedLevelsExist) {
  const LevelBook book = shipped();
  ASSERT_EQ(book.levels().size(), 3U);
  for (const Level& level : book.levels()) EXPECT_TRUE(make_wanted(book, level.id, {})) << level.id;
  EXPECT_TRUE(make_wanted(book, "none", {})->settings.empty());
}

TEST(Levels, RefusesInvalidBook) {
  EXPECT_TRUE(book_of(level_with("nice: -5")));
  for (const char* set : {"nise: -5", "nice: -50", "nice: [1]", "boost: perhaps", "affinity: 3-1", "memory_limit: 5",
                          "gpu_clocks: manual:x", "governor: ../x", "fifo: 0"})
    EXPECT_FALSE(book_of(level_with(set))) << set;
  for (const char* text :
       {"", "schema: 2\nlevels: []\n", "schema: 1\nlevels: []\n", "schema: 1\nlevels:\n  - id: none\n    title: t\n    set: {}\n",
        "schema: 1\nlevels:\n  - {id: a, title: t, set: {}}\n  - {id: a, title: t, set: {}}\n", "schema: 1\nlevels: {a: b}\n"})
    EXPECT_FALSE(book_of(text)) << text;
}

TEST(WantedIsolation, ChangesALevel) {
  const auto changed = make_wanted(shipped(), "strict", {"nice=-5", "boost="});
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->settings.at("nice"), "-5");
  EXPECT_FALSE(changed->settings.contains("boost"));
}

TEST(WantedIsolation, RefusesUnknownSwitches) {
  EXPECT_NE(make_wanted(shipped(), "strickt", {}).error().remedy.find("strict"), std::string::npos);
  EXPECT_NE(make_wanted(shipped(), "", {"nise=1"}).error().remedy.find("nice"), std::string::npos);
  for (const char* change : {"nice", "=1", "nice=", "nice=x", "affinity=", "affinity=no", "cpu_weight=0", "cpuset=off"})
    EXPECT_EQ(make_wanted(shipped(), "", {change}).error().code, core::ErrorCode::invalid_argument) << change;
}

TEST(Cpus, ReadsTheKernelsListFormat) {
  const std::vector<int> four = {0, 1, 2, 3};
  EXPECT_EQ(*cpus_of("1,3", four, "/nonexistent"), (std::vector<int>{1, 3}));
  EXPECT_EQ(*cpus_of("one", four, "/nonexistent"), std::vector<int>{3});
  EXPECT_EQ(*cpus_of("spare", four, "/nonexistent"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(cpus_of("3-4", four, "/nonexistent").error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(cpus_of("spare", {2}, "/nonexistent").error().code, core::ErrorCode::unsupported);
  for (const char* text : {"", "x", "1-", "-1", "3-2", "1,,2", "99999"})
    EXPECT_EQ(cpus_of(text, four, "/nonexistent").error().code, core::ErrorCode::invalid_argument) << text;
}

TEST(Cpus, SparesFirstCoreWithBothThreads) {
  testing::FakeMachine machine;
  machine.write("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n");
  EXPECT_EQ(*cpus_of("spare", {0, 1, 2, 3}, machine.root()), (std::vector<int>{1, 3}));
}

class CapsuleTest : public ::testing::Test {
 protected:
  [[nodiscard]] undo::World world() const { return {machine_.root(), machine_.root() + "/journal"}; }
  [[nodiscard]] std::string text(const std::string& path) const { return *core::read_file(machine_.root() + path); }
  std::unique_ptr<Capsule> enter(const std::vector<std::string>& changes, bool for_child = true) const {
    return *Capsule::enter(wanted(changes, for_child), world());
  }
  testing::FakeMachine machine_;
};

TEST_F(CapsuleTest, SetsAndRestoresMachineClocks) {
  for (const char* cpu : {"0", "1"})
    machine_.write(std::string("/sys/devices/system/cpu/cpu") + cpu + "/cpufreq/scaling_governor", "powersave\n");
  machine_.write("/sys/devices/system/cpu/cpufreq/boost", "1\n");
  machine_.write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  machine_.write("/sys/class/drm/card1/device/power_dpm_force_performance_level", "auto\n");
  machine_.write("/sys/class/drm/card1-DP-1/device/power_dpm_force_performance_level", "auto\n");
  {
    const auto capsule = enter({"governor=performance", "boost=off", "huge_pages=madvise", "gpu_clocks=high"});
    EXPECT_EQ(capsule->set().size(), 4U);
    EXPECT_TRUE(capsule->not_set().empty());
    EXPECT_EQ(text("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"), "performance");
    EXPECT_EQ(text("/sys/devices/system/cpu/cpufreq/boost"), "0");
    EXPECT_EQ(text("/sys/kernel/mm/transparent_hugepage/enabled"), "madvise");
    EXPECT_EQ(text("/sys/class/drm/card1/device/power_dpm_force_performance_level"), "high");
    EXPECT_EQ(text("/sys/class/drm/card1-DP-1/device/power_dpm_force_performance_level"), "auto\n");
    EXPECT_EQ(isolation_text(capsule->set()), "boost=off;governor=performance;gpu_clocks=high;huge_pages=madvise");
  }
  EXPECT_EQ(text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "powersave");
  EXPECT_EQ(text("/sys/devices/system/cpu/cpufreq/boost"), "1");
  EXPECT_EQ(text("/sys/kernel/mm/transparent_hugepage/enabled"), "always");
  EXPECT_EQ(text("/sys/class/drm/card1/device/power_dpm_force_performance_level"), "auto");
}

TEST_F(CapsuleTest, InvertsIntelNoTurbo) {
  machine_.write("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  const auto capsule = enter({"boost=off"});
  EXPECT_EQ(text("/sys/devices/system/cpu/intel_pstate/no_turbo"), "1");
}

TEST_F(CapsuleTest, SelectsManualGpuClockStep) {
  machine_.write("/sys/class/drm/card0/device/power_dpm_force_performance_level", "auto\n");
  machine_.write("/sys/class/drm/card0/device/pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *\n");
  {
    const auto capsule = enter({"gpu_clocks=manual:1"});
    EXPECT_EQ(text("/sys/class/drm/card0/device/power_dpm_force_performance_level"), "manual");
    EXPECT_EQ(text("/sys/class/drm/card0/device/pp_dpm_sclk"), "1");
  }
  EXPECT_EQ(text("/sys/class/drm/card0/device/power_dpm_force_performance_level"), "auto");
  machine_.write("/sys/class/drm/card0/device/power_dpm_force_performance_level", "manual\n");
  EXPECT_EQ(enter({"gpu_clocks=manual:1"})->not_set().size(), 1U);
}

TEST_F(CapsuleTest, ListsUnsupportedSwitchesWithReason) {
  const auto capsule = enter({"governor=performance", "boost=off", "gpu_clocks=high", "idle=shallow", "cpu_weight=500",
                              "cpuset=on", "memory_limit=1GiB", "memory_lock=on"});
  EXPECT_TRUE(capsule->set().empty());
  EXPECT_EQ(capsule->not_set().size(), 8U);
  for (const NotSet& one : capsule->not_set()) EXPECT_FALSE(one.reason.empty()) << one.id;
  EXPECT_EQ(isolation_text(capsule->set()), "");
}

TEST_F(CapsuleTest, JoinsCgroupsOfBothVersions) {
  machine_.write("/proc/self/cgroup", "2:cpuset:/job\n1:cpu,cpuacct:/\n0::/user/shell\n");
  machine_.write("/proc/self/mountinfo",
                 "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu,cpuacct\n34 31 0:31 / /sys/fs/cgroup/set rw - cgroup c "
                 "rw,cpuset\n35 31 0:32 / /sys/fs/cgroup/two rw - cgroup2 c rw\n");
  machine_.write("/sys/fs/cgroup/two/cgroup.controllers", "memory io\n");
  machine_.write("/sys/fs/cgroup/two/user/shell/cgroup.procs", "");
  machine_.write("/sys/fs/cgroup/two/user/cgroup.subtree_control", "io\n");
  machine_.write("/sys/fs/cgroup/set/job/cgroup.procs", "");
  machine_.write("/sys/fs/cgroup/cpu/cgroup.procs", "");
  // The kernel fills a new group with files, and here nobody does: each switch says which it lacked, and all is removed again.
  const auto capsule = enter({"cpu_weight=500", "cpuset=on", "memory_limit=1GiB"});
  ASSERT_EQ(capsule->not_set().size(), 3U);
  EXPECT_NE(capsule->not_set()[0].reason.find("cpu.shares = 5120"), std::string::npos) << capsule->not_set()[0].reason;
  EXPECT_NE(capsule->not_set()[1].reason.find("cpuset.mems"), std::string::npos) << capsule->not_set()[1].reason;
  EXPECT_NE(capsule->not_set()[2].reason.find("does not delegate the controller 'memory'"), std::string::npos);
  const std::string own = "aaco-capsule-" + std::to_string(::getpid());
  EXPECT_TRUE(core::is_directory(machine_.root() + "/sys/fs/cgroup/set/job/" + own));
  EXPECT_TRUE(capsule->leave());
  EXPECT_FALSE(core::exists(machine_.root() + "/sys/fs/cgroup/set/job/" + own));
  EXPECT_FALSE(core::exists(machine_.root() + "/sys/fs/cgroup/cpu/" + own));
}

TEST_F(CapsuleTest, RestoresProcessSettings) {
  const auto before = core::allowed_cpus();
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  {
    const auto capsule = enter({"affinity=one", "aslr=off", "nice=" + std::to_string(std::min(19, nice + 1))});
    EXPECT_EQ(core::allowed_cpus().size(), 1U);
    EXPECT_EQ(capsule->cpus(), 1);
    EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), std::min(19, nice + 1));
    capsule->step_out();
    EXPECT_EQ(core::allowed_cpus(), before);
  }
  EXPECT_EQ(core::allowed_cpus(), before);
  if (::geteuid() == 0) {
    EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), nice);
  }
  EXPECT_EQ(::personality(0xffffffffU) & ADDR_NO_RANDOMIZE, 0);
}

TEST_F(CapsuleTest, RealTimePriorityNeedsEnoughSpareCpus) {
  if (static_cast<long>(core::allowed_cpus().size()) == ::sysconf(_SC_NPROCESSORS_ONLN)) {  // otherwise other CPUs stay free
    const auto everywhere = enter({"fifo=5", "affinity=all"});
    ASSERT_FALSE(everywhere->not_set().empty());
    EXPECT_NE(everywhere->not_set()[0].reason.find("every CPU"), std::string::npos);
  }
  if (core::allowed_cpus().size() < 2) GTEST_SKIP() << "skipped, this process has one CPU";
  Wanted two = wanted({"fifo=5", "affinity=one"});
  two.threads = 2;
  const auto capsule = *Capsule::enter(two, world());
  ASSERT_EQ(capsule->not_set().size(), 1U);
  EXPECT_NE(capsule->not_set()[0].reason.find("2 threads on 1 CPU"), std::string::npos);
}

TEST_F(CapsuleTest, ListsMissingCpus) {
  const auto capsule = enter({"affinity=1000"});
  EXPECT_EQ(capsule->not_set().size(), 1U);
  EXPECT_FALSE(capsule->cpus());
}

// The real machine: groups where root may make them, gone after kill -9 with the next look.
TEST(RealCapsule, AKilledOwnersGroupIsRemovedByTheNext) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped, control groups are made as root";
  testing::FakeMachine folder;
  const undo::World world{"/", folder.root() + "/journal"};
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto capsule = Capsule::enter(wanted({"cpu_weight=200", "nice=5", "affinity=one"}), world);
    const char count = capsule ? static_cast<char>((*capsule)->set().size()) : 0;
    if (::write(ends[1], &count, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char set = 0;
  ASSERT_EQ(::read(ends[0], &set, 1), 1);
  const auto open = *undo::list(world);
  EXPECT_EQ(undo::restore_dead(world)->undone, 0);  // it lives
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  if (set < 3) GTEST_SKIP() << "skipped, no cgroup of CPU time can be made here";
  ASSERT_EQ(open.size(), 1U);
  const auto restored = undo::restore_dead(world);
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->left.empty());
  EXPECT_EQ(restored->undone, 1);
  EXPECT_TRUE(undo::list(world)->empty());
}

}  // namespace
}  // namespace aaco::laboratory::capsule
