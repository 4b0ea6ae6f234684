#include "runner/profilers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/files.h"

namespace aaco::runner::profilers {
namespace {

using Words = std::vector<std::string>;

class ProfilersTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "profilers");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  void program(const std::string& name, const std::string& body) {
    const std::string path = core::join_path(folder_->path(), name);
    ASSERT_TRUE(core::write_file_atomic(path, "#!/bin/sh\n" + body + "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] ProfileRequest request(Words domains, Words counters) const {
    return {{"./app", "--json", "x y"}, std::move(domains), std::move(counters), folder_->path()};
  }
  std::optional<core::TemporaryDirectory> folder_;
};

TEST_F(ProfilersTest, FindsRocprofv3FirstAndAsksItsVersion) {
  program("rocprof", "echo rocprof 6.1.2");
  program("rocprofv3", "printf '        version: 1.0.0\\n   git_revision: 8bb59\\n   rocm_version: 7.0.1\\n'");
  const auto found = find_profiler(folder_->path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tool, Tool::rocprofv3);
  EXPECT_EQ(found->version, "1.0.0");
}

TEST_F(ProfilersTest, FallsBackToRocprof) {
  program("rocprof", "echo 'ROCm version: 6.1.2-95'; exit 1");
  const auto found = find_profiler(folder_->path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tool, Tool::rocprof);
  EXPECT_EQ(found->version, "6.1.2");
}

TEST_F(ProfilersTest, AcceptsProfilerWithoutVersion) {
  program("rocprofv3", "exit 1");
  const auto found = find_profiler(folder_->path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->version, "");
}

TEST_F(ProfilersTest, UnsupportedWithRemedyWithoutProfiler) {
  const auto found = find_profiler(folder_->path());
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, core::ErrorCode::unsupported);
  EXPECT_NE(found.error().remedy.find("rocprofiler-sdk"), std::string::npos);
}

TEST_F(ProfilersTest, TheTraceOfRocprofv3) {
  const auto commands = build_commands({Tool::rocprofv3, "/opt/rocm/bin/rocprofv3", "1.0.0"}, request({"kernel", "hip"}, {}));
  ASSERT_TRUE(commands.has_value());
  ASSERT_EQ(commands->size(), 1U);
  EXPECT_EQ((*commands)[0].arguments, (Words{"/opt/rocm/bin/rocprofv3", "--kernel-trace", "--hip-trace", "--output-format", "csv",
                                             "-d", folder_->path(), "-o", "out", "--", "./app", "--json", "x y"}));
}

TEST_F(ProfilersTest, CountersNeedASeparateRun) {
  const auto commands = build_commands({Tool::rocprofv3, "rocprofv3", ""}, request({"kernel"}, {"SQ_WAVES", "TCC_HIT[0]"}));
  ASSERT_TRUE(commands.has_value());
  ASSERT_EQ(commands->size(), 2U);
  EXPECT_EQ((*commands)[1].what, "counters");
  const Words& words = (*commands)[1].arguments;
  EXPECT_EQ((Words{words.begin() + 1, words.begin() + 4}), (Words{"--pmc", "SQ_WAVES", "TCC_HIT[0]"}));
  EXPECT_NE(std::find(words.begin(), words.end(), core::join_path(folder_->path(), "pmc_1")), words.end());
}

TEST_F(ProfilersTest, OldRocprofv3ReadsItsCountersFromAFile) {
  ASSERT_TRUE(build_commands({Tool::rocprofv3, "rocprofv3", "0.4.0"}, request({}, {"SQ_WAVES", "GRBM_COUNT"})).has_value());
  EXPECT_EQ(core::read_file(core::join_path(folder_->path(), "counters.txt")).value_or(""), "pmc: SQ_WAVES GRBM_COUNT\n");
}

TEST_F(ProfilersTest, UsesRocprofOptions) {
  const auto commands = build_commands({Tool::rocprof, "rocprof", "6.1"}, request(default_domains(), {}));
  ASSERT_TRUE(commands.has_value());
  EXPECT_EQ((*commands)[0].arguments, (Words{"rocprof", "--stats", "--hip-trace", "--roctx-trace", "--timestamp", "on", "-o",
                                             core::join_path(folder_->path(), "results.csv"), "./app", "--json", "x y"}));
  const auto refused = build_commands({Tool::rocprof, "rocprof", "6.1"}, request({"rccl"}, {}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, core::ErrorCode::unsupported);
}

TEST_F(ProfilersTest, RefusesEmptyRequest) {
  EXPECT_FALSE(build_commands({}, request({}, {})).has_value());
  EXPECT_FALSE(build_commands({}, {{}, {"kernel"}, {}, folder_->path()}).has_value());
}

TEST(ProfilerDomains, AreOrderedAndUnique) {
  EXPECT_EQ(parse_domains("hip, kernel,hip").value_or(Words{}), (Words{"kernel", "hip"}));
  EXPECT_EQ(default_domains(), (Words{"kernel", "hip", "marker", "copy"}));
}

TEST(ProfilerDomains, RefusesTheUnknown) {
  for (const char* list : {"", ",", "gpu", "kernel,gpu", "--kernel-trace"}) EXPECT_FALSE(parse_domains(list).has_value()) << list;
}

TEST(ProfilerCounters, AreNames) {
  EXPECT_EQ(parse_counters("SQ_WAVES, SQ_WAVES,TCC_HIT[1]").value_or(Words{}), (Words{"SQ_WAVES", "TCC_HIT[1]"}));
  for (const char* list : {"", ",", "SQ WAVES", "a;b", "-x", "$(id)"}) EXPECT_FALSE(parse_counters(list).has_value()) << list;
}

TEST(OtherTools, DetectedInTheEnvironment) {
  EXPECT_EQ(
      other_tools({{"HSA_TOOLS_LIB", "librocprofiler64.so"}, {"PATH", "/opt/rocprofiler/bin"}, {"LD_PRELOAD", "libasan.so"}}),
      (Words{"HSA_TOOLS_LIB=librocprofiler64.so"}));
  EXPECT_EQ(other_tools({{"LD_PRELOAD", "/opt/rocm/lib/librocprofiler-sdk-tool.so"}}).size(), 1U);
  EXPECT_TRUE(other_tools({{"HSA_TOOLS_LIB", ""}}).empty());
}

}  // namespace
}  // namespace aaco::runner::profilers
