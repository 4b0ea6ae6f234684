// Rooflines of the project's shared traces: nothing runs faster than physics, whatever its work is from.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/import.h"
#include "workflows/run_work.h"

namespace aaco::workflows {
namespace {

namespace fs = std::filesystem;

class RooflineRealTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* set = std::getenv("AACO_REAL_DATA");
    data_ = set != nullptr ? set : std::string(AACO_SOURCE_DIR) + "/../shared/data";
    if (!fs::is_directory(data_ + "/traces")) GTEST_SKIP() << "skipped, no real data";
    services_.paths.share = AACO_SOURCE_DIR;  // data/ lies there
    services_.paths.sessions = core::join_path(folder_.path(), "sessions");
  }
  std::vector<report::RoofPoint> points(const std::vector<std::string>& paths) {
    ImportRequest request;
    request.paths = paths;
    const auto outcome = import(request, services_);
    EXPECT_TRUE(outcome) << outcome.error().text();
    if (!outcome) return {};
    const auto work = run_work(outcome->path, outcome->manifest);
    EXPECT_TRUE(work && work->size() == 1);
    return work && work->size() == 1 ? work->front().points : std::vector<report::RoofPoint>();
  }

  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make("/tmp", "aaco-roofline").value();
  std::string data_;
  Services services_;
};

// Eight MI300X; the tables come without the list of agents, which is ours.
TEST_F(RooflineRealTest, CountersStayUnderTheMemorysRoof) {
  const std::string folder = data_ + "/traces/rocprofv3_csv/ROCm_aiter_moe_MI300_MI350";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "skipped, no real data";
  std::string agents = "Node_Id,Logical_Node_Id,Agent_Type,Cu_Count,Name,Product_Name\n";
  for (int i = 2; i < 10; ++i) agents += std::to_string(i) + "," + std::to_string(i) + ",GPU,304,gfx942,AMD Instinct MI300X\n";
  const std::string file = core::join_path(folder_.path(), "agent_info.csv");
  ASSERT_TRUE(core::write_file_atomic(file, agents));
  const auto found = points({folder + "/mi300_moe_target_counters.csv", folder + "/mi300_moe_target_traces.csv", file});
  ASSERT_GE(found.size(), 50U);
  double best = 0;
  for (const auto& point : found) {
    EXPECT_EQ(point.work_from, "counters") << point.name;
    EXPECT_LE(point.reached_ratio.value_or(0), 1.05) << point.name;
    best = std::max(best, point.reached_ratio.value_or(0));
  }
  EXPECT_GE(best, 0.7) << "the best of them are known to be near the memory's bandwidth";
}

// A convolution by Winograd's algorithm saves at most r x s of the operations: 9 for the usual filter, in practice 4.
TEST_F(RooflineRealTest, HelpersOfConvolutionsDoNotTakeTheirWork) {
  std::string trace;
  const std::string folder = data_ + "/traces/kineto/pytorch_kineto_tb_samples";
  if (fs::is_directory(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().filename().string().find("pt.trace.json") != std::string::npos) trace = entry.path();
  if (trace.empty()) GTEST_SKIP() << "skipped, no real data";
  const auto found = points({trace});
  ASSERT_GE(found.size(), 8U);
  for (const auto& point : found) EXPECT_LE(point.reached_ratio.value_or(0), 4) << point.name;
}

}  // namespace
}  // namespace aaco::workflows
