#include "importers/rocpd.h"

#include <algorithm>
#include <map>

#include "importers/any_database.h"
#include "importers/database/database_testing.h"

namespace aaco::importers::rocpd {
namespace {

// The tables of one process, SUFFIX behind their names.
constexpr const char* kSchema = R"(
CREATE TABLE "rocpd_metadataSUFFIX"("id" INTEGER PRIMARY KEY AUTOINCREMENT, "tag" TEXT, "value" TEXT);
CREATE TABLE "rocpd_stringSUFFIX"("id" INTEGER PRIMARY KEY AUTOINCREMENT, "guid" TEXT, "string" TEXT);
CREATE TABLE "rocpd_info_nodeSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "hash" BIGINT, "machine_id" TEXT, "system_name" TEXT, "hostname" TEXT, "release" TEXT, "version" TEXT, "hardware_name" TEXT, "domain_name" TEXT);
CREATE TABLE "rocpd_info_processSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "ppid" INTEGER, "pid" INTEGER, "init" BIGINT, "fini" BIGINT, "start" BIGINT, "end" BIGINT, "command" TEXT, "environment" JSONB, "extdata" JSONB);
CREATE TABLE "rocpd_info_threadSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "ppid" INTEGER, "pid" INTEGER, "tid" INTEGER, "name" TEXT, "start" BIGINT, "end" BIGINT, "extdata" JSONB);
CREATE TABLE "rocpd_info_agentSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "type" TEXT, "absolute_index" INTEGER, "logical_index" INTEGER, "type_index" INTEGER, "uuid" INTEGER, "name" TEXT, "model_name" TEXT, "vendor_name" TEXT, "product_name" TEXT, "user_name" TEXT, "extdata" JSONB);
CREATE TABLE "rocpd_info_pmcSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "agent_id" INTEGER, "name" TEXT, "symbol" TEXT);
CREATE TABLE "rocpd_info_kernel_symbolSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "code_object_id" INTEGER, "kernel_name" TEXT, "display_name" TEXT, "sgpr_count" INTEGER, "arch_vgpr_count" INTEGER, "accum_vgpr_count" INTEGER);
CREATE TABLE "rocpd_trackSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER, "name_id" INTEGER, "extdata" JSONB);
CREATE TABLE "rocpd_eventSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "category_id" INTEGER, "stack_id" INTEGER, "parent_stack_id" INTEGER, "correlation_id" INTEGER, "call_stack" JSONB, "line_info" JSONB, "extdata" JSONB);
CREATE TABLE "rocpd_pmc_eventSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "event_id" INTEGER, "pmc_id" INTEGER, "value" REAL, "extdata" JSONB);
CREATE TABLE "rocpd_regionSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER, "start" BIGINT, "end" BIGINT, "name_id" INTEGER, "event_id" INTEGER, "extdata" JSONB);
CREATE TABLE "rocpd_sampleSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "track_id" INTEGER, "timestamp" BIGINT, "event_id" INTEGER, "extdata" JSONB);
CREATE TABLE "rocpd_kernel_dispatchSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER, "agent_id" INTEGER, "kernel_id" INTEGER, "dispatch_id" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "start" BIGINT, "end" BIGINT, "private_segment_size" INTEGER, "group_segment_size" INTEGER, "workgroup_size_x" INTEGER, "workgroup_size_y" INTEGER, "workgroup_size_z" INTEGER, "grid_size_x" INTEGER, "grid_size_y" INTEGER, "grid_size_z" INTEGER, "region_name_id" INTEGER, "event_id" INTEGER, "extdata" JSONB);
CREATE TABLE "rocpd_memory_copySUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER, "start" BIGINT, "end" BIGINT, "name_id" INTEGER, "dst_agent_id" INTEGER, "dst_address" INTEGER, "src_agent_id" INTEGER, "src_address" INTEGER, "size" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "region_name_id" INTEGER, "event_id" INTEGER, "extdata" JSONB);
CREATE TABLE "rocpd_memory_allocateSUFFIX"("id" INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER, "agent_id" INTEGER, "type" TEXT, "level" TEXT, "start" BIGINT, "end" BIGINT, "address" INTEGER, "size" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "event_id" INTEGER, "extdata" JSONB);
INSERT INTO "rocpd_metadataSUFFIX" VALUES(1,'schema_version','3');
INSERT INTO "rocpd_stringSUFFIX"(id,string) VALUES(1,'HIP_RUNTIME_API'),(2,'MARKER_CORE_API'),(3,'hipLaunchKernel'),(4,'roctxThreadRangeA'),(5,'MEMORY_COPY_HOST_TO_DEVICE'),(6,'KERNEL_DISPATCH'),(7,'roctxMarkA');
INSERT INTO "rocpd_info_nodeSUFFIX"(id,hostname,system_name) VALUES(1,'node7','Linux');
INSERT INTO "rocpd_info_processSUFFIX"(id,nid,pid,command,environment) VALUES(1,1,4711,'python train.py','{"RANK":"RANK_OF","TOKEN":"secret","POD_NAME":"trainer-0"}');
INSERT INTO "rocpd_info_threadSUFFIX"(id,pid,tid) VALUES(1,1,4712);
INSERT INTO "rocpd_info_agentSUFFIX"(id,type,absolute_index,logical_index,type_index,name,product_name) VALUES(1,'CPU',0,0,0,'cpu','EPYC'),(2,'GPU',4,4,0,'gfx942','Instinct');
INSERT INTO "rocpd_info_pmcSUFFIX"(id,agent_id,name,symbol) VALUES(1,2,'SQ_WAVES','SQ_WAVES'),(2,2,'SQ_WAVES','SQ_WAVES');
INSERT INTO "rocpd_info_kernel_symbolSUFFIX"(id,kernel_name,display_name,sgpr_count,arch_vgpr_count) VALUES(1,'_Z4gemm.kd','gemm(float*)',32,64),(2,'ncclDevKernel_AllReduce.kd','',8,8);
INSERT INTO "rocpd_eventSUFFIX"(id,category_id,stack_id,correlation_id,extdata) VALUES(1,1,77,5,'{}'),(2,6,77,5,'{}'),(3,2,78,0,'{"message":"layer 3"}'),(4,6,79,0,'{}'),(5,2,80,0,'not json');
INSERT INTO "rocpd_regionSUFFIX"(id,pid,tid,start,end,name_id,event_id) VALUES(1,1,1,1000,1100,3,1),(2,1,1,900,2000,4,3),(3,1,1,950,1900,4,5);
INSERT INTO "rocpd_kernel_dispatchSUFFIX"(id,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,end,private_segment_size,group_segment_size,workgroup_size_x,workgroup_size_y,workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,event_id) VALUES(1,1,1,2,1,10,3,6,5000,5100,16,512,64,1,1,257,2,1,2),(2,1,1,2,2,11,3,NULL,5200,5300,0,0,64,1,1,64,1,1,4);
INSERT INTO "rocpd_memory_copySUFFIX"(id,pid,tid,start,end,name_id,dst_agent_id,src_agent_id,size,stream_id) VALUES(1,1,1,3000,3500,5,2,1,4096,6),(2,1,1,3600,3700,999,1,2,64,6);
INSERT INTO "rocpd_memory_allocateSUFFIX"(id,pid,tid,agent_id,type,level,start,end,size) VALUES(1,1,1,2,'ALLOC','REAL',100,200,8192),(2,1,1,2,'ALLOC','SCRATCH',300,400,0);
INSERT INTO "rocpd_trackSUFFIX"(id,pid,tid,name_id) VALUES(1,1,1,7);
INSERT INTO "rocpd_sampleSUFFIX"(id,track_id,timestamp,event_id) VALUES(1,1,1500,3);
INSERT INTO "rocpd_pmc_eventSUFFIX"(id,event_id,pmc_id,value) VALUES(1,2,1,100),(2,2,2,28),(3,999,1,5);
CREATE VIEW IF NOT EXISTS "rocpd_kernel_dispatch" AS SELECT * FROM "rocpd_kernel_dispatchSUFFIX";
)";

std::string schema(const std::string& suffix, const std::string& rank) {
  std::string sql = kSchema;
  for (const auto& [from, to] : {std::pair<std::string, std::string>("SUFFIX", suffix), {"RANK_OF", rank}})
    for (std::size_t at = sql.find(from); at != std::string::npos; at = sql.find(from, at + to.size()))
      sql.replace(at, from.size(), to);
  if (suffix.empty()) sql.resize(sql.find("CREATE VIEW"));
  return sql;
}

class RocpdTest : public DatabaseTest {};

void expect_one_process(const Imported& read) {
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  const auto& kernels = read.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(read.sink.text(kernels[0].name), "gemm(float*)");
  EXPECT_EQ(kernels[0].device, 4);
  EXPECT_EQ(kernels[0].queue, 3);
  EXPECT_EQ(kernels[0].stream, 6);
  EXPECT_EQ(kernels[0].start_ns, 5000);
  EXPECT_EQ(kernels[0].correlation_id, 77u);
  EXPECT_EQ(kernels[0].external_id, 5u);
  EXPECT_EQ(kernels[0].dispatch_id, 10u);
  EXPECT_EQ(kernels[0].grid_x, 5);  // 257 work-items in groups of 64
  EXPECT_EQ(kernels[0].lds_bytes, 512);
  EXPECT_EQ(kernels[0].vgpr_count, 64);
  EXPECT_EQ(read.sink.text(kernels[1].name), "ncclDevKernel_AllReduce.kd");
  EXPECT_EQ(kernels[1].stream, 3);  // of its queue
  EXPECT_EQ(read.sink.rows<trace::CollectiveRow>().size(), 1u);
  const auto& copies = read.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(read.sink.text(copies[0].kind), "h2d");
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(copies[0].device, 4);
  EXPECT_EQ(copies[0].source_device, std::nullopt);
  EXPECT_EQ(read.sink.text(copies[1].kind), "d2h");  // by its agents
  const auto& calls = read.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 6u);
  EXPECT_EQ(read.sink.text(calls[0].domain), "hip");
  EXPECT_EQ(calls[0].correlation_id, 77u);
  EXPECT_EQ(calls[0].process_id, 4711);
  EXPECT_EQ(calls[0].thread_id, 4712);
  EXPECT_EQ(read.sink.text(calls[1].domain), "marker");
  EXPECT_EQ(read.sink.text(calls[1].name), "layer 3");
  EXPECT_EQ(read.sink.text(calls[2].name), "roctxThreadRangeA");
  EXPECT_EQ(read.sink.text(calls[3].name), "roctxMarkA");
  EXPECT_EQ(read.sink.text(calls[4].domain), "memory_allocation");
  EXPECT_EQ(read.sink.text(calls[4].arguments), R"({"agent":4,"bytes":8192})");
  EXPECT_EQ(read.sink.text(calls[5].domain), "scratch_memory");
  const auto& counters = read.sink.rows<trace::KernelCounterRow>();
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].value, 128);  // both instances
  EXPECT_EQ(read.sink.text(counters[0].counter), "SQ_WAVES");
  EXPECT_EQ(counters[0].dispatch_id, 10u);
  EXPECT_EQ(read.result->account.dropped.at("counter without a dispatch"), 1);
  EXPECT_EQ(read.result->host, "node7");
  EXPECT_EQ(read.result->rank, 3);
  EXPECT_EQ(read.result->facts.dump().find("secret"), std::string::npos);
  const core::Json& who = read.result->facts["ranks"].items().at(0);
  EXPECT_EQ(who["pid"].as_i64(), 4711);
  EXPECT_EQ(who["host"].text(), "node7");
  EXPECT_EQ(read.result->facts["devices"].items().at(0)["target"].text(), "gfx942");
  EXPECT_EQ(who["job"]["pod"].text(), "trainer-0");
}

