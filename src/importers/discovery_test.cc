#include "importers/discovery.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/files.h"
#include "formats/sqlite_testing.h"
#include "importers/file_source.h"

namespace aaco::importers {
namespace {

constexpr std::string_view kProfile = R"([{"cat":"Session","ts":1,"dur":2,"name":"model_loading_uri","ph":"X","args":{}},)"
                                      R"({"cat":"Session","ts":10,"dur":5,"name":"model_run","ph":"X","args":{}}])";

class DiscoveryTest : public testing::Test {
 protected:
  void SetUp() override { folder_.emplace(std::move(*core::TemporaryDirectory::make("/tmp"))); }
  void write(const std::string& name, std::string_view text) {
    const std::string path = core::join_path(folder_->path(), name);
    ASSERT_TRUE(core::make_directories(core::parent_path(path)).has_value());
    ASSERT_TRUE(core::write_file_atomic(path, text).has_value());
  }
  [[nodiscard]] core::Result<Discovery> find(const std::string& name = {}) const {
    return discover(name.empty() ? folder_->path() : core::join_path(folder_->path(), name), importers_);
  }
  std::optional<core::TemporaryDirectory> folder_;
  std::vector<std::unique_ptr<Importer>> importers_ = builtin_importers();
};

TEST_F(DiscoveryTest, FindsTheFilesOfAFolderInNaturalOrder) {
  write("rank10/p.json", kProfile);
  write("rank2/p.json", kProfile);
  write("notes.txt", "nothing");
  const auto found = find();
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->files.size(), 2U);
  EXPECT_NE(found->files[0].path.find("rank2/"), std::string::npos);
  EXPECT_EQ(found->files[0].importer->info().name, "ort");
  ASSERT_EQ(found->passed.size(), 1U);
  EXPECT_NE(found->passed[0].reason.find("unknown trace format"), std::string::npos);
  EXPECT_TRUE(found->is_folder);
}

TEST_F(DiscoveryTest, TakesASingleFile) {
  write("p.json", kProfile);
  const auto found = find("p.json");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->files.size(), 1U);
  EXPECT_FALSE(found->is_folder);
}

TEST_F(DiscoveryTest, DetectsFormatAfterByteOrderMark) {
  write("p.json", "\xEF\xBB\xBF" + std::string(kProfile));
  write("q.csv", "\xEF\xBB\xBFtimestamp, index, name, power.draw [W]\n2024/05/01 12:34:56.000, 0, NVIDIA A100, 67.50 W\n");
  EXPECT_EQ(find("p.json")->files.at(0).importer->info().name, "ort");
  const auto found = find("q.csv");
  ASSERT_TRUE(found.has_value()) << found.error().text();
  ASSERT_EQ(found->files.at(0).importer->info().name, "smi");
  trace::MemorySink sink;
  const auto source = open_file_source(found->files[0].path);
  const auto result = found->files[0].importer->import(**source, sink);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(sink.rows<trace::GpuEventRow>().size(), 1U);
}

TEST_F(DiscoveryTest, RefusesUnknownFormats) {
  write("a.txt", "nothing");
  write("empty.json", "");
  EXPECT_EQ(find("a.txt").error().code, core::ErrorCode::invalid_input);
  EXPECT_EQ(find("empty.json").error().code, core::ErrorCode::invalid_input);
  EXPECT_EQ(find("absent").error().code, core::ErrorCode::not_found);
  EXPECT_EQ(find().error().code, core::ErrorCode::invalid_input);
  EXPECT_NE(find().error().message.find("no supported trace among the 2 files"), std::string::npos);
}

TEST_F(DiscoveryTest, RefusesFoldersWithoutTraces) {
  EXPECT_NE(find().error().message.find("the folder contains no files"), std::string::npos);
  write("session.json", "{}");
  EXPECT_NE(find().error().message.find("a session of aaco, not a trace"), std::string::npos);
}

