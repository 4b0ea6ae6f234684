#include "workflows/session_list.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

SessionLine line(const std::string& id, const std::string& kind, const std::string& tag, const std::string& what) {
  return {id, "/lake/" + id, "2026-11-23T10:00:00Z", kind, "complete", tag, what, std::nullopt};
}

const std::vector<SessionLine> kLines = {line("a1", "run", "old", "resnet50, cpu"), line("b2", "import", "", "trace.json"),
                                         line("c3", "run", "new", "ResNet18, cpu"), line("d4", "run", "new", "mlp")};

std::string ids(const SessionFilter& filter) {
  std::string text;
  for (const auto& one : select_sessions(kLines, filter).sessions) text += one.id;
  return text;
}

TEST(SessionList, NewestFirst) { EXPECT_EQ(ids({}), "d4c3b2a1"); }
TEST(SessionList, Tag) { EXPECT_EQ(ids({.tag = "new"}), "d4c3"); }
TEST(SessionList, Kind) { EXPECT_EQ(ids({.kind = "import"}), "b2"); }
TEST(SessionList, UnknownStateFindsNothing) { EXPECT_EQ(ids({.state = "damaged"}), ""); }
TEST(SessionList, SearchIgnoresCase) { EXPECT_EQ(ids({.search = " RESNET "}), "c3a1"); }
TEST(SessionList, SearchInIdAndTag) { EXPECT_EQ(ids({.search = "old"}) + ids({.search = "b2"}), "a1b2"); }
TEST(SessionList, OffsetAndLimit) { EXPECT_EQ(ids({.offset = 1, .limit = 2}), "c3b2"); }
TEST(SessionList, OffsetBeyondTheEndIsEmpty) { EXPECT_EQ(ids({.offset = 9}), ""); }
TEST(SessionList, CountsBeyondThePage) { EXPECT_EQ(select_sessions(kLines, {.limit = 1}).found, 4U); }
TEST(SessionList, TagsOfAllSessions) {
  EXPECT_EQ(select_sessions(kLines, {.kind = "import"}).tags, (std::map<std::string, std::size_t>{{"new", 2}, {"old", 1}}));
}

TEST(FindInLake, RefusesPathsAndOutsideFolders) {
  const auto folder = core::TemporaryDirectory::make("/tmp");
  ASSERT_TRUE(folder);
  const std::string outside = core::join_path(folder->path(), "outside");
  ASSERT_TRUE(core::make_directories(outside));
  ASSERT_TRUE(core::write_file_atomic(core::join_path(outside, "session.json"), "{}"));
  core::Paths paths;
  paths.sessions = core::join_path(folder->path(), "lake");
  ASSERT_TRUE(core::make_directories(paths.sessions));
  for (const std::string& name : {outside, std::string("../outside"), std::string(".."), std::string("."), std::string(),
                                  std::string("a\\b"), std::string("latest"), std::string("tag:../x")}) {
    const auto found = find_in_lake(name, paths);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, core::ErrorCode::not_found) << name;
  }
}

}  // namespace
}  // namespace aaco::workflows
