#include "importers/rpd.h"

#include <map>

#include "importers/any_database.h"
#include "importers/database/database_testing.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::rpd {
namespace {

constexpr const char* kSchema = R"(
CREATE TABLE "rocpd_metadata" ("id" integer PRIMARY KEY, "tag" varchar(4096), "value" varchar(4096));
CREATE TABLE "rocpd_string" ("id" integer PRIMARY KEY AUTOINCREMENT, "string" varchar(4096));
CREATE TABLE "rocpd_api" ("id" integer PRIMARY KEY, "pid" integer, "tid" integer, "start" integer, "end" integer, "apiName_id" bigint, "category_id" bigint, "domain_id" bigint, "args_id" bigint);
CREATE TABLE "rocpd_kernelapi" ("api_ptr_id" integer PRIMARY KEY, "stream" varchar(18), "gridX" integer, "gridY" integer, "gridZ" integer, "workgroupX" integer, "workgroupY" integer, "workgroupZ" integer, "groupSegmentSize" integer, "privateSegmentSize" integer, "kernelName_id" bigint);
CREATE TABLE "rocpd_copyapi" ("api_ptr_id" integer PRIMARY KEY, "stream" varchar(18), "size" integer, "kind" integer, "dst" varchar(18), "src" varchar(18), "dstDevice" integer, "srcDevice" integer);
CREATE TABLE "rocpd_op" ("id" integer PRIMARY KEY, "gpuId" integer, "queueId" integer, "sequenceId" integer, "start" integer, "end" integer, "description_id" bigint, "opType_id" bigint);
CREATE TABLE "rocpd_api_ops" ("id" integer PRIMARY KEY, "api_id" bigint, "op_id" bigint);
CREATE TABLE "rocpd_monitor" ("id" integer PRIMARY KEY, "deviceType" varchar(16), "deviceId" integer, "monitorType" varchar(16), "start" integer, "end" integer, "value" varchar(255));
INSERT INTO rocpd_metadata VALUES(1,'schema_version','2');
INSERT INTO rocpd_string VALUES(1,''),(2,'hipLaunchKernel'),(3,'gemm'),(4,'KernelExecution'),(5,'CopyHostToDevice'),(6,'hipMemcpy'),
 (7,'UserMarker'),(8,'layer 1'),(9,'hipExtModuleLaunchKernel'),(10,'ncclDevKernel_AllReduce'),(11,'FillBuffer'),(12,'Barrier'),(13,'size=4');
)";

class RpdTest : public DatabaseTest {
 protected:
  Imported read(const std::string& rows) { return import(*make_importer(), make(kSchema + rows)); }
};

