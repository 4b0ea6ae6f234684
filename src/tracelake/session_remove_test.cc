#include <filesystem>

#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class SessionRemoveTest : public SessionTest {
 protected:
  static constexpr std::int64_t kDayNs = 86'400'000'000'000;
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> ids;
    const auto entries = *list_sessions(root);
    for (const auto& entry : entries) ids.push_back(entry.manifest.id.text);
    return ids;
  }
  // "a" is three days old and tagged, "b" two, "c" one.
  void make_three() const {
    (void)make(manifest("a", "keep", kCreatedNs - 3 * kDayNs));
    (void)make(manifest("b", "", kCreatedNs - 2 * kDayNs));
    (void)make(manifest("c", "", kCreatedNs - kDayNs));
  }
  std::vector<RetentionAction> collect(const RetentionPolicy& policy) const {
    auto actions = apply_retention(root, policy, kCreatedNs);
    EXPECT_TRUE(actions) << actions.error().text();
    return actions.value_or(std::vector<RetentionAction>());
  }
};

TEST_F(SessionRemoveTest, LatestMovesToNewestRemaining) {
  const std::string first = make(manifest("a"));
  const std::string second = make(manifest("b"));
  ASSERT_TRUE(remove_session(second));
  EXPECT_EQ(std::filesystem::canonical(join_path(root, "latest")), std::filesystem::canonical(first));
  ASSERT_TRUE(remove_session(first + "/"));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(join_path(root, "latest"))));
  EXPECT_FALSE(core::exists(join_path(root, "2026-11-21")));
}

TEST_F(SessionRemoveTest, RefusesNonSessions) {
  const std::string path = make(manifest());
  EXPECT_EQ(remove_session(root).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remove_session("/").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remove_session(join_path(path, "metrics")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remove_session(join_path(path, "env.json")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remove_session(join_path(root, "latest")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(remove_session(join_path(root, "2026-11-21/other")).error().code, ErrorCode::not_found);
  // A copy under another name, and a folder of somebody else that has a session.json.
  std::filesystem::copy(path, path + "-copy", std::filesystem::copy_options::recursive);
  EXPECT_EQ(remove_session(path + "-copy").error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(core::make_directories(join_path(folder(), "web")));
  ASSERT_TRUE(core::write_file_atomic(join_path(folder(), "web/session.json"), "{}"));
  EXPECT_EQ(remove_session(join_path(folder(), "web")).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(core::exists(join_path(folder(), "web/session.json")));
}

TEST_F(SessionRemoveTest, NeverFollowsLinks) {
  const std::string outside = join_path(folder(), "outside");
  ASSERT_TRUE(core::make_directories(outside));
  ASSERT_TRUE(core::write_file_atomic(join_path(outside, "precious"), "x"));
  const std::string path = make(manifest());
  std::filesystem::create_directory_symlink(outside, join_path(path, "link"));
  ASSERT_TRUE(remove_session(path));
  EXPECT_TRUE(core::exists(join_path(outside, "precious")));
}

TEST_F(SessionRemoveTest, DamagedSessionCanBeRemoved) {
  const std::string path = make(manifest());
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "session.json"), "{"));
  EXPECT_TRUE(remove_session(path));
  EXPECT_TRUE(left().empty());
}

TEST_F(SessionRemoveTest, RetentionByAge) {
  make_three();
  EXPECT_EQ(collect({.max_age_ns = 36 * 3'600'000'000'000, .max_bytes = {}, .keep_ids = {}}).size(), 2u);
  EXPECT_EQ(left(), (std::vector<std::string>{"c"}));
}

TEST_F(SessionRemoveTest, RetentionKeepsTaggedAndNamedOnes) {
  make_three();
  const auto actions = collect({.max_age_ns = 1, .max_bytes = {}, .keep_tagged = true, .keep_ids = {"b"}});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_TRUE(actions[0].removed);
  EXPECT_EQ(left(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(SessionRemoveTest, RetentionBySizeTakesTheOldest) {
  make_three();
  const std::int64_t all = *core::tree_size(join_path(root, "2026-11-18")) * 3;
  EXPECT_EQ(collect({.max_age_ns = {}, .max_bytes = all * 5 / 6, .keep_ids = {}}).size(), 1u);
  EXPECT_EQ(left(), (std::vector<std::string>{"b", "c"}));
}

TEST_F(SessionRemoveTest, DryRunRemovesNothing) {
  make_three();
  const auto actions = collect({.max_age_ns = 1, .max_bytes = {}, .keep_ids = {}, .dry_run = true});
  EXPECT_EQ(actions.size(), 3u);
  EXPECT_GT(actions[0].bytes, 0);
  EXPECT_FALSE(actions[0].removed);
  EXPECT_EQ(left().size(), 3u);
}

TEST_F(SessionRemoveTest, RemovesAbandonedButNeverLiveSessions) {
  auto dead = create(manifest("dead", "", kCreatedNs - 2 * kDayNs));
  dead.reset();
  auto young = create(manifest("young", "", kCreatedNs - kDayNs / 2));
  young.reset();
  const auto living = create(manifest("living", "", kCreatedNs - 2 * kDayNs));
  const auto actions = collect({.max_age_ns = {}, .max_bytes = {}, .keep_ids = {}});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(left(), (std::vector<std::string>{"living", "young"}));
}

}  // namespace
}  // namespace aaco::tracelake
