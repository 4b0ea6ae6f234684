#include "analytics/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace aaco::analytics::attribution {
namespace {

// Keeps the first of several, but one that launches before one that does not.
class MapIndex final : public LaunchStore, public LaunchLookup {
 public:
  void add(const Launch& launch) override {
    const auto [place, fresh] = launches_.try_emplace({launch.rank, launch.correlation_id}, launch);
    if (!fresh && launch.launches && !place->second.launches) place->second = launch;
  }
  void add(const ExternalOperator& op) override { operators_.try_emplace({op.rank, op.external_id}, op.name); }
  const Launch* find(std::int32_t rank, std::uint64_t id) const override {
    const auto place = launches_.find({rank, id});
    return place == launches_.end() ? nullptr : &place->second;
  }
  trace::NameId operator_of(std::int32_t rank, std::uint64_t id) const override {
    const auto place = operators_.find({rank, id});
    return place == operators_.end() ? trace::NameId{} : place->second;
  }

 private:
  std::map<std::pair<std::int32_t, std::uint64_t>, Launch> launches_;
  std::map<std::pair<std::int32_t, std::uint64_t>, trace::NameId> operators_;
};

class AttributionTest : public testing::Test {
 protected:
  void call(const char* domain, const char* name, std::int64_t start, std::int64_t end, std::uint64_t correlation = 0,
            std::uint64_t external = 0, std::int64_t thread = 1) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.process_id = 1;
    row.thread_id = thread;
    row.start_ns = start;
    row.end_ns = end;
    row.correlation_id = correlation;
    row.external_id = external;
    calls_.push_back(row);
  }
  void kernel(const char* name, std::uint64_t correlation, std::uint64_t external = 0, std::int64_t grid = 1) {
    trace::KernelRow row;
    row.name = names_.intern(name);
    row.start_ns = static_cast<std::int64_t>(kernels_.size()) * 100;
    row.end_ns = row.start_ns + 10;
    row.correlation_id = correlation;
    row.external_id = external;
    row.grid_x = grid;
    kernels_.push_back(row);
  }
  AttributionResult attribute(CaptureMap capture = {}) {
    std::stable_sort(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    LaunchFinder finder(names_, index_);
    for (const auto& row : calls_) finder.add(row);
    KernelAttributor attributor(names_, index_, std::move(capture));
    for (const auto& row : kernels_) attributor.add(row);
    return attributor.finish();
  }
  // "operator/node by method" of the kernel with this name.
  std::string cause(const AttributionResult& result, const char* kernel_name) {
    for (const auto& row : result.rows)
      if (names_.text(row.kernel_name) == kernel_name)
        return std::string(names_.text(row.operator_name)) + "/" + std::string(names_.text(row.node_name)) + " by " +
               std::string(names_.text(row.method));
    return "absent";
  }
  trace::NameTable names_;
  std::vector<trace::ApiCallRow> calls_;
  std::vector<trace::KernelRow> kernels_;
  MapIndex index_;
};

TEST_F(AttributionTest, TheInnermostOperatorAroundTheLaunch) {
  call("cpu_op", "aten::linear", 0, 100);
  call("cpu_op", "aten::addmm", 10, 90);
  call("cuda_runtime", "cudaLaunchKernel", 20, 30, 7);
  kernel("gemm", 7);
  EXPECT_EQ(cause(attribute(), "gemm"), "aten::addmm/ by correlation");
}
TEST_F(AttributionTest, EndedOrOtherThreadOperatorIsNotTheCause) {
  call("cpu_op", "aten::mul", 0, 10);
  call("cpu_op", "aten::add", 0, 100, 0, 0, 2);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  kernel("k", 7);
  EXPECT_EQ(cause(attribute(), "k"), "/ by launch_only");
}
TEST_F(AttributionTest, LongerOfTwoSimultaneousOperatorsEncloses) {
  call("cpu_op", "inner", 0, 50);
  call("cpu_op", "outer", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  kernel("k", 7);
  EXPECT_EQ(cause(attribute(), "k"), "inner/ by correlation");
}
TEST_F(AttributionTest, UsesExternalIdWithoutLaunch) {
  call("cpu_op", "aten::add", 0, 100, 0, 42);
  kernel("k", 0, 42);
  EXPECT_EQ(cause(attribute(), "k"), "aten::add/ by external_id");
}
TEST_F(AttributionTest, UsesMarkers) {
  call("marker", "layer 3", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  kernel("k", 7);
  EXPECT_EQ(cause(attribute(), "k"), "/layer 3 by marker");
}
TEST_F(AttributionTest, ProfilerStepsAreNotMarkers) {
  call("annotation", "ProfilerStep#3", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  kernel("k", 7);
  EXPECT_EQ(cause(attribute(), "k"), "/ by launch_only");
}
TEST_F(AttributionTest, GraphLaunchHidesTheOperator) {
  call("cpu_op", "replay", 0, 100);
  call("hip", "hipGraphLaunch", 20, 30, 7);
  kernel("k", 7);
  const auto result = attribute();
  EXPECT_EQ(cause(result, "k"), "/ by graph_launch");
  EXPECT_EQ(result.coverage.at({0, 0}).attributed_count, 0);
}
TEST_F(AttributionTest, CaptureMapsGraphContent) {
  call("hip", "hipGraphLaunch", 20, 30, 7);
  kernel("a", 7);
  kernel("lost", 7);
  kernel("b", 7);
  const CaptureMap capture = {{names_.intern("a"), names_.intern("aten::relu"), {}},
                              {names_.intern("b"), names_.intern("aten::mm"), {}}};
  const auto result = attribute(capture);
  EXPECT_EQ(cause(result, "a"), "aten::relu/ by capture_map");
  EXPECT_EQ(cause(result, "b"), "aten::mm/ by capture_map");
  EXPECT_EQ(cause(result, "lost"), "/ by graph_launch");
  EXPECT_EQ(result.coverage.at({0, 0}).attributed_count, 2);
}
TEST_F(AttributionTest, ReplayIsOfTheGraphWhoseKernelsMatch) {
  for (const std::uint64_t replay : {7, 8})
    call("hip", "hipGraphLaunch", 20 * static_cast<int>(replay), 30 * static_cast<int>(replay), replay);
  for (const std::uint64_t replay : {7, 8}) {
    kernel("head", replay);
    kernel("large", replay);
    kernel("tail", replay);
  }
  const auto captured = [&](const char* name, const char* op, std::int32_t graph) {
    CapturedKernel one{names_.intern(name), names_.intern(op), {}, names_.intern(op), names_.intern("{}"), 5, graph};
    return one;
  };
  const CaptureMap capture = {captured("head", "a::other", 0), captured("small", "a::other", 0), captured("tail", "a::other", 0),
                              captured("head", "a::head", 1),  captured("large", "a::mm", 1),    captured("tail", "a::tail", 1)};
  const auto result = attribute(capture);
  EXPECT_EQ(cause(result, "large"), "a::mm/ by capture_map");
  EXPECT_EQ(cause(result, "tail"), "a::tail/ by capture_map");
}
TEST_F(AttributionTest, ReplayedKernelsHaveTheShapesOfTheCapture) {
  call("hip", "hipGraphLaunch", 20, 30, 7);
  call("hip", "hipGraphLaunch", 40, 50, 8);
  for (const std::uint64_t replay : {7, 8}) kernel("gemm", replay);
  kernel("stray", 9);
  LaunchFinder finder(names_, index_);
  for (const auto& row : calls_) finder.add(row);
  const auto op = names_.intern("aten::mm"), arguments = names_.intern("{}");
  KernelAttributor attributor(names_, index_, {{kernels_[0].name, op, {}, op, arguments, 5, 0}});
  std::set<std::int64_t> calls;
  for (const auto& row : kernels_) {
    attributor.add(row);
    if (attributor.replayed() == nullptr) continue;
    EXPECT_EQ(attributor.replayed()->operator_arguments, arguments);
    EXPECT_EQ(attributor.replayed()->shaped_operator, op);
    calls.insert(attributor.replayed()->thread_id);
  }
  EXPECT_EQ(calls.size(), 2U) << "each replay is a call";
}
TEST_F(AttributionTest, GraphNodeCreationCallIdentifiesOperator) {
  call("marker", "capture", 0, 100);
  call("cpu_op", "aten::relu", 10, 50);
  call("graph_node", "Graph Node Creation", 20, 30, 0, 90);
  call("hip", "hipGraphLaunch", 200, 210, 7);
  kernel("a", 7);
  kernels_.back().graph_node_id = 90;
  kernel("b", 7);
  kernels_.back().graph_node_id = 91;
  const auto result = attribute();
  EXPECT_EQ(cause(result, "a"), "aten::relu/capture by capture_map");
  EXPECT_EQ(cause(result, "b"), "/ by graph_launch");
}
TEST_F(AttributionTest, UsesSameNameAndShapeElsewhere) {
  call("cpu_op", "aten::mm", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  call("hip", "hipGraphLaunch", 120, 130, 8);
  kernel("k", 7, 0, 64);
  kernel("k", 8, 0, 64);
  const auto result = attribute();
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.coverage.at({0, 0}).attributed_count, 2);
  EXPECT_EQ(names_.text(result.rows[0].method) == "name_and_shape" || names_.text(result.rows[1].method) == "name_and_shape",
            true);
}
TEST_F(AttributionTest, AmbiguousNameIsNotTheCause) {
  call("cpu_op", "aten::mm", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  call("cpu_op", "aten::bmm", 100, 200);
  call("hip", "hipLaunchKernel", 120, 130, 8);
  kernel("k", 7);
  kernel("k", 8);
  kernel("k", 999);
  EXPECT_EQ(attribute().coverage.at({0, 0}).attributed_count, 2);
}
TEST_F(AttributionTest, KernelNameContainsNode) {
  call("onnx_node", "/conv1/Conv", 0, 0, 0, 5);
  call("cpu_op", "aten::add", 0, 100, 0, 6);
  kernel("k", 0, 5);
  kernel("a", 0, 6);
  std::stable_sort(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  LaunchFinder finder(names_, index_);
  for (const auto& row : calls_) finder.add(row);
  KernelAttributor attributor(names_, index_, {}, finder.node_names());
  for (const auto& row : kernels_) attributor.add(row);
  const auto result = attributor.finish();
  EXPECT_EQ(cause(result, "k"), "//conv1/Conv by node_name");
  EXPECT_EQ(cause(result, "a"), "aten::add/ by external_id");
}
TEST_F(AttributionTest, NodesClaimUnattributedExecutions) {
  call("hip", "hipLaunchKernel", 20, 30, 7);
  for (int i = 0; i < 5; ++i) kernel("gemm", 7);
  kernel("relu", 999);
  auto result = attribute();
  const auto share = [&](const char* kernel_name, const char* node, std::int64_t count) {
    return NodeShare{0, 0, names_.intern(kernel_name), names_.intern(node), Method::node_order, 0.7, count, 10 * count};
  };
  take_nodes(result, names_,
             {share("gemm", "fc1", 2), share("gemm", "fc2", 1), share("gemm", "fc1", 1), share("relu", "act", 9)});
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : result.rows)
    counts[std::string(names_.text(row.kernel_name)) + "/" + std::string(names_.text(row.node_name)) + "/" +
           std::string(names_.text(row.method))] += row.kernel_count;
  const std::map<std::string, std::int64_t> expected = {
      {"gemm/fc1/node_order", 3}, {"gemm/fc2/node_order", 1}, {"gemm//launch_only", 1}, {"relu//none", 1}};
  EXPECT_EQ(counts, expected);  // more of a kernel than there are is nobody's
  const Coverage& coverage = result.coverage.at({0, 0});
  EXPECT_EQ(coverage.attributed_count, 4);
  EXPECT_EQ(coverage.attributed_sum_ns, 40);
  EXPECT_EQ(coverage.outside_sum_ns, 10);
  EXPECT_EQ(coverage.unlaunched_sum_ns, 10);
}
TEST_F(AttributionTest, NodeAlongsideKnownOperator) {
  call("cpu_op", "aten::mm", 0, 100);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  kernel("gemm", 7);
  kernel("gemm", 7);
  auto result = attribute();
  take_nodes(result, names_, {NodeShare{0, 0, names_.intern("gemm"), names_.intern("fc"), Method::node_order, 0.6, 1, 10}});
  ASSERT_EQ(result.rows.size(), 2u);
  for (const auto& row : result.rows) EXPECT_EQ(names_.text(row.operator_name), "aten::mm");
  EXPECT_EQ(result.coverage.at({0, 0}).attributed_count, 2);
}
TEST_F(AttributionTest, BlockersAddUp) {
  call("hip", "hipLaunchKernel", 20, 30, 7);
  call("hip", "hipGraphLaunch", 40, 50, 8);
  kernel("a", 7);
  kernel("b", 8);
  kernel("c", 8);
  kernel("d", 999);
  const Coverage coverage = attribute().coverage.at({0, 0});
  EXPECT_EQ(coverage.outside_sum_ns, 10);
  EXPECT_EQ(coverage.replayed_sum_ns, 20);
  EXPECT_EQ(coverage.unlaunched_sum_ns, 10);
  EXPECT_EQ(coverage.attributed_sum_ns, 0);
}
TEST_F(AttributionTest, ZeroIdsMatchNothing) {
  call("hip", "hipLaunchKernel", 20, 30, 0);
  kernel("k", 0);
  EXPECT_EQ(cause(attribute(), "k"), "/ by none");
  EXPECT_EQ(index_.find(0, 0), nullptr);
}
TEST_F(AttributionTest, SeparatesLargeIdsAndRanks) {
  call("hip", "hipLaunchKernel", 20, 30, UINT64_MAX);
  (void)attribute();
  EXPECT_NE(index_.find(0, UINT64_MAX), nullptr);
  EXPECT_EQ(index_.find(1, UINT64_MAX), nullptr);
}
TEST_F(AttributionTest, PicksTheLaunchingCall) {
  call("hsa", "hsa_queue_load_index", 10, 40, 7);
  call("hip", "hipLaunchKernel", 20, 30, 7);
  (void)attribute();
  EXPECT_EQ(names_.text(index_.find(0, 7)->api), "hipLaunchKernel");
}
TEST_F(AttributionTest, LaunchCarriesOperatorArguments) {
  call("cpu_op", "aten::linear", 5, 100);
  calls_.back().arguments = names_.intern(R"({"Input Dims":[[1,2]]})");
  call("cpu_op", "aten::addmm", 10, 90);
  call("cuda_runtime", "cudaLaunchKernel", 20, 30, 7);
  (void)attribute();
  EXPECT_EQ(names_.text(index_.find(0, 7)->operator_arguments), R"({"Input Dims":[[1,2]]})");
  EXPECT_EQ(names_.text(index_.find(0, 7)->shaped_operator), "aten::linear");
  EXPECT_EQ(index_.find(0, 7)->shaped_start_ns, 5);
}
TEST(Coverage, RatiosNeedKernels) {
  EXPECT_TRUE(coverage_metrics({}, 0).empty());
  EXPECT_DOUBLE_EQ(coverage_metrics({4, 100, 1, 75}, 0)[1].value, 0.75);
}

}  // namespace
}  // namespace aaco::analytics::attribution