TEST_F(RocpdTest, SuffixedTables) {
  const std::string path = make(schema("_00001234_5678_9abc", "3"));
  EXPECT_TRUE(any_database::make_importer()->sniff(*read_head(path), "x.db"));
  EXPECT_FALSE(make_importer()->sniff("rocpd_info_node, and no database", "x.db"));
  expect_one_process(import(*make_importer(), path));
  expect_one_process(import(*any_database::make_importer(), path));
}
TEST_F(RocpdTest, PlainTables) { expect_one_process(import(*make_importer(), make(schema("", "3")))); }

TEST_F(RocpdTest, ProcessesOfOneFileAreRanks) {
  const auto named = import(*make_importer(), make(schema("_a", "1") + schema("_b", "0")));
  ASSERT_TRUE(named.result.has_value()) << named.result.error().text();
  EXPECT_EQ(named.result->rank, std::nullopt);
  std::map<std::int32_t, int> kernels, calls;
  for (const auto& row : named.sink.rows<trace::KernelRow>()) ++kernels[row.rank];
  for (const auto& row : named.sink.rows<trace::ApiCallRow>()) ++calls[row.rank];
  EXPECT_EQ(kernels, (std::map<std::int32_t, int>{{0, 2}, {1, 2}}));
  EXPECT_EQ(calls, (std::map<std::int32_t, int>{{0, 6}, {1, 6}}));
  EXPECT_EQ(named.sink.rows<trace::KernelRow>()[0].rank, 1);  // as its environment says
  const auto same = import(*make_importer(), make(schema("_a", "0") + schema("_b", "0")));
  EXPECT_EQ(same.sink.rows<trace::KernelRow>()[0].rank, 0);
  EXPECT_EQ(same.sink.rows<trace::KernelRow>()[2].rank, 1);
}

