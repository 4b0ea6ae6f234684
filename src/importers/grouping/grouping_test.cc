#include "importers/grouping.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/files.h"

namespace aaco::importers::grouping {
namespace {

std::string trace(int rank, int start) {
  return R"({"distributedInfo":{"backend":"nccl","rank":)" + std::to_string(rank) +
         R"(,"world_size":2},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(start) +
         R"(,"dur":5,"args":{"device":0}}]})";
}
constexpr std::string_view kKernels =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Dispatch_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
    "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k\",1,1000,2000\n";

class GroupingTest : public testing::Test {
 protected:
  void SetUp() override { folder_.emplace(std::move(*core::TemporaryDirectory::make(testing::TempDir(), "grouping"))); }
  void file(const std::string& name, std::string_view text) {
    const std::string path = core::join_path(folder_->path(), name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(core::write_file_atomic(path, text));
  }
  core::Result<Inputs> inputs() { return find_inputs({folder_->path()}); }
  std::optional<core::TemporaryDirectory> folder_;
};

TEST_F(GroupingTest, TracesSayTheirRanks) {
  file("a.json", trace(1, 10));
  file("b.json", trace(0, 20));
  const auto found = inputs();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->files.size(), 2U);
  EXPECT_EQ(found->files[0].rank, 1);
  EXPECT_EQ(found->files[1].rank, 0);
  EXPECT_TRUE(found->warnings.empty());
}

TEST_F(GroupingTest, ARankThatIsTakenIsAWarning) {
  file("a.json", trace(1, 10));
  file("b.json", trace(1, 20));
  const auto found = inputs();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->warnings.size(), 1U);
  EXPECT_EQ(found->warnings[0].id, "import.rank_taken");
  EXPECT_NE(found->files[0].rank, found->files[1].rank);
}

TEST_F(GroupingTest, CaptureTraceIsExcludedFromTheTraces) {
  file("run.json", trace(0, 10));
  file("capture_bs8.json", trace(0, 20));
  const auto found = inputs();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files.size(), 1U);
  ASSERT_EQ(found->captures.size(), 1U);
  EXPECT_EQ(core::base_name(found->captures[0]), "capture_bs8.json");
}

TEST_F(GroupingTest, ALoneCaptureIsReadAsATrace) {
  file("capture_bs8.json", trace(0, 20));
  const auto found = inputs();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files.size(), 1U);
  EXPECT_TRUE(found->captures.empty());
}

TEST_F(GroupingTest, PassesOfRocprofv3KeepTheirNumber) {
  file("pass_1/77_kernel_trace.csv", kKernels);
  file("pass_2/77_kernel_trace.csv", std::string(kKernels) + "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k\",2,3000,4000\n");
  const auto found = inputs();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->files.size(), 2U);
  for (const InputFile& file : found->files) {
    ASSERT_TRUE(file.place);
    EXPECT_EQ(file.pass, file.place->pass);
    EXPECT_EQ(file.table, RocmTable::kernels);
  }
}

TEST_F(GroupingTest, WithoutAProfileItFails) {
  EXPECT_FALSE(inputs());
  file("notes.txt", "nothing of a profiler\n");
  EXPECT_FALSE(inputs());
  EXPECT_FALSE(find_inputs({folder_->path() + "/absent"}));
}

}  // namespace
}  // namespace aaco::importers::grouping
