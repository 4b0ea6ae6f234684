#include "importers/file_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files.h"
#include "core/subprocess.h"

namespace aaco::importers {
namespace {

class FileSourceTest : public testing::Test {
 protected:
  void SetUp() override { folder_.emplace(std::move(*core::TemporaryDirectory::make("/tmp"))); }
  // Writes the text and packs it with the tool of that name ("gzip", "zstd"); the packed file's path.
  std::string packed(const std::string& tool, const std::string& text) {
    const std::string path = plain(text);
    const auto made = core::run_command({.arguments = {tool, "-q", "-f", path}});
    if (!made || made->exit_code != 0) return {};
    return path + (tool == "gzip" ? ".gz" : ".zst");
  }
  std::string plain(const std::string& text) {
    const std::string path = core::join_path(folder_->path(), "trace.json");
    EXPECT_TRUE(core::write_file_atomic(path, text).has_value());
    return path;
  }
  std::optional<core::TemporaryDirectory> folder_;
};

struct Got {
  std::string text;
  std::string damage;
  std::optional<core::Error> error;
};

Got get(const std::string& path, const ExpansionLimits& limits = {}) {
  Got got;
  auto source = open_file_source(path, limits);
  if (!source) {
    got.error = source.error();
    return got;
  }
  std::string block(70001, '\0');
  for (;;) {
    const auto count = (*source)->read(block);
    if (!count) {
      got.error = count.error();
      return got;
    }
    if (*count == 0) break;
    got.text.append(block, 0, *count);
  }
  got.damage = (*source)->damage();
  return got;
}

std::string sample(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "{\"ts\": " + std::to_string(std::int64_t{104729} * i) + "},\n";
  return text;
}

TEST_F(FileSourceTest, ReadsAPlainFile) {
  EXPECT_EQ(get(plain(sample(5000))).text, sample(5000));
  EXPECT_EQ(get(plain("x")).text, "x");
  EXPECT_EQ(get(plain("")).text, "");
}

TEST_F(FileSourceTest, ReadsGzip) {
  const std::string path = packed("gzip", sample(200000));
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(get(path).text, sample(200000));
  EXPECT_EQ(get(path).damage, "");
  EXPECT_EQ(*read_head(path), sample(200000).substr(0, kHeadBytes));
}

TEST_F(FileSourceTest, ReadsZstd) {
  const std::string path = packed("zstd", sample(200000));
  if (path.empty()) GTEST_SKIP() << "skipped, no zstd program";
  EXPECT_EQ(get(path).text, sample(200000));
  EXPECT_EQ(get(path).damage, "");
}

TEST_F(FileSourceTest, TruncatedGzipYieldsItsStartAndReportsDamage) {
  const std::string path = packed("gzip", sample(50000));
  ASSERT_FALSE(path.empty());
  ASSERT_EQ(::truncate(path.c_str(), *core::file_size(path) / 2), 0);
  const Got got = get(path);
  EXPECT_FALSE(got.error);
  EXPECT_TRUE(sample(50000).starts_with(got.text));
  EXPECT_GT(got.text.size(), 1000U);
  EXPECT_NE(got.damage.find("ends early"), std::string::npos) << got.damage;
}

TEST_F(FileSourceTest, RefusesDecompressionBombs) {
  const std::string path = packed("gzip", std::string(std::size_t{8} << 20, ' '));
  ASSERT_FALSE(path.empty());
  const Got got = get(path, {.always_allowed_bytes = 1 << 20, .largest_ratio = 500});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, core::ErrorCode::exhausted);
  EXPECT_NE(got.error->message.find("bomb"), std::string::npos);
  EXPECT_FALSE(get(path).error);  // small enough for any ratio
}

TEST_F(FileSourceTest, EnforcesTheSizeLimit) {
  const std::string path = packed("gzip", sample(50000));
  const Got got = get(path, {.always_allowed_bytes = 100, .largest_bytes = 1000});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, core::ErrorCode::exhausted);
}

TEST_F(FileSourceTest, ReportsInvalidPaths) {
  EXPECT_EQ(get(folder_->path() + "/nothing").error->code, core::ErrorCode::not_found);
  EXPECT_EQ(get(folder_->path()).error->code, core::ErrorCode::invalid_argument);
  EXPECT_FALSE(read_head(folder_->path()).has_value());
}

TEST_F(FileSourceTest, EarlyStopLeavesNoThread) {
  const std::string path = packed("gzip", sample(400000));
  auto source = open_file_source(path);
  ASSERT_TRUE(source.has_value());
  char byte = 0;
  EXPECT_EQ(*(*source)->read({&byte, 1}), 1U);
}

}  // namespace
}  // namespace aaco::importers