TEST_F(RocpdTest, WithoutEventsAgentsAndSymbols) {
  std::string drops;
  for (const char* table : {"event", "info_agent", "info_kernel_symbol", "info_process", "info_thread", "string", "info_pmc"})
    drops += std::string("DROP TABLE \"rocpd_") + table + "\";";
  const auto bare = import(*make_importer(), make(schema("", "3") + drops));
  ASSERT_TRUE(bare.result.has_value()) << bare.result.error().text();
  ASSERT_EQ(bare.sink.rows<trace::KernelRow>().size(), 2u);
  EXPECT_EQ(bare.sink.text(bare.sink.rows<trace::KernelRow>()[0].name), "kernel 1");
  EXPECT_EQ(bare.sink.rows<trace::KernelRow>()[0].correlation_id, 0u);
  EXPECT_EQ(bare.sink.rows<trace::KernelRow>()[0].device, 2);
}

constexpr const char* kArguments = R"(
CREATE TABLE "rocpd_arg"("id" INTEGER PRIMARY KEY, "guid" TEXT, "event_id" INTEGER, "position" INTEGER, "type" TEXT, "name" TEXT, "value" TEXT, "extdata" JSONB);
INSERT INTO "rocpd_arg"(id,event_id,position,type,name,value) VALUES
 (1,1,0,'hipStream_t','stream','0x7f00'),(2,1,1,'size_t','size','18446744073709551615'),(3,3,0,'char','','x'),
 (4,2,0,'void*','kernel','0'),(5,1,2,'int','late','1'),(6,NULL,0,'int','a','1'),(7,99,0,'int','b','1');
)";

