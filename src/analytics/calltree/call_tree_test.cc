#include "analytics/call_tree.h"

#include <gtest/gtest.h>

namespace aaco::analytics::calltree {
namespace {

class CallTreeTest : public testing::Test {
 protected:
  void call(const char* domain, const char* name, std::int64_t start_ns, std::int64_t end_ns, std::uint64_t id = 0,
            std::int64_t thread = 1) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.thread_id = thread;
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.correlation_id = id;
    builder_.add(row);
  }
  void kernel(const char* name, std::int64_t duration_ns, std::uint64_t id, std::int32_t rank = 0) {
    trace::KernelRow row;
    row.rank = rank;
    row.name = names_.intern(name);
    row.end_ns = duration_ns;
    row.correlation_id = id;
    builder_.add(row);
  }
  // "all:100(step:100(aten::mm:60(gemm:60) ...))": device time of each node.
  static std::string text(const Tree& tree, std::size_t index = 0) {
    std::string out = tree.nodes[index].name + ":" + std::to_string(tree.nodes[index].device_ns);
    for (const std::size_t each : tree.nodes[index].children) out += " (" + text(tree, each) + ")";
    return out;
  }
  trace::NameTable names_;
  TreeBuilder builder_{names_};
};

TEST_F(CallTreeTest, KernelsBelongToTheEnclosingCalls) {
  call("annotation", "ProfilerStep#3", 0, 100);
  call("cpu_op", "aten::linear", 10, 50);
  call("cpu_op", "aten::mm", 20, 40);
  call("cuda_runtime", "hipLaunchKernel", 25, 30, 7);
  kernel("gemm", 60, 7);
  EXPECT_EQ(text(builder_.finish()), "all:60 (ProfilerStep:60 (aten::linear:60 (aten::mm:60 (gemm:60))))");
}
TEST_F(CallTreeTest, SiblingsAndRepeatedPaths) {
  for (const int at : {0, 100}) {
    call("cpu_op", "a", at, at + 10);
    call("cuda_runtime", "launch", at + 1, at + 2, static_cast<std::uint64_t>(at) + 1);
    kernel("k", 5, static_cast<std::uint64_t>(at) + 1);
  }
  call("cpu_op", "b", 200, 210);
  const Tree tree = builder_.finish();
  EXPECT_EQ(text(tree), "all:10 (a:10 (k:10)) (b:0)");
  EXPECT_EQ(tree.nodes[1].calls, 2);
  EXPECT_EQ(tree.nodes[1].host_ns, 20);
}
TEST_F(CallTreeTest, ThreadsHaveTheirOwnStacks) {
  call("cpu_op", "main", 0, 100, 0, 1);
  call("cpu_op", "backward", 10, 90, 0, 2);
  EXPECT_EQ(text(builder_.finish()), "all:0 (main:0) (backward:0)");
}
TEST_F(CallTreeTest, PythonFramesAreNotInTheTree) {
  call("python", "train.py(3): step", 0, 100);
  call("cpu_op", "a", 1, 2);
  EXPECT_EQ(text(builder_.finish()), "all:0 (a:0)");
}
TEST_F(CallTreeTest, KernelsWithoutALaunchAreShownAsSuch) {
  kernel("k", 5, 0), kernel("k", 5, 99);
  EXPECT_EQ(text(builder_.finish()), "all:10 ((no launch in the trace):10 (k:10))");
}
TEST_F(CallTreeTest, LaunchesOfAnotherRankDoNotCount) {
  call("cpu_op", "a", 0, 100);
  call("cuda_runtime", "launch", 1, 2, 7);
  kernel("k", 5, 7, 1);
  EXPECT_EQ(text(builder_.finish()), "all:5 (a:0) ((no launch in the trace):5 (k:5))");
}
TEST_F(CallTreeTest, OverlapIsNotNesting) {
  call("cpu_op", "a", 0, 50);
  call("cpu_op", "b", 40, 90);
  EXPECT_EQ(text(builder_.finish()), "all:0 (a:0) (b:0)");
}
TEST_F(CallTreeTest, NegativeDurationsAreLeftOut) {
  call("cpu_op", "a", 50, 40);
  kernel("k", -5, 0);
  EXPECT_EQ(text(builder_.finish()), "all:0");
}
TEST_F(CallTreeTest, DepthIsBounded) {
  for (int i = 0; i < 1000; ++i) call("cpu_op", "same", i, 5000 - i);
  EXPECT_LE(builder_.finish().nodes.size(), TreeBuilder::kMaxDepth + 1);
}

Tree tree(std::int64_t mm_ns, const char* kernel_name) {
  Tree made;
  made.nodes = {{"all", false, 0, 0, mm_ns, {1}}, {"aten::mm", false, 4, 40, mm_ns, {2}}, {kernel_name, true, 4, 0, mm_ns, {}}};
  return made;
}
TEST(CompareTrees, PathsAreMatchedAndValuesArePerStep) {
  const auto nodes = compare(tree(100, "k"), 2, tree(300, "k"), 4);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[2].depth, 2U);
  EXPECT_DOUBLE_EQ(nodes[1].a.device_ns, 50);
  EXPECT_DOUBLE_EQ(nodes[1].b.device_ns, 75);
  EXPECT_DOUBLE_EQ(nodes[1].device_delta_ns, 25);
  EXPECT_DOUBLE_EQ(nodes[1].a.calls, 2);
}
TEST(CompareTrees, PathsOfOneSideAreKept) {
  const auto nodes = compare(tree(100, "old"), 1, tree(300, "new"), 1);
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[2].name, "new");  // the larger change first
  EXPECT_DOUBLE_EQ(nodes[3].b.device_ns, 0);
}
TEST(CompareTrees, EmptyTreesGiveNothing) { EXPECT_TRUE(compare({}, 1, {}, 1).empty()); }
TEST(CompareTrees, NoStepsIsOne) { EXPECT_DOUBLE_EQ(compare(tree(100, "k"), 0, tree(100, "k"), 0)[0].a.device_ns, 100); }

}  // namespace
}  // namespace aaco::analytics::calltree
