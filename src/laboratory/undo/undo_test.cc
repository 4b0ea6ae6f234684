#include "laboratory/undo.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "laboratory/undo/change.h"
#include "tests/support/fake_machine.h"

namespace aaco::laboratory::undo {
namespace {

constexpr const char* kPages = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* kGroups = "/sys/fs/cgroup/cpu";

class UndoTest : public ::testing::Test {
 protected:
  UndoTest() {
    machine_.write(kPages, "always [madvise] never\n");
    std::filesystem::create_directories(machine_.root() + kGroups);
  }
  [[nodiscard]] World world() const { return {machine_.root(), machine_.root() + "/journal"}; }
  [[nodiscard]] std::string text(const std::string& path) const { return *core::read_file(machine_.root() + path); }
  [[nodiscard]] std::size_t journals() const {
    std::size_t count = 0;
    if (!core::exists(world().folder)) return 0;
    const auto names = *core::list_directory(world().folder);
    for (const auto& name : names) count += name.ends_with(kEnding) ? 1 : 0;
    return count;
  }
  // What a process that was killed after `changes` leaves behind.
  template <class Changes>
  void killed(const Changes& changes) const {
    const pid_t owner = ::fork();
    if (owner == 0) {
      auto journal = Journal::open(world(), "test");
      if (!journal || !changes(*journal)) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(owner, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  testing::FakeMachine machine_;
};

TEST_F(UndoTest, SetsAndRestores) {
  {
    auto journal = *Journal::open(world(), "test");
    EXPECT_EQ(journal.set_file(kPages, "never").value(), "madvise");
    EXPECT_EQ(text(kPages), "never");
    EXPECT_EQ(journals(), 1U);
  }
  EXPECT_EQ(text(kPages), "madvise");
  EXPECT_EQ(journals(), 0U);
}

TEST_F(UndoTest, UnchangedValueIsNotRecorded) {
  auto journal = *Journal::open(world(), "test");
  EXPECT_EQ(journal.set_file(kPages, "madvise").value(), "madvise");
  EXPECT_EQ(journals(), 0U);
}

TEST_F(UndoTest, ListsChangesAndOwner) {
  auto journal = *Journal::open(world(), "a test");
  ASSERT_TRUE(journal.set_file(kPages, "never"));
  const auto open = *list(world());
  ASSERT_EQ(open.size(), 1U);
  EXPECT_TRUE(open[0].alive);
  EXPECT_EQ(open[0].process_id, ::getpid());
  EXPECT_EQ(open[0].purpose, "a test");
  EXPECT_NE(open[0].text.find("is never, was madvise"), std::string::npos);
}

TEST_F(UndoTest, ReportsUnwritableSettings) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped, root may write everything";
  std::filesystem::permissions(machine_.root() + kPages, std::filesystem::perms::owner_read);
  auto journal = *Journal::open(world(), "test");
  EXPECT_EQ(journal.set_file(kPages, "never").error().code, core::ErrorCode::permission);
  EXPECT_EQ(journals(), 0U);
}

TEST_F(UndoTest, MissingSettingIsUnsupportedAndMissingFolderRefused) {
  auto journal = *Journal::open(world(), "test");
  EXPECT_EQ(journal.set_file("/sys/devices/system/cpu/cpufreq/boost", "0").error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(Journal::open({machine_.root(), ""}, "test"));
}

TEST_F(UndoTest, WritesOnlyMachineSettings) {
  machine_.write("/etc/passwd", "root");
  auto journal = *Journal::open(world(), "test");
  EXPECT_FALSE(journal.set_file("/etc/passwd", "x"));
  EXPECT_FALSE(journal.set_file("/sys/../etc/passwd", "x"));
  EXPECT_EQ(text("/etc/passwd"), "root");
}

TEST_F(UndoTest, RestoresChangesOfKilledOwner) {
  killed([](Journal& journal) { return journal.set_file(kPages, "never").has_value(); });
  EXPECT_EQ(text(kPages), "never");
  const auto restored = restore_dead(world());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->undone, 1);
  EXPECT_EQ(text(kPages), "madvise");
  EXPECT_EQ(restore_dead(world())->undone, 0);
}

TEST_F(UndoTest, KeepsLaterForeignChanges) {
  killed([](Journal& journal) { return journal.set_file(kPages, "never").has_value(); });
  machine_.write(kPages, "[always] madvise never\n");
  EXPECT_EQ(restore_dead(world())->undone, 0);
  EXPECT_EQ(text(kPages), "[always] madvise never\n");
  EXPECT_EQ(journals(), 0U);
}

TEST_F(UndoTest, KeepsChangesOfLiveOwner) {
  auto journal = *Journal::open(world(), "test");
  ASSERT_TRUE(journal.set_file(kPages, "never"));
  EXPECT_EQ(restore_dead(world())->undone, 0);
  EXPECT_EQ(text(kPages), "never");
}

TEST_F(UndoTest, ReusedPidIsNotTheOwner) {
  Owner owner = owner_of({"/", ""}, ::getpid());
  ASSERT_GT(owner.start_ticks, 0);
  machine_.write("/journal/1-a.journal", R"({"process_id": )" + std::to_string(owner.process_id) + R"(, "start_ticks": )" +
                                             std::to_string(owner.start_ticks - 1) + R"(, "boot_id": ")" + owner.boot_id +
                                             "\"}\n{\"file\": \"" + machine_.root() + kPages +
                                             "\", \"before\": \"always\", \"made\": \"madvise\"}\n");
  EXPECT_EQ(restore_dead(world())->undone, 1);
  EXPECT_EQ(text(kPages), "always");
}

TEST_F(UndoTest, IgnoresChangesOfEarlierBoot) {
  machine_.write("/journal/1-a.journal",
                 "{\"process_id\": 2147483000, \"start_ticks\": 5, \"boot_id\": \"another\"}\n{\"file\": \"" + machine_.root() +
                     kPages + "\", \"before\": \"always\", \"made\": \"madvise\"}\n");
  EXPECT_EQ(restore_dead(world())->undone, 0);
  EXPECT_EQ(text(kPages), "always [madvise] never\n");
  EXPECT_EQ(journals(), 0U);
}

TEST_F(UndoTest, IgnoresTruncatedLine) {
  killed([](Journal& journal) { return journal.set_file(kPages, "never").has_value(); });
  const std::string path = core::join_path(world().folder, core::list_directory(world().folder)->front());
  const std::string whole = *core::read_file(path);
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    machine_.write(kPages, "never");
    ASSERT_TRUE(core::write_file_atomic(path, whole.substr(0, length)));
    ASSERT_TRUE(restore_dead(world())) << length;
    EXPECT_EQ(text(kPages), "never") << length;
  }
}

TEST_F(UndoTest, RefusesPathTraversalInJournal) {
  machine_.write("/etc/cron", "quiet");
  const std::string head =
      R"({"process_id": 2147483000, "start_ticks": 5, "boot_id": ")" + owner_of({"/", ""}, 1).boot_id + "\"}\n";
  machine_.write("/journal/1-a.journal", head + "{\"file\": \"" + machine_.root() +
                                             "/etc/cron\", \"before\": \"evil\", \"made\": \"quiet\"}\nnonsense\n" +
                                             "{\"group\": \"" + machine_.root() + kGroups +
                                             "/system.slice\", \"home\": \"/\"}\n");
  const auto restored = restore_dead(world());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->undone, 0);
  EXPECT_EQ(restored->left.size(), 3U);
  EXPECT_EQ(text("/etc/cron"), "quiet");
}