TEST_F(DiscoveryTest, NamesForeignFormatsWithRemedy) {
  const auto says = [&](const std::string& name, std::string_view text, std::string_view what, std::string_view remedy) {
    write(name, std::string(text));
    const auto found = find(name);
    ASSERT_FALSE(found.has_value()) << name;
    EXPECT_NE(found.error().message.find(what), std::string::npos) << found.error().message;
    EXPECT_NE(found.error().remedy.find(remedy), std::string::npos) << found.error().remedy;
  };
  says("a.json.zip", std::string_view("PK\x03\x04\0\0", 6), "a zip archive", "unpack");
  says("a.json.xz",
       "\xFD"
       "7zXZ",
       "an xz file", "unpack");
  says("run.nsys-rep", "any", "Nsight Systems", "nsys export --type sqlite");
  says("run.pftrace", "\n\x05", "a Perfetto trace", "rocprofv3");
  says("trace.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS", "git lfs pull");
  says("x.xml", "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n", "nvidia-smi XML log", "nvidia-smi -q");
  says("et.json", R"({"schema":"1.0.2-chakra.0.0.4","pid":1,"nodes":[{"id":1,"name":"a","ctrl_deps":0}]})", "execution trace",
       "profiler");
  says("k.csv", "Kernel_Name;Dispatch_Id;Start_Timestamp;End_Timestamp\nk;1;2;3\n", "semicolons", "the original profiler file");
  says("t.csv", "Kernel_Name\tDispatch_Id\tStart_Timestamp\tEnd_Timestamp\nk\t1\t2\t3\n", "tabs", "the original profiler file");
}

TEST_F(DiscoveryTest, TruncatedCompressedFileIsNotReportedAsEmpty) {
  write("cut.json.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10));
  const auto found = find("cut.json.gz");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("compressed bytes can be decompressed"), std::string::npos) << found.error().message;
}

TEST_F(DiscoveryTest, ReportsUtf16Text) {
  write("smi.txt", std::string("\xFF\xFE", 2) + std::string("G\0P\0U\0", 6));
  const auto found = find("smi.txt");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("UTF-16"), std::string::npos);
  EXPECT_NE(found.error().remedy.find("iconv"), std::string::npos);
}

// A pipe nobody writes to would be waited for; one that is read for its format is empty afterwards.
TEST_F(DiscoveryTest, RefusesPipes) {
  ASSERT_EQ(::mkfifo(core::join_path(folder_->path(), "pipe").c_str(), 0600), 0);
  const auto found = find("pipe");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("is a pipe or a device"), std::string::npos);
  EXPECT_FALSE(find().has_value());  // nor does a folder with one wait
}

// Also where the first 64 KiB do not show the tables.
TEST_F(DiscoveryTest, KnowsDatabasesByTheirTables) {
  const auto database = [&](const std::string& name, const std::string& sql) {
    const std::string path = core::join_path(folder_->path(), name);
    ASSERT_TRUE(formats::sqlite::make_database(path, "CREATE TABLE first(x); INSERT INTO first VALUES(zeroblob(200000));" + sql)
                    .has_value());
  };
  std::string many;
  for (int i = 0; i < 60; ++i)
    many += "CREATE TABLE \"a table with a long name that fills the first page " + std::to_string(i) + "\"(x);";
  database("1.db", many + "CREATE TABLE rocpd_kernel_dispatch_a(id INTEGER)");
  database("2.rpd", many + "CREATE TABLE \"rocpd_op\"(id INTEGER)");
  database("3.sqlite", many + "CREATE TABLE StringIds(id INTEGER, value TEXT)");
  database("4.db", many + "CREATE TABLE KERN(\"BeginNs\" INTEGER)");
  database("5.db", many);
  const auto found = find();
  ASSERT_TRUE(found.has_value());
  std::vector<std::string> names;
  for (const auto& file : found->files) names.push_back(file.importer->info().name);
  EXPECT_EQ(names, (std::vector<std::string>{"rocpd", "rpd", "nsys", "rocprof"}));
  EXPECT_EQ(found->passed.size(), 1U);
}

}  // namespace
}  // namespace aaco::importers
