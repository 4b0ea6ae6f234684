#include "tracelake/lake_mode.h"

#include <sys/stat.h>

#include <filesystem>

#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

int mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 07777) : -1;
}

class LakeModeTest : public SessionTest {
 protected:
  // Modes of a session's folders and of its files.
  static void expect_modes(const std::string& path, int folder, int file) {
    EXPECT_EQ(mode_of(path), folder) << path;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      EXPECT_EQ(mode_of(entry.path().string()), entry.is_directory() ? folder : file) << entry.path();
  }
};

TEST_F(LakeModeTest, SessionsAreTheirOwnersAlone) {
  expect_modes(make(manifest()), 0700, 0600);
  EXPECT_EQ(mode_of(root), 0700);
}
TEST_F(LakeModeTest, OpenSessionIsItsOwnersAlone) {
  const auto writer = create(manifest());
  EXPECT_EQ(mode_of(writer->path()), 0700);
}
TEST_F(LakeModeTest, WhatIsAddedLaterIsAsPrivate) {
  const std::string path = make(manifest());
  ASSERT_TRUE(core::make_directories(path + "/report"));
  ASSERT_TRUE(core::write_file_atomic(path + "/report/report.html", "x"));
  expect_modes(path, 0700, 0600);
}
TEST_F(LakeModeTest, GroupMayReadSessionsOfASharedRoot) {
  ASSERT_TRUE(set_lake_mode(root, LakeMode::group));
  expect_modes(make(manifest()), 02750, 0640);
  EXPECT_EQ(mode_of(root), 02770);
}
TEST_F(LakeModeTest, SharingEndsWithTheMode) {
  ASSERT_TRUE(set_lake_mode(root, LakeMode::group));
  ASSERT_TRUE(set_lake_mode(root, LakeMode::owner));
  expect_modes(make(manifest()), 0700, 0600);
}
TEST_F(LakeModeTest, UnpackedAndPackedSessionsArePrivate) {
  const std::string packed = folder() + "/session.aaco";
  ASSERT_TRUE(pack_session(make(manifest()), packed));
  EXPECT_EQ(mode_of(packed), 0600);
  const auto path = unpack_session(packed, folder() + "/other");
  ASSERT_TRUE(path) << path.error().text();
  expect_modes(*path, 0700, 0600);
}
TEST_F(LakeModeTest, RefusesARootThatCannotBeMade) {
  ASSERT_TRUE(core::write_file_atomic(folder() + "/file", "x"));
  EXPECT_FALSE(set_lake_mode(folder() + "/file/root", LakeMode::group));
}

}  // namespace
}  // namespace aaco::tracelake