TEST_F(RocpdTest, ArgumentsOfEvents) {
  const auto read = import(*make_importer(), make(schema("", "3") + kArguments));
  expect_one_process(read);
  const auto& calls = read.sink.rows<trace::ApiCallRow>();
  EXPECT_EQ(read.sink.text(calls[0].arguments), R"({"stream":"0x7f00","size":"18446744073709551615"})");
  EXPECT_EQ(read.sink.text(calls[1].arguments), R"({"argument 0":"x"})");
  EXPECT_EQ(calls[2].arguments, trace::NameId());
  const auto& dropped = read.result->account.dropped;
  EXPECT_EQ(dropped.at("argument of an event that is not a call"), 2);  // of a kernel, and of nothing
  EXPECT_EQ(dropped.at("argument not adjacent to the others of its event"), 1);
  EXPECT_EQ(dropped.at("argument without an event"), 1);
}

TEST_F(RocpdTest, ArgumentsOfEverySuffixAndBeyondWhatIsKept) {
  std::string arguments = kArguments;
  for (std::size_t at = arguments.find("rocpd_arg"); at != std::string::npos; at = arguments.find("rocpd_arg", at + 12))
    arguments.replace(at, 9, "rocpd_arg_a1");
  const auto suffixed = import(*make_importer(), make(schema("_a1", "3") + arguments));
  expect_one_process(suffixed);
  EXPECT_EQ(suffixed.sink.text(suffixed.sink.rows<trace::ApiCallRow>()[1].arguments), R"({"argument 0":"x"})");
  const auto many =
      import(*make_importer(),
             make(schema("", "3") +
                  "CREATE TABLE rocpd_arg(id INTEGER PRIMARY KEY, event_id INTEGER, position INTEGER, name TEXT, value TEXT);"
                  "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<10009)"
                  "INSERT INTO rocpd_region(pid,tid,start,end,name_id,event_id) SELECT 1,1,9000+i,9001+i,3,1000+i FROM n;"
                  "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<10009)"
                  "INSERT INTO rocpd_arg(event_id,position,name,value) SELECT 1000+i,0,'p',i FROM n;"));
  ASSERT_TRUE(many.result.has_value());
  EXPECT_EQ(many.result->account.dropped.at("call argument beyond the limit"), 10);
}

