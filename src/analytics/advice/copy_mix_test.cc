#include "analytics/advice/copy_mix.h"

#include <gtest/gtest.h>

namespace aaco::analytics::advice {
namespace {

bool mentions(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

TEST(CopyMix, PinnedMemoryForHostCopiesOnly) {
  const auto list = CopyMix({{"h2d", 300}, {"d2d", 100}}, 0.0).advice(40);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_DOUBLE_EQ(list[0].exposed_ns, 30);
  EXPECT_TRUE(mentions(list[0].title, "pinned"));
  EXPECT_DOUBLE_EQ(list[1].exposed_ns, 10);
  EXPECT_FALSE(mentions(list[1].title + list[1].text, "pinned"));
}
TEST(CopyMix, ExposedTimeIsWhoseItIs) {
  const std::map<std::string, ExposedCopy> exposed = {
      {"h2d", {30, {{"aten::to", 25}, {"", 5}}}}, {"d2h", {0, {}}}, {"d2d", {10, {}}}};
  const auto list = CopyMix({{"h2d", 100}, {"d2h", 500}, {"d2d", 400}}, 0.0, exposed).advice(40);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_DOUBLE_EQ(list[0].exposed_ns, 30) << "as measured, not as the copies' own times are";
  EXPECT_EQ(list[0].launched_by, "aten::to");
  EXPECT_NEAR(list[0].launched_ratio, 25.0 / 30, 1e-12);
  EXPECT_DOUBLE_EQ(list[1].exposed_ns, 10);
  EXPECT_TRUE(list[1].launched_by.empty());
  for (const auto& one : list) EXPECT_FALSE(one.shared_out);
}
TEST(CopyMix, PinnedAlready) {
  const auto list = CopyMix({{"d2h", 300}}, 0.99).advice(40);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_FALSE(mentions(list[0].title, "pinned"));
  EXPECT_TRUE(mentions(list[0].text, "pinned already"));
}
TEST(CopyMix, UnknownMemoryIsHedged) {
  EXPECT_TRUE(mentions(CopyMix({{"h2d", 1}}, {}).advice(1)[0].title, "unless it is pinned already"));
}
TEST(CopyMix, FillsAndPeersAreNoHostCopies) {
  for (const char* kind : {"memset", "p2p", "d2d"})
    for (const auto& one : CopyMix({{kind, 1}}, {}).advice(1)) EXPECT_FALSE(mentions(one.title + one.text, "pinned")) << kind;
}
TEST(CopyMix, UnknownKinds) {
  ASSERT_EQ(CopyMix({}, {}).advice(5).size(), 1U);
  EXPECT_DOUBLE_EQ(CopyMix({}, {}).advice(5)[0].exposed_ns, 5);
  EXPECT_TRUE(CopyMix({{"h2d", 1}}, {}).advice(0).empty());
}
TEST(CopyMix, BlockingCalls) {
  EXPECT_EQ(CopyMix({{"h2d", 1}}, {}).blocking_remedy("usual"), "usual");
  EXPECT_EQ(CopyMix({}, {}).blocking_remedy("usual"), "usual");
  EXPECT_TRUE(mentions(CopyMix({{"d2d", 1}}, {}).blocking_remedy("usual"), "do not involve host memory"));
  EXPECT_TRUE(mentions(CopyMix({{"d2h", 1}}, 1.0).blocking_remedy("usual"), "pinned already"));
}

}  // namespace
}  // namespace aaco::analytics::advice