// Since 2024: arguments have a table of texts of their own, libraries log domains of theirs, each process a range of ids.
TEST_F(RpdTest, NewerTracersHaveTextsOfArgumentsApart) {
  const auto read_ = read(R"(
CREATE TABLE "rocpd_ustring" ("id" integer PRIMARY KEY, "string" varchar(4096));
CREATE TABLE "ext_callstack" ("id" integer PRIMARY KEY); INSERT INTO ext_callstack VALUES(1);
CREATE TABLE "rocpd_stackframe" ("id" integer PRIMARY KEY); INSERT INTO rocpd_stackframe VALUES(1),(2);
INSERT INTO rocpd_ustring VALUES(2,'layer 7'),(3,'{"seq":-1,"op_id":3,"sizes":[[2,3]]}'),(4,''),(5,'{not json');
INSERT INTO rocpd_string VALUES(20,'roctx'),(21,'torch'),(22,'function'),(23,'user_scope'),(24,'aten::mm'),(25,'Optimizer.step'),(26,'hip'),
 (27,'rpd_tracer'),(28,'Memcpy'),(29,'hipMemsetAsync'),(30,'cuda');
INSERT INTO rocpd_api VALUES(4294967297,7,8,900,2000,7,1,20,2),(4294967298,7,8,910,1900,24,22,21,3),(4294967299,7,8,905,1950,25,23,21,4),
 (4294967300,7,8,1000,1100,2,1,26,5),(8589934593,9,8,1000,1100,2,1,26,4),(8589934594,9,8,1200,1300,6,1,26,4),(8589934595,9,8,1400,1500,29,1,26,4),
 (8589934596,9,8,1600,1700,6,1,27,4),(8589934597,9,8,1800,1900,6,1,30,4);
INSERT INTO rocpd_copyapi VALUES(8589934594,'0x2',4096,2,'0x1','0x2',0,0),(8589934595,'0x2',64,4,'','',0,0);
INSERT INTO rocpd_op VALUES(4294967297,2,0,0,5000,5100,3,4),(8589934593,3,0,0,5000,5200,3,4),(8589934594,3,0,0,6000,6100,1,28),(8589934595,3,0,0,6200,6300,1,28),(8589934596,3,0,0,7000,7100,3,4);
INSERT INTO rocpd_api_ops VALUES(1,4294967300,4294967297),(2,8589934593,8589934593),(3,8589934594,8589934594),(4,8589934595,8589934595);
)");
  ASSERT_TRUE(read_.result.has_value()) << read_.result.error().text();
  std::vector<std::string> calls;
  for (const auto& row : read_.sink.rows<trace::ApiCallRow>())
    calls.push_back(std::to_string(row.rank) + " " + std::string(read_.sink.text(row.domain)) + " " +
                    std::string(read_.sink.text(row.name)) + " " + std::string(read_.sink.text(row.arguments)));
  EXPECT_EQ(calls, (std::vector<std::string>{"0 marker layer 7 ", R"(0 cpu_op aten::mm {"seq":-1,"op_id":3,"sizes":[[2,3]]})",
                                             "0 annotation Optimizer.step ", R"(0 hip hipLaunchKernel {"text":"{not json"})",
                                             "1 hip hipLaunchKernel ", "1 hip hipMemcpy ", "1 hip hipMemsetAsync ",
                                             "1 profiler_overhead hipMemcpy ", "1 cuda_runtime hipMemcpy "}));
  std::vector<std::pair<std::int32_t, std::int64_t>> kernels;
  for (const auto& row : read_.sink.rows<trace::KernelRow>()) kernels.emplace_back(row.rank, row.device);
  EXPECT_EQ(kernels, (std::vector<std::pair<std::int32_t, std::int64_t>>{{0, 2}, {1, 3}, {1, 3}}));  // the last by its device
  const auto& copies = read_.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(read_.sink.text(copies[0].kind), "d2h");
  EXPECT_EQ(read_.sink.text(copies[1].kind), "memset");
  EXPECT_EQ(read_.result->account.dropped,
            (std::map<std::string, std::int64_t>{{"a row of rocpd_stackframe, a table that is not imported", 2}}));
  EXPECT_EQ(read_.result->facts["ranks"].items().size(), 2u);
  EXPECT_EQ(any_database::processes_of(make(kSchema)).count, 1u);
}

TEST_F(RpdTest, JoinsOperationsToTheirCalls) {
  const auto read_ = read(R"(
INSERT INTO rocpd_api VALUES(100,7,8,1000,1100,2,0,0,1),(101,7,8,1200,1300,9,0,0,13),(102,7,8,1400,1500,6,0,0,1),(103,7,9,900,2000,7,0,0,8);
INSERT INTO rocpd_kernelapi VALUES(100,'0x1f',4,2,1,64,1,1,512,0,3),(101,'0x0',257,2,1,64,2,1,0,16,3);
INSERT INTO rocpd_copyapi VALUES(102,'0x2',4096,1,'0x1','0x2',0,0);
INSERT INTO rocpd_op VALUES(1,2,3,0,5000,5100,3,4),(2,2,3,1,5200,5300,10,4),(3,2,3,2,5400,5500,1,5),(4,2,3,3,5600,5700,1,11),(5,2,3,4,1,2,1,12);
INSERT INTO rocpd_api_ops VALUES(1,100,1),(2,101,2),(3,102,3),(4,100,1);
INSERT INTO rocpd_monitor VALUES(1,'gpu',0,'sclk',10,20,'1700'),(2,'gpu',0,'power',10,20,'350.5'),(3,'gpu',0,'sclk',20,30,'N/A'),(4,'gpu',0,'odd',20,30,'1'),(5,'cpu',0,'sclk',20,30,'1');
)");
  ASSERT_TRUE(read_.result.has_value()) << read_.result.error().text();
  const auto& kernels = read_.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(read_.sink.text(kernels[0].name), "gemm");
  EXPECT_EQ(kernels[0].device, 2);
  EXPECT_EQ(kernels[0].queue, 3);
  EXPECT_EQ(kernels[0].stream, 31);
  EXPECT_EQ(kernels[0].correlation_id, 100u);
  EXPECT_EQ(kernels[0].grid_x, 4);  // groups
  EXPECT_EQ(kernels[0].lds_bytes, 512);
  EXPECT_EQ(kernels[1].grid_x, 5);  // 257 work-items in groups of 64
  EXPECT_EQ(kernels[1].grid_y, 1);
  EXPECT_EQ(kernels[1].scratch_bytes, 16);
  ASSERT_EQ(read_.sink.rows<trace::CollectiveRow>().size(), 1u);
  EXPECT_EQ(read_.sink.text(read_.sink.rows<trace::CollectiveRow>()[0].operation), "all_reduce");
  const auto& copies = read_.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(read_.sink.text(copies[0].kind), "h2d");
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(copies[0].target_device, std::nullopt);
  EXPECT_EQ(read_.sink.text(copies[1].kind), "memset");
  EXPECT_EQ(copies[1].bytes, std::nullopt);
  const auto& calls = read_.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(read_.sink.text(calls[0].domain), "hip");
  EXPECT_EQ(read_.sink.text(calls[1].arguments), R"({"text":"size=4"})");
  EXPECT_EQ(read_.sink.text(calls[3].domain), "marker");
  EXPECT_EQ(read_.sink.text(calls[3].name), "layer 1");
  const auto& events = read_.sink.rows<trace::GpuEventRow>();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(read_.sink.text(events[0].metric), "gpu.clock_hz");
  EXPECT_EQ(events[0].value, 1.7e9);
  EXPECT_EQ(events[1].value, 350.5);
  EXPECT_EQ(read_.result->account.kept, 10);
  EXPECT_EQ(read_.result->account.dropped_total(), 4);
  EXPECT_EQ(read_.result->facts["metadata"]["schema_version"].text(), "2");
}

TEST_F(RpdTest, CountsImpossibleRows) {
  const auto imported = read(R"(
INSERT INTO rocpd_op VALUES(1,0,0,0,200,100,3,4),(2,0,0,0,0,0,3,4),(3,0,0,0,'soon',100,3,4),(4,NULL,NULL,NULL,100,200,999,4),(5,0,0,0,NULL,NULL,3,4),(6,'x','y','z',100,200,'a','b');
)");
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(imported.result->account.kept, 2);
  EXPECT_EQ(imported.result->account.dropped.at(kRowEndsEarly), 1);
  EXPECT_EQ(imported.result->account.dropped.at(kRowWithoutTimes), 3);
  EXPECT_EQ(imported.sink.text(imported.sink.rows<trace::KernelRow>()[0].name), "KernelExecution");
}

TEST_F(RpdTest, MissingTablesAndColumns) {
  const auto bare = import(*make_importer(), make("CREATE TABLE \"rocpd_op\"(start, end); INSERT INTO rocpd_op VALUES(5,9)"));
  ASSERT_TRUE(bare.result.has_value()) << bare.result.error().text();
  EXPECT_EQ(bare.sink.rows<trace::KernelRow>().size(), 1u);
  const auto other = import(*make_importer(), make("CREATE TABLE t(x)"));
  ASSERT_FALSE(other.result.has_value());
  EXPECT_EQ(other.result.error().code, core::ErrorCode::invalid_input);
  const auto newer = read("UPDATE rocpd_metadata SET value='9'");
  ASSERT_TRUE(newer.result.has_value());
  EXPECT_EQ(newer.result->warnings.at(0).id, "import.newer_schema");
}

TEST_F(RpdTest, CutEverywhere) {
  std::string rows = "BEGIN;";
  for (int i = 1; i <= 300; ++i)
    rows += "INSERT INTO rocpd_op VALUES(" + std::to_string(i) + ",0,0,0," + std::to_string(i * 10) + "," +
            std::to_string(i * 10 + 5) + ",3,4);";
  const std::string path = make(kSchema + rows + "COMMIT");
  const auto whole = import(*make_importer(), path);
  ASSERT_TRUE(whole.result.has_value());
  EXPECT_EQ(whole.result->account.kept, 300);
  cut_everywhere(*make_importer(), path, 300, 1024);
}

// A write-ahead log beside the file belongs to it.
TEST_F(RpdTest, RowsInTheLogAreRead) {
  const std::string path = make(std::string("PRAGMA journal_mode=WAL;") + kSchema);
  const std::string live = core::join_path(folder_->path(), "live.db");
  {
    // The log stays only while somebody has the database open: copy both in that state.
    const auto reader = formats::sqlite::Database::open(path, formats::sqlite::Database::Mode::own_copy);
    ASSERT_TRUE(reader.has_value());
    ASSERT_TRUE(formats::sqlite::make_database(path, "INSERT INTO rocpd_op VALUES(1,0,0,0,100,200,3,4)").has_value());
    for (const char* suffix : {"", "-wal"}) {
      const auto bytes = core::read_file(path + suffix);
      ASSERT_TRUE(bytes.has_value());
      ASSERT_TRUE(core::write_file_atomic(live + suffix, *bytes).has_value());
    }
  }
  const auto imported = import(*make_importer(), live);
  ASSERT_TRUE(imported.result.has_value()) << imported.result.error().text();
  EXPECT_EQ(imported.sink.rows<trace::KernelRow>().size(), 1u);
  EXPECT_FALSE(core::exists(live + "-shm"));
}

// The second path: the sums of rocmProfileData's own "top" view, in ns.
TEST_F(RpdTest, RealDatabaseEqualsItsOwnStatistics) {
  const std::string path = real_trace("rpd_db/ROCm_rocmProfileData/matmul_result.rpd", AACO_SOURCE_DIR);
  if (path.empty()) GTEST_SKIP() << "skipped, no real data";
  const auto imported = import(*make_importer(), path);
  ASSERT_TRUE(imported.result.has_value()) << imported.result.error().text();
  EXPECT_EQ(imported.result->account.dropped_total(), 0);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ours, theirs;
  for (const auto& row : imported.sink.rows<trace::KernelRow>()) {
    auto& [count, sum] = ours[std::string(imported.sink.text(row.name))];
    ++count, sum += row.end_ns - row.start_ns;
    EXPECT_NE(row.correlation_id, 0u);
  }
  for (const auto& row : imported.sink.rows<trace::CopyRow>()) {
    const auto kind = imported.sink.text(row.kind);
    auto& [count, sum] = ours[kind == "h2d" ? "CopyHostToDevice" : kind == "d2h" ? "CopyDeviceToHost" : "FillBuffer"];
    ++count, sum += row.end_ns - row.start_ns;
  }
  const auto database = formats::sqlite::Database::open(path);
  auto rows = database->query(
      "SELECT CASE WHEN d.string='' THEN t.string ELSE d.string END AS n, count(*), sum(o.end-o.start) FROM rocpd_op o"
      " JOIN rocpd_string d ON d.id=o.description_id JOIN rocpd_string t ON t.id=o.opType_id GROUP BY n");
  ASSERT_TRUE(rows.has_value()) << rows.error().text();
  while (*rows->next()) theirs[std::string(rows->text(0))] = {*rows->integer(1), *rows->integer(2)};
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(static_cast<std::int64_t>(imported.sink.rows<trace::ApiCallRow>().size()), *database->count("rocpd_api"));
  EXPECT_EQ(static_cast<std::int64_t>(imported.sink.rows<trace::GpuEventRow>().size()), *database->count("rocpd_monitor"));
}

// The tool beside the profiler writes a line an event, in whole microseconds.
TEST_F(RpdTest, ItsJsonIsKnownByFormAndTime) {
  const std::string path =
      make(std::string(kSchema) + "INSERT INTO rocpd_op VALUES(1,2,0,0,5999500,7000000,3,4),(2,2,0,0,9000000,9000001,3,4);");
  const auto json = [](const char* time) {
    return std::string("[ {}\n,{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":\"7\",\"ts\":\"1\",\"args\":{}}\n") +
           ",{\"pid\":\"2\",\"tid\":\"0\",\"name\":\"gemm\",\"ts\":" + time +
           ",\"dur\":\"1000\",\"ph\":\"X\",\"args\":{\"desc\":\"KernelExecution\"}}\n]";
  };
  EXPECT_TRUE(is_export_of(json("\"5999\""), path));
  EXPECT_TRUE(is_export_of(json("5999.5"), path));
  EXPECT_FALSE(is_export_of(json("\"7000\""), path));  // another run
  EXPECT_FALSE(is_export_of(json("\"x\""), path));
  EXPECT_FALSE(is_export_of(json("\"0\""), path));
  EXPECT_FALSE(is_export_of("{\"traceEvents\":[{\"ts\":5999}]}", path));
  EXPECT_FALSE(is_export_of(json("\"5999\""), path + ".none"));
}

}  // namespace
}  // namespace aaco::importers::rpd