TEST_F(RocpdTest, CountersSampledOverTime) {
  const auto read = import(
      *make_importer(),
      make(schema("", "3") +
           "ALTER TABLE rocpd_info_pmc ADD COLUMN units TEXT;"
           "INSERT INTO rocpd_info_pmc(id,agent_id,name,units) VALUES(3,2,'Device Busy GFX','%'),(4,1,'CPU Frequency','MHz');"
           "INSERT INTO rocpd_sample(id,track_id,timestamp,event_id) VALUES(2,1,1600,20),(3,1,1700,21),(4,1,0,22);"
           "INSERT INTO rocpd_pmc_event(id,event_id,pmc_id,value) VALUES(4,20,3,75),(5,21,4,3500),(6,22,4,1),(7,21,9,1);"));
  expect_one_process(read);  // marks and counters of dispatches are what they were
  const auto& gpu = read.sink.rows<trace::GpuEventRow>();
  ASSERT_EQ(gpu.size(), 1u);
  EXPECT_EQ(read.sink.text(gpu[0].metric), "gpu.device_busy_gfx_ratio");
  EXPECT_DOUBLE_EQ(gpu[0].value, 0.75);
  EXPECT_EQ(gpu[0].device, 4);
  EXPECT_EQ(gpu[0].time_ns, 1600);
  const auto& host = read.sink.rows<trace::SystemEventRow>();
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(read.sink.text(host[0].metric), "host.cpu_frequency_hz");
  EXPECT_DOUBLE_EQ(host[0].value, 3.5e9);
  EXPECT_EQ(read.result->account.dropped.at("counter without a value or name"), 1);
}

TEST_F(RocpdTest, CountsEveryLoss) {
  const auto read =
      import(*make_importer(),
             make(schema("_a", "3") +
                  "CREATE TABLE rocpd_new_thing_a(id INTEGER); INSERT INTO rocpd_new_thing_a VALUES(1),(2);"
                  "CREATE TABLE other(id INTEGER); INSERT INTO other VALUES(1);"
                  "UPDATE rocpd_event_a SET call_stack='[\"main\"]' WHERE id<3; UPDATE rocpd_event_a SET line_info='{}';"));
  ASSERT_TRUE(read.result.has_value());
  EXPECT_EQ(read.result->account.dropped.at("a row of rocpd_new_thing_a, a table that is not imported"), 2);
  EXPECT_EQ(read.result->account.dropped.at("a row of other, a table that is not imported"), 1);
  const auto& notes = read.result->account.notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(), "call stacks of 2 events are not kept"), notes.end());
}

TEST_F(RocpdTest, Refusals) {
  for (const char* sql : {"CREATE TABLE t(x)", "CREATE TABLE rocpd_metadata(id, tag, value)",
                          "CREATE VIEW rocpd_kernel_dispatch AS SELECT 1 AS id"})
    EXPECT_EQ(import(*make_importer(), make(sql)).result.error().code, core::ErrorCode::invalid_input) << sql;
  EXPECT_EQ(import(*any_database::make_importer(), make("CREATE TABLE t(x)")).result.error().code,
            core::ErrorCode::invalid_input);
  const auto other = import(*make_importer(), make(schema("", "3") + "UPDATE rocpd_metadata SET value='4'"));
  EXPECT_EQ(other.result->warnings.at(0).id, "import.other_schema");
}

TEST_F(RocpdTest, OddTimesAreDropped) {
  const auto odd =
      import(*make_importer(),
             make(schema("", "3") +
                  "UPDATE rocpd_kernel_dispatch SET end=1 WHERE id=1; UPDATE rocpd_kernel_dispatch SET start=NULL WHERE id=2;"
                  "UPDATE rocpd_region SET start=-5, end='x'"));
  ASSERT_TRUE(odd.result.has_value());
  EXPECT_EQ(odd.sink.rows<trace::KernelRow>().size(), 0u);
  EXPECT_EQ(odd.result->account.dropped.at(kRowEndsEarly), 1);
  EXPECT_EQ(odd.result->account.dropped.at(kRowWithoutTimes), 4);
}

TEST_F(RocpdTest, CutEverywhere) {
  const std::string path = make("PRAGMA page_size=1024;" + schema("", "3"));
  const auto whole = import(*make_importer(), path);
  cut_everywhere(*make_importer(), path, whole.result->account.kept, 1024);
}

}  // namespace
}  // namespace aaco::importers::rocpd
