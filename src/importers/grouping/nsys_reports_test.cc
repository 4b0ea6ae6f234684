#include "importers/grouping/nsys_reports.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::importers::grouping {
namespace {

constexpr const char* kWork = "Start (ns),Duration (ns),CorrId,Device,Name\n1,1,1,G (0),k\n";
constexpr const char* kCalls = "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n1,1,cudaLaunchKernel,0,1,2,2\n";
constexpr const char* kSums = "Time (%),Total Time (ns),Instances,Name\n100,1,1,k\n";

class NsysReportsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "nsys_reports");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  void file(const std::string& name, std::string_view text) {
    ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_->path(), name), text).has_value());
  }
  // "name:rank" of each file that is to be read.
  std::vector<std::string> found(std::size_t passed = 0) {
    auto inputs = find_inputs({folder_->path()});
    EXPECT_TRUE(inputs.has_value());
    std::vector<std::string> names;
    for (const InputFile& each : inputs->files)
      names.push_back(core::base_name(each.path) + ":" + (each.rank ? std::to_string(*each.rank) : "own"));
    EXPECT_EQ(inputs->passed.size(), passed);
    return names;
  }
  std::optional<core::TemporaryDirectory> folder_;
};

using Names = std::vector<std::string>;

TEST_F(NsysReportsTest, ReportsOfOneProfileAreOneRank) {
  file("run_cuda_gpu_trace.csv", kWork);
  file("run_cuda_api_trace.csv", kCalls);
  EXPECT_EQ(found(), (Names{"run_cuda_api_trace.csv:own", "run_cuda_gpu_trace.csv:own"}));
}

TEST_F(NsysReportsTest, ReportsWithoutAProfilesNameAreOneRankToo) {
  file("gpu.csv", kWork);
  file("api.csv", kCalls);
  EXPECT_EQ(found(), (Names{"api.csv:own", "gpu.csv:own"}));
}

TEST_F(NsysReportsTest, SeveralProfilesAreRanksByTheirNames) {
  file("rank3_cuda_gpu_trace.csv", kWork);
  file("rank3_cuda_api_trace.csv", kCalls);
  file("rank1_cuda_gpu_trace.csv", std::string(kWork) + "5,1,1,G (0),k\n");
  EXPECT_EQ(found(), (Names{"rank1_cuda_gpu_trace.csv:1", "rank3_cuda_api_trace.csv:3", "rank3_cuda_gpu_trace.csv:3"}));
}

TEST_F(NsysReportsTest, TwoUnnamedTracesAreTwoRanks) {
  file("a.csv", kWork);
  file("b.csv", std::string(kWork) + "5,1,1,G (0),k\n");
  EXPECT_EQ(found(), (Names{"a.csv:0", "b.csv:1"}));
}

TEST_F(NsysReportsTest, SumsBesideATraceArePassedOver) {
  file("run_cuda_gpu_trace.csv", kWork);
  file("run_cuda_gpu_kern_sum.csv", kSums);
  EXPECT_EQ(found(1), (Names{"run_cuda_gpu_trace.csv:own"}));
}

TEST_F(NsysReportsTest, SumsAloneAreLeftToBeRefused) {
  file("run_cuda_gpu_kern_sum.csv", kSums);
  EXPECT_EQ(found(), (Names{"run_cuda_gpu_kern_sum.csv:own"}));
}

}  // namespace
}  // namespace aaco::importers::grouping
