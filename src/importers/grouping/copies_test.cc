#include "importers/grouping/copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"

namespace aaco::importers::grouping {
namespace {

constexpr std::string_view kTrace =
    R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0}}]})";
constexpr std::string_view kKernels =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Dispatch_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
    "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k\",1,1000,2000\n";
constexpr std::string_view kAgents = "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\"\n0,0,\"CPU\",\"x\"\n";

class ImportCopiesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "copies");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  void file(const std::string& name, std::string_view text) {
    const std::string path = core::join_path(folder_->path(), name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(core::write_file_atomic(path, text).has_value());
  }
  // The names of the files that are read, and the reasons of the others.
  std::vector<std::string> read() {
    const auto inputs = find_inputs({folder_->path()});
    if (!inputs) return {inputs.error().text()};
    std::vector<std::string> names;
    for (const auto& each : inputs->files) names.push_back(core::base_name(each.path));
    std::sort(names.begin(), names.end());
    for (const auto& each : inputs->passed) names.push_back(core::base_name(each.path) + ": " + each.reason);
    return names;
  }
  std::optional<core::TemporaryDirectory> folder_;
};

using Names = std::vector<std::string>;

TEST_F(ImportCopiesTest, CopyOfAFileIsNotASecondRank) {
  file("a.json", kTrace);
  file("b.json", kTrace);
  file("kept/c.json", kTrace);
  EXPECT_EQ(read(), (Names{"a.json", "b.json: same content as a.json, which was imported",
                           "c.json: same content as a.json, which was imported"}));
}

TEST_F(ImportCopiesTest, NamesOfRanksMakeRanksOfEqualTraces) {
  file("rank0.json", kTrace);
  file("rank1.json", kTrace);
  file("rank1.copy.json", kTrace);
  EXPECT_EQ(read(), (Names{"rank0.json", "rank1.copy.json", "rank1.json: same content as rank1.copy.json, which was imported"}));
}

// A profiler with a schedule that repeats writes several traces of a rank.
TEST_F(ImportCopiesTest, ARankThatTwoTracesClaimIsSaid) {
  std::string text(kTrace);
  text.insert(1, R"("distributedInfo":{"rank":0},)");
  file("a.json", text);
  text[text.find("\"ts\":10") + 5] = '9';
  file("b.json", text);
  const auto inputs = find_inputs({folder_->path()});
  ASSERT_TRUE(inputs.has_value());
  EXPECT_EQ(inputs->files[0].rank, 0);
  EXPECT_EQ(inputs->files[1].rank, 1);
  ASSERT_EQ(inputs->warnings.size(), 1U);
  EXPECT_EQ(inputs->warnings[0].message, "b.json has the same rank (0) as another file: imported as rank 1");
}

TEST_F(ImportCopiesTest, OneByteMakesAnotherTrace) {
  std::string other(kTrace);
  other[other.find("\"dur\":5") + 6] = '6';
  file("a.json", kTrace);
  file("b.json", other);
  file("c.json", std::string(kTrace) + "\n");
  EXPECT_EQ(read(), (Names{"a.json", "b.json", "c.json"}));
}

// Each process lists the same agents: that is no copy.
TEST_F(ImportCopiesTest, TablesOfKernelsTwiceAndOfAgentsEach) {
  file("77_kernel_trace.csv", kKernels);
  file("77_kernel_trace (copy).csv", kKernels);
  file("77_agent_info.csv", kAgents);
  file("78_agent_info.csv", kAgents);
  const auto names = read();
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names[2], "78_agent_info.csv");
  EXPECT_NE(names[3].find("same content as"), std::string::npos);
}

}  // namespace
}  // namespace aaco::importers::grouping
