#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files.h"
#include "core/subprocess.h"
#include "importers/builtin.h"
#include "importers/file_source.h"

namespace aaco::importers {
namespace {

std::string trace_text(int kernels) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < kernels; ++i)
    text += (i > 0 ? "," : "") + std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)") +
            std::to_string(1000 + 10 * i) + R"(.125,"dur":3.5,"args":{"device":0,"stream":7,"correlation":)" +
            std::to_string(i + 1) + "}}";
  return text + "]}";
}

class ImportSourceTest : public testing::Test {
 protected:
  void SetUp() override { folder_.emplace(std::move(*core::TemporaryDirectory::make("/tmp"))); }
  std::string packed(const std::string& text) {
    const std::string path = core::join_path(folder_->path(), "trace.json");
    EXPECT_TRUE(core::write_file_atomic(path, text).has_value());
    const auto made = core::run_command({.arguments = {"gzip", "-f", path}});
    EXPECT_TRUE(made && made->exit_code == 0);
    return path + ".gz";
  }
  core::Result<ImportResult> import(const std::string& path) {
    AACO_ASSIGN(const std::string head, read_head(path));
    const Importer* importer = find_importer(importers_, head, core::base_name(path));
    if (importer == nullptr) return core::fail(core::ErrorCode::invalid_input, "nobody knows it");
    AACO_ASSIGN(const auto source, open_file_source(path));
    return import_source(*importer, *source, sink_);
  }
  std::optional<core::TemporaryDirectory> folder_;
  std::vector<std::unique_ptr<Importer>> importers_ = builtin_importers();
  trace::MemorySink sink_;
};

TEST_F(ImportSourceTest, CompleteFileIsOk) {
  const auto result = import(packed(trace_text(3000)));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(sink_.rows<trace::KernelRow>().size(), 3000U);
  EXPECT_EQ(result->account.state, trace::Account::State::ok);
  EXPECT_TRUE(result->warnings.empty());
}

TEST_F(ImportSourceTest, TruncatedGzipIsReportedAsPartial) {
  const std::string path = packed(trace_text(3000));
  ASSERT_EQ(::truncate(path.c_str(), *core::file_size(path) * 2 / 3), 0);
  const auto result = import(path);
  ASSERT_TRUE(result.has_value());
  EXPECT_GT(sink_.rows<trace::KernelRow>().size(), 500U);
  EXPECT_LT(sink_.rows<trace::KernelRow>().size(), 3000U);
  EXPECT_EQ(result->account.state, trace::Account::State::partial);
  ASSERT_EQ(result->warnings.size(), 2U);
  EXPECT_EQ(result->warnings[1].id, "import.damaged");
}

// Only the check sum at the very end is missing: the JSON is whole, the file is not.
TEST_F(ImportSourceTest, ReportsMissingChecksum) {
  const std::string path = packed(trace_text(300));
  ASSERT_EQ(::truncate(path.c_str(), *core::file_size(path) - 4), 0);
  const auto result = import(path);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(sink_.rows<trace::KernelRow>().size(), 300U);
  EXPECT_EQ(result->account.state, trace::Account::State::partial);
}

TEST_F(ImportSourceTest, RefusesTruncatedHeader) {
  const std::string path = packed(trace_text(300));
  ASSERT_EQ(::truncate(path.c_str(), 9), 0);
  EXPECT_FALSE(import(path).has_value());
}

TEST_F(ImportSourceTest, FlippedBitsNeverUnbalanceTheAccount) {
  const std::string good = trace_text(3);
  const Importer* importer = find_importer(importers_, good, "trace.json");
  ASSERT_NE(importer, nullptr);
  const std::string path = core::join_path(folder_->path(), "flipped.json");
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 11) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(static_cast<unsigned char>(bad[bit / 8]) ^ (1U << (bit % 8)));
    ASSERT_TRUE(core::write_file_atomic(path, bad).has_value());
    const auto source = open_file_source(path);
    ASSERT_TRUE(source.has_value());
    trace::MemorySink sink;
    const auto result = import_source(*importer, **source, sink);
    if (!result) continue;
    EXPECT_EQ(result->account.read, result->account.kept + result->account.dropped_total()) << bit;
    EXPECT_LE(sink.rows<trace::KernelRow>().size(), 3U);
  }
}

TEST_F(ImportSourceTest, ReportsLostRecordsFirst) {
  const auto warns = [&](const std::string& text, const std::string& name) {
    const std::string path = core::join_path(folder_->path(), name);
    EXPECT_TRUE(core::write_file_atomic(path, text).has_value());
    const auto result = import(path);
    EXPECT_TRUE(result.has_value()) << name;
    for (const auto& warning : result->warnings)
      if (warning.id == "import.records_lost") return warning.message;
    return std::string();
  };
  const std::string header = "Index,KernelName,gpu-id,BeginNs,EndNs\n0,a,0,10,20\n";
  EXPECT_EQ(warns(header, "whole.csv"), "");
  EXPECT_NE(warns(header + "1,a,0,1.5E+15,1.6E+15\n2,a,0,30,20\n", "lossy.csv").find("2 of 3 records"), std::string::npos);
  EXPECT_NE(warns(header + "1,a\n", "short.csv").find("fewer fields"), std::string::npos);
  const std::string log = "timestamp, index, name, power.draw [W]\n2025/06/01 10:00:00.1, 0, NVIDIA H100, 300 W\n";
  EXPECT_EQ(warns(log, "whole_log.csv"), "");
  EXPECT_NE(warns(log + "2025/06/01 10:00:01.1, 0, NVIDIA H100, 300,5 W\n", "log.csv").find("invalid line"), std::string::npos);
  EXPECT_NE(warns(log + "01-06-25 10h, 0, NVIDIA H100, 300 W\n", "unstamped.csv").find("timestamp"), std::string::npos);
  std::string trace = trace_text(3);
  EXPECT_EQ(warns(trace, "whole.json"), "");
  EXPECT_NE(warns(trace.replace(trace.find("\"dur\":3.5"), 9, "\"dur\":-35"), "lossy.json").find("negative duration"),
            std::string::npos);
}

}  // namespace
}  // namespace aaco::importers
