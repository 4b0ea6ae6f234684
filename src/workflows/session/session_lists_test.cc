#include "workflows/session_lists.h"

#include <gtest/gtest.h>

#include "tests/support/made_session.h"

namespace aaco::workflows {
namespace {

TEST(SessionLists, ANewSessionIsListedAtOnce) {
  const Lake lake;
  SessionLists lists;
  for (std::size_t count = 1; count <= 5; ++count) {
    lake.make({.kind = "run", .tag = std::to_string(count)});
    const auto page = lists.page({}, lake.services.paths);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->found, count);
    EXPECT_EQ(lists.page({}, lake.services.paths)->found, count);
  }
}

TEST(SessionLists, ARemovedSessionIsGone) {
  const Lake lake;
  lake.make({.tag = "a"});
  lake.make({.tag = "b"});
  SessionLists lists;
  EXPECT_EQ(lists.page({}, lake.services.paths)->found, 2U);
  ASSERT_TRUE(remove("tag:a", lake.services.paths));
  EXPECT_EQ(lists.page({}, lake.services.paths)->found, 1U);
}

TEST(SessionLists, FiltersAreThoseOfTheList) {
  const Lake lake;
  lake.make({.tag = "a"});
  lake.make({.tag = "b"});
  SessionLists lists;
  EXPECT_EQ(lists.page({.tag = "a"}, lake.services.paths)->found, 1U);
  EXPECT_EQ(lists.page({.tag = "c"}, lake.services.paths)->found, 0U);
}

TEST(SessionLists, ARootThatDoesNotExistIsEmpty) {
  core::Paths paths;
  paths.sessions = "/nonexistent/sessions";
  EXPECT_EQ(SessionLists().page({}, paths)->found, 0U);
}

}  // namespace
}  // namespace aaco::workflows
