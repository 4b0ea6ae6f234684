#include "workflows/session_report/wait_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace aaco::workflows {
namespace {

TEST(WaitTree, CommonFramesAreOneFrame) {
  const auto tree = wait_tree("main;work;read_[k] 30\nmain;work;futex_[k] 50\nworker;wait 20\n");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->total_ns, 100);
  ASSERT_EQ(tree->children.size(), 2U);
  const auto& work = tree->children[0].children.at(0);
  EXPECT_EQ(work.total_ns, 80);
  ASSERT_EQ(work.children.size(), 2U);
  EXPECT_EQ(work.children[0].name, "futex");  // most time first
  EXPECT_TRUE(work.children[0].kernel);
}

TEST(WaitTree, NamesMayHaveSpaces) {
  const auto tree = wait_tree("pool thread;void run<int, char>() 7");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->children[0].children.at(0).name, "void run<int, char>()");
}

TEST(WaitTree, SameNameInUserAndKernelAreTwoFrames) {
  EXPECT_EQ(wait_tree("a;read 1\na;read_[k] 1\n")->children[0].children.size(), 2U);
}

TEST(WaitTree, TooSmallToDrawIsLeftOutButCounted) {
  const auto tree = wait_tree("big 1000000\nsmall 1\n");
  EXPECT_EQ(tree->children.size(), 1U);
  EXPECT_EQ(tree->total_ns, 1000001);
}

TEST(WaitTree, InvalidLinesAreLeftOut) {
  EXPECT_FALSE(wait_tree(""));
  EXPECT_FALSE(wait_tree("no number"));
  EXPECT_FALSE(wait_tree(" 5\na -3\nb 0\nc 1x\n"));
}

TEST(WaitTree, VeryDeepStacksAreCut) {
  std::string line = "t";
  for (int i = 0; i < 5000; ++i) line += ";f";
  const auto tree = wait_tree(line + " 10");
  ASSERT_TRUE(tree);
  int depth = 0;
  for (const auto* at = &*tree; !at->children.empty(); at = at->children.data()) ++depth;
  EXPECT_LE(depth, 96);
}

}  // namespace
}  // namespace aaco::workflows
