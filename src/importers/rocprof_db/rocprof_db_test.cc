#include "importers/rocprof_db.h"

#include <map>

#include "importers/any_database.h"
#include "importers/database/database_testing.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::rocprof_db {
namespace {

constexpr const char* kDispatches =
    R"sql(CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER, "queue-index" INTEGER, "pid" INTEGER, "tid" INTEGER, "grd" INTEGER, "wgr" INTEGER, "lds" INTEGER, "scr" INTEGER, "arch_vgpr" INTEGER, "accum_vgpr" INTEGER, "sgpr" INTEGER, "wave_size" INTEGER, "sig" INTEGER, "obj" INTEGER, "SQ_WAVES" INTEGER, "DispatchNs" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER, "CompleteNs" INTEGER, "DurationNs" INTEGER);
INSERT INTO KERN VALUES(0,'"gemm(float*)"',8,0,0,1,2,257,64,512,0,16,0,32,64,'0x0','0x7f',128,1000,2000,2100,2200,100),(1,'"fill.kd"',8,0,1,1,2,64,64,0,0,8,0,8,64,'0x0','0x7f',1,1000,3000,2900,3200,-100);)sql";
constexpr const char* kActivities =
    R"sql(CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT, "Index" INTEGER);
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER);
INSERT INTO HIP VALUES(10,20,1,2,'hipLaunchKernel','()',5);
INSERT INTO OPS VALUES(30,40,3,1,'"gemm"',1,2,5),(50,60,3,1,'CopyHostToDevice',1,2,6);)sql";

class RocprofDbTest : public DatabaseTest {};

TEST_F(RocprofDbTest, DispatchesWithCounters) {
  const std::string path = make(kDispatches);
  EXPECT_TRUE(make_importer()->sniff(*read_head(path), "results.db"));
  const auto read = import(*make_importer(), path);
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  const auto& kernels = read.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(read.sink.text(kernels[0].name), "gemm(float*)");
  EXPECT_EQ(kernels[0].device, 8);
  EXPECT_EQ(kernels[0].grid_x, 5);
  EXPECT_EQ(kernels[0].start_ns, 2000);
  EXPECT_EQ(read.sink.rows<trace::KernelCounterRow>().size(), 2u);
}

TEST_F(RocprofDbTest, CallsAndWhatTheyCaused) {
  const auto read = import(*any_database::make_importer(), make(kActivities));
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  ASSERT_EQ(read.sink.rows<trace::KernelRow>().size(), 1u);
  EXPECT_EQ(read.sink.rows<trace::KernelRow>()[0].correlation_id, 5u);
  EXPECT_EQ(read.sink.text(read.sink.rows<trace::KernelRow>()[0].name), "gemm");
  ASSERT_EQ(read.sink.rows<trace::CopyRow>().size(), 1u);
  EXPECT_EQ(read.sink.text(read.sink.rows<trace::CopyRow>()[0].kind), "h2d");
  ASSERT_EQ(read.sink.rows<trace::ApiCallRow>().size(), 1u);
  EXPECT_EQ(read.sink.text(read.sink.rows<trace::ApiCallRow>()[0].domain), "hip");
}

TEST_F(RocprofDbTest, KernelsOfBothTablesAreNotCountedTwice) {
  const auto read = import(*make_importer(), make(std::string(kActivities) + kDispatches));
  ASSERT_TRUE(read.result.has_value());
  EXPECT_EQ(read.sink.rows<trace::KernelRow>().size(), 1u);
  EXPECT_EQ(read.result->account.dropped.at("also in the dispatch table"), 1);
}

TEST_F(RocprofDbTest, ProcessesWithGpuWorkAreRanks) {
  const auto read =
      import(*make_importer(), make(std::string(kActivities) + "INSERT INTO OPS VALUES(35,45,3,1,'gemm',9,9,5);"
                                                               "INSERT INTO HIP VALUES(12,22,9,9,'hipLaunchKernel','()',5);"));
  ASSERT_TRUE(read.result.has_value());
  ASSERT_EQ(read.sink.rows<trace::KernelRow>().size(), 2u);
  EXPECT_EQ(read.sink.rows<trace::KernelRow>()[1].rank, 1);
  EXPECT_EQ(read.sink.rows<trace::ApiCallRow>()[0].rank, 0);
  EXPECT_EQ(read.sink.rows<trace::ApiCallRow>()[1].rank, 1);
}

TEST_F(RocprofDbTest, DoesNotMixIdsOfProcesses) {
  const auto read =
      import(*make_importer(), make(std::string(kActivities) + "INSERT INTO HIP VALUES(12,22,9,9,'hipLaunchKernel','()',5);"));
  ASSERT_EQ(read.sink.rows<trace::ApiCallRow>().size(), 2u);
  EXPECT_EQ(read.sink.rows<trace::ApiCallRow>()[0].correlation_id, 5u);
  EXPECT_EQ(read.sink.rows<trace::ApiCallRow>()[1].correlation_id, 0u);
}

TEST_F(RocprofDbTest, Refusals) {
  for (const char* sql : {"CREATE TABLE KERN(x)", "CREATE TABLE HIP(\"BeginNs\" INTEGER)"})
    EXPECT_EQ(import(*make_importer(), make(sql)).result.error().code, core::ErrorCode::invalid_input) << sql;
}

TEST_F(RocprofDbTest, CutEverywhere) {
  const std::string path = make(std::string("PRAGMA page_size=512;") + kDispatches + kActivities);
  cut_everywhere(*make_importer(), path, import(*make_importer(), path).result->account.kept, 512);
}

// The second path: SQL over the file.
TEST_F(RocprofDbTest, RealDatabasesEqualSums) {
  int databases = 0;
  for (const char* name :
       {"ROCm_aiter_root", "amd_HPCTrainingExamples_finite_difference", "amd_HPCTrainingExamples_finite_difference/kernel1"}) {
    const std::string path = real_trace(std::string("rocprof_legacy/") + name + "/results.db", AACO_SOURCE_DIR);
    if (path.empty()) continue;
    ++databases;
    const auto read = import(*make_importer(), path);
    ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> ours, theirs;
    for (const auto& row : read.sink.rows<trace::KernelRow>()) {
      auto& [count, sum] = ours[std::string(read.sink.text(row.name))];
      ++count, sum += row.end_ns - row.start_ns;
    }
    const auto database = formats::sqlite::Database::open(path);
    auto rows = database->query("SELECT trim(KernelName,'\"'), count(*), sum(DurationNs) FROM KERN GROUP BY 1");
    ASSERT_TRUE(rows.has_value());
    while (*rows->next()) theirs[std::string(rows->text(0))] = {*rows->integer(1), *rows->integer(2)};
    EXPECT_EQ(ours, theirs);
  }
  if (databases == 0) GTEST_SKIP() << "skipped, no real data";
}

}  // namespace
}  // namespace aaco::importers::rocprof_db