TEST_F(UndoTest, IgnoresWorldWritableJournal) {
  killed([](Journal& journal) { return journal.set_file(kPages, "never").has_value(); });
  const std::string path = core::join_path(world().folder, core::list_directory(world().folder)->front());
  std::filesystem::permissions(path, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_EQ(restore_dead(world())->undone, 0);
  EXPECT_EQ(text(kPages), "never");
}

TEST_F(UndoTest, RefusesSecondOwner) {
  auto journal = *Journal::open(world(), "test");
  ASSERT_TRUE(journal.set_file(kPages, "never"));
  auto other = *Journal::open(world(), "other");
  EXPECT_EQ(other.set_file(kPages, "always").error().code, core::ErrorCode::conflict);
  EXPECT_EQ(text(kPages), "never");
}

TEST_F(UndoTest, CreatesAndRemovesCgroups) {
  const std::string folder = machine_.root() + kGroups + "/aaco-test-1";
  {
    auto journal = *Journal::open(world(), "test");
    EXPECT_EQ(journal.make_group(kGroups, kGroups, "aaco-test-1", {}).value(), folder);
    EXPECT_TRUE(core::is_directory(folder));
    EXPECT_FALSE(journal.make_group(kGroups, kGroups, "others", {}));
    EXPECT_FALSE(journal.make_group("/sys/fs/cgroup/missing", kGroups, "aaco-test-2", {}));
    EXPECT_FALSE(journal.make_group(kGroups, kGroups, "aaco-test-3", {{"cpu.max", "1"}}));  // no kernel makes the file here
  }
  EXPECT_FALSE(core::exists(folder));
  EXPECT_FALSE(core::exists(machine_.root() + kGroups + "/aaco-test-3"));
}

TEST_F(UndoTest, KeepsUnremovableCgroupInJournal) {
  killed([](Journal& journal) { return journal.make_group(kGroups, kGroups, "aaco-test-1", {}).has_value(); });
  machine_.write(std::string(kGroups) + "/aaco-test-1/inside", "x");
  const auto first = restore_dead(world());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->left.size(), 1U);
  EXPECT_EQ(list(world())->size(), 1U);
  machine_.remove(std::string(kGroups) + "/aaco-test-1/inside");
  EXPECT_EQ(restore_dead(world())->undone, 1);
  EXPECT_TRUE(list(world())->empty());
}

}  // namespace
}  // namespace aaco::laboratory::undo
