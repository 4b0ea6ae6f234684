#include "importers/nsys.h"

#include <map>
#include <set>
#include <tuple>

#include "importers/any_database.h"
#include "importers/database/database_testing.h"
#include "importers/database/sampled_metric.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::nsys {
namespace {

// Process 7 is 7 << 24; its thread 8 is (7 << 24) + 8.
constexpr const char* kExport = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, smCount INTEGER);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, gridId INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, value INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);
INSERT INTO StringIds VALUES(1,'void gemm<float>(float*)'),(2,'gemm'),(3,'cudaLaunchKernel_v7000'),(4,'cuMemFree_v2'),(5,'registered range'),(6,'ncclDevKernel_AllGather'),(7,'Graph Node Creation');
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION','2024.6.2.25'),('EXPORT_SCHEMA_VERSION','3.16.1');
INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE','RANK="5"'),('PROCESS_0:ENVIRONMENT_VARIABLE','TOKEN="secret"');
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES(0,'x','Hostname',1,'node9');
INSERT INTO TARGET_INFO_GPU VALUES(0,0,'H100','0000:d1:00.0',80,132);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5000,5100,1,1,7,11,117440512,1,2,40,4,2,1,64,1,1,512,256,8,1,0),(5200,5300,1,1,7,12,117440512,6,6,16,1,1,1,32,1,1,0,0,0,2,90);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(6000,6100,1,7,13,117440512,4096,2,NULL,NULL),(6200,6300,1,7,14,117440512,64,10,0,1),(6400,6500,1,7,14,117440512,-3,99,NULL,NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(6600,6700,1,7,15,117440512,4,0);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(4000,4100,0,117440520,11,3,0),(4200,4300,1,117440520,16,4,0);
INSERT INTO NVTX_EVENTS VALUES(3000,9000,59,'step',117440520,NULL),(3100,8000,60,NULL,117440520,5),(3200,3300,59,'aten::mm, seq = 3, op_id = 7',117440520,NULL),(3250,NULL,34,'mark',117440520,NULL),(1,2,75,'domain',117440520,NULL),(3300,NULL,59,'open',117440520,NULL);
INSERT INTO SCHED_EVENTS VALUES(100,3,0,117440520),(200,3,1,117440520),(250,3,0,117440520),(300,4,1,117440520);
)";

class NsysTest : public DatabaseTest {};

TEST_F(NsysTest, EveryTable) {
  const std::string path =
      make(std::string(kExport) + "INSERT INTO DIAGNOSTIC_EVENT VALUES(1,1,'started'),(2,3,'events were lost')");
  EXPECT_TRUE(make_importer()->sniff(*read_head(path), "x.sqlite"));
  const auto read = import(*make_importer(), path);
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  const auto& kernels = read.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(read.sink.text(kernels[0].name), "void gemm<float>(float*)");
  EXPECT_EQ(kernels[0].device, 1);
  EXPECT_EQ(kernels[0].stream, 7);
  EXPECT_EQ(kernels[0].correlation_id, 11u);
  EXPECT_EQ(kernels[0].grid_x, 4);
  EXPECT_EQ(kernels[0].lds_bytes, 768);
  EXPECT_EQ(kernels[0].vgpr_count, 40);
  EXPECT_EQ(kernels[1].graph_node_id, 90u);
  EXPECT_EQ(read.sink.rows<trace::CollectiveRow>().size(), 1u);
  const auto& copies = read.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 4u);
  EXPECT_EQ(read.sink.text(copies[0].kind), "d2h");
  EXPECT_EQ(read.sink.text(copies[1].kind), "p2p");
  EXPECT_EQ(copies[1].target_device, 1);
  EXPECT_EQ(read.sink.text(copies[2].kind), "unknown");
  EXPECT_EQ(copies[2].bytes, std::nullopt);
  EXPECT_EQ(read.sink.text(copies[3].kind), "memset");
  std::map<std::string, std::string> calls;  // name: domain
  for (const auto& row : read.sink.rows<trace::ApiCallRow>()) {
    calls[std::string(read.sink.text(row.name))] = read.sink.text(row.domain);
    EXPECT_EQ(row.process_id, 7);
    EXPECT_EQ(row.thread_id, 8);
  }
  EXPECT_EQ(calls, (std::map<std::string, std::string>{{"cudaLaunchKernel", "cuda_runtime"},
                                                       {"cuMemFree_v2", "cuda_driver"},
                                                       {"step", "marker"},
                                                       {"registered range", "marker"},
                                                       {"aten::mm", "cpu_op"},
                                                       {"mark", "marker"}}));
  const auto& runs = read.sink.rows<trace::SchedEventRow>();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].duration_ns, 50);
  EXPECT_EQ(runs[0].cpu, 3);
  EXPECT_EQ(read.result->host, "node9");
  EXPECT_EQ(read.result->rank, 5);
  EXPECT_EQ(read.result->facts.dump().find("secret"), std::string::npos);
  EXPECT_EQ(read.result->facts["devices"].items().at(0)["name"].text(), "H100");
  EXPECT_EQ(read.result->warnings.at(0).id, "import.profiler_warned");
}

TEST_F(NsysTest, ProcessesAreRanks) {
  const auto read = import(
      *make_importer(), make(std::string(kExport) +
                             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start,end,deviceId,contextId,streamId,correlationId,"
                             "150994944,demangledName,shortName,1,1,1,1,1,1,1,0,0,0,0,0 FROM CUPTI_ACTIVITY_KIND_KERNEL"));
  ASSERT_TRUE(read.result.has_value());
  std::multiset<std::int32_t> ranks;
  for (const auto& row : read.sink.rows<trace::KernelRow>()) ranks.insert(row.rank);
  EXPECT_EQ(ranks, (std::multiset<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(read.result->rank, std::nullopt);
}

TEST_F(NsysTest, WarnsAboutOpaqueGraphs) {
  const auto read = import(
      *make_importer(),
      make(
          std::string(kExport) +
          "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, streamId "
          "INTEGER,"
          " correlationId INTEGER, globalPid INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE "
          "VALUES(7000,7500,1,3,7,20,117440512);"
          "CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,"
          " graphNodeId INTEGER, originalGraphNodeId INTEGER); INSERT INTO CUDA_GRAPH_NODE_EVENTS "
          "VALUES(7200,7210,1,117440520,7,90,80),(3210,3220,1,117440520,7,80,NULL),(1,2,1,NULL,7,0,NULL),(3,4,1,NULL,7,5,6),(3,4,"
          "1,NULL,7,6,5);"));
  ASSERT_TRUE(read.result.has_value());
  const auto& kernels = read.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(read.sink.text(kernels[2].name), "CUDA graph 3");
  EXPECT_EQ(read.result->warnings.at(0).id, "import.graphs_opaque");
  std::map<std::uint64_t, std::int64_t> nodes;  // number: when it was captured
  for (const auto& row : read.sink.rows<trace::ApiCallRow>())
    if (read.sink.text(row.domain) == "graph_node") nodes[row.external_id] = row.start_ns;
  EXPECT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[80], 3210);
  EXPECT_EQ(nodes[90], 3210);  // a copy of 80
  EXPECT_EQ(read.result->account.dropped.at("graph node without an id"), 1);
}

TEST_F(NsysTest, OldExportsAndMissingColumns) {
  const auto read =
      import(*make_importer(),
             make("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES(1,'k');"
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT NOT NULL, end INT NOT NULL, deviceId INT, streamId INT,"
                  " shortName INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1,2,0,7,1)"));
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  ASSERT_EQ(read.sink.rows<trace::KernelRow>().size(), 1u);
  EXPECT_EQ(read.sink.text(read.sink.rows<trace::KernelRow>()[0].name), "k");
  EXPECT_EQ(read.sink.rows<trace::KernelRow>()[0].grid_x, std::nullopt);
}

std::vector<std::string> warnings_of(const Imported& read) {
  std::vector<std::string> ids;
  for (const auto& warning : read.result->warnings) ids.push_back(warning.id);
  return ids;
}

TEST_F(NsysTest, WarnsWithoutKernels) {
  const std::string without_table = std::string(kExport) + "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;";
  const auto missing = import(*make_importer(), make(without_table));
  ASSERT_TRUE(missing.result.has_value()) << missing.result.error().text();
  EXPECT_EQ(warnings_of(missing), (std::vector<std::string>{"import.no_kernels"}));
  EXPECT_NE(missing.result->warnings[0].message.find("is missing, although it has 2 CUDA calls"), std::string::npos)
      << missing.result->warnings[0].message;
  const auto empty = import(*make_importer(), make(std::string(kExport) + "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;"));
  EXPECT_NE(empty.result->warnings.at(0).message.find("no usable row"), std::string::npos);
  const auto untraced = import(*make_importer(), make(without_table + "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"));
  EXPECT_NE(untraced.result->warnings.at(0).remedy.find("CUDA was not traced"), std::string::npos);
  EXPECT_EQ(warnings_of(import(*make_importer(), make(kExport))), std::vector<std::string>());
}

TEST_F(NsysTest, UsesNumbersWithoutStringTable) {
  const std::string path = make(std::string(kExport) + "DROP TABLE StringIds;");
  EXPECT_TRUE(make_importer()->sniff(*read_head(path), "x.sqlite"));
  for (const auto& importer : {make_importer(), any_database::make_importer()}) {
    const auto read = import(*importer, path);
    ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
    EXPECT_EQ(warnings_of(read), (std::vector<std::string>{"import.names_missing"}));
    ASSERT_EQ(read.sink.rows<trace::KernelRow>().size(), 2u);
    EXPECT_EQ(read.sink.text(read.sink.rows<trace::KernelRow>()[0].name), "kernel 1");
    std::multiset<std::string> calls;
    for (const auto& row : read.sink.rows<trace::ApiCallRow>()) calls.insert(std::string(read.sink.text(row.name)));
    EXPECT_EQ(calls, (std::multiset<std::string>{"call 3", "call 4", "step", "range 5", "aten::mm", "mark"}));
  }
}

TEST_F(NsysTest, SampledMetricsOfDevices) {
  const auto read =
      import(*make_importer(),
             make(std::string(kExport) +
                  "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, "
                  "metricName TEXT);"
                  "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(4611686018427387906,1,'GPU 2',5,'SMs Active [Throughput %]'),"
                  "(4611686018427387906,1,'GPU 2',6,'GPC Clock Frequency [MHz]');"
                  "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);"
                  "INSERT INTO GPU_METRICS VALUES(100,4611686018427387906,5,40),(200,4611686018427387906,5,50),"
                  "(200,4611686018427387906,6,1980),(300,1,9,7),(-5,1,9,7),(400,1,9,'x'),(400,1,NULL,3);"));
  ASSERT_TRUE(read.result.has_value());
  std::multiset<std::tuple<std::int64_t, std::int64_t, std::string, double>> samples;
  for (const auto& row : read.sink.rows<trace::GpuEventRow>())
    samples.insert({row.time_ns, row.device, std::string(read.sink.text(row.metric)), row.value});
  EXPECT_EQ(samples,
            (std::multiset<std::tuple<std::int64_t, std::int64_t, std::string, double>>{{100, 2, "gpu.sms_active_ratio", 0.4},
                                                                                        {200, 2, "gpu.sms_active_ratio", 0.5},
                                                                                        {200, 2, "gpu.gpc_clock_hz", 1.98e9},
                                                                                        {300, 1, "gpu.metric_9", 7}}));
  EXPECT_EQ(read.result->account.dropped.at("GPU metric sample without a numeric value"), 2);
}

TEST_F(NsysTest, ManySamplesBecomeMeans) {
  const auto read = import(*make_importer(),
                           make("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
                                "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);"
                                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<500000)"
                                "INSERT INTO GPU_METRICS SELECT 100+i,0,1,i%2 FROM n;"));
  ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
  const auto& rows = read.sink.rows<trace::GpuEventRow>();
  ASSERT_EQ(rows.size(), 250'001u);
  EXPECT_DOUBLE_EQ(rows[0].value, 0.5);
  EXPECT_EQ(rows[0].time_ns, 101);
  EXPECT_DOUBLE_EQ(rows.back().value, 0);  // the one that is left
  EXPECT_EQ(read.result->account.kept, 500'001);
  EXPECT_EQ(read.result->account.notes.size(), 1u);
}

TEST(NsysMetric, NamesHaveTheirUnit) {
  EXPECT_EQ(sampled_metric("gpu.", "SMs Active [Throughput %]"), (SampledMetric{"gpu.sms_active_ratio", 0.01}));
  EXPECT_EQ(sampled_metric("gpu.", "DRAM Read Bandwidth [Throughput %]"), (SampledMetric{"gpu.dram_read_bandwidth_ratio", 0.01}));
  EXPECT_EQ(sampled_metric("gpu.", "SYS Clock Frequency [MHz]"), (SampledMetric{"gpu.sys_clock_hz", 1e6}));
  EXPECT_EQ(sampled_metric("gpu.", "Compute Warps in Flight [Avg Warps per Cycle]"),
            (SampledMetric{"gpu.compute_warps_in_flight_avg_warps_per_cycle", 1}));
  EXPECT_EQ(sampled_metric("gpu.", "GPU Active"), (SampledMetric{"gpu.gpu_active", 1}));
  EXPECT_EQ(sampled_metric("gpu.", "[%]"), (SampledMetric{"gpu.", 1}));
  EXPECT_EQ(sampled_metric("gpu.", ""), (SampledMetric{"gpu.", 1}));
}

TEST_F(NsysTest, AllocationsMpiAndThreadNames) {
  const auto read = import(
      *make_importer(),
      make(std::string(kExport) +
           "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER, deviceId INTEGER, bytes INTEGER, memKind "
           "INTEGER, memoryOperationType INTEGER);"
           "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(10,117440512,1,4096,2,0),(20,117440512,1,4096,2,1);"
           "CREATE TABLE MPI_COLLECTIVES_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER);"
           "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(30,40,117440520,5),(50,NULL,117440520,5);"
           "CREATE TABLE MPI_RANKS(globalTid INTEGER, rank INTEGER); INSERT INTO MPI_RANKS VALUES(117440520,9);"
           "DELETE FROM META_DATA_CAPTURE;"
           "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER); INSERT INTO ThreadNames "
           "VALUES(5,20,117440520);"));
  ASSERT_TRUE(read.result.has_value());
  std::vector<std::string> calls;
  for (const auto& row : read.sink.rows<trace::ApiCallRow>())
    if (const auto domain = read.sink.text(row.domain); domain == "mpi" || domain == "memory_allocation")
      calls.push_back(std::string(read.sink.text(row.name)) + std::string(read.sink.text(row.arguments)));
  EXPECT_EQ(calls, (std::vector<std::string>{"registered range", R"(ALLOC{"agent":1,"bytes":4096})",
                                             R"(FREE{"agent":1,"bytes":4096})"}));
  EXPECT_EQ(read.result->account.dropped.at(kRowWithoutTimes), 2);  // an open range, and an open call
  EXPECT_EQ(read.result->rank, 9);
  EXPECT_EQ(read.sink.text(read.sink.rows<trace::SchedEventRow>().at(0).thread_name), "registered range");
}

TEST_F(NsysTest, CountsRowsOfUnreadTables) {
  const auto read = import(*make_importer(),
                           make(std::string(kExport) +
                                "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, syncType INTEGER);"
                                "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(1,2,3),(3,4,3);"
                                "CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER); INSERT INTO SAMPLING_CALLCHAINS VALUES(1),(2),(3);"
                                "CREATE TABLE ENUM_X(id INTEGER); INSERT INTO ENUM_X VALUES(1);"
                                "CREATE TABLE COMPOSITE_EVENTS(id INTEGER);"));
  ASSERT_TRUE(read.result.has_value());
  const auto& dropped = read.result->account.dropped;
  EXPECT_EQ(dropped.at("a row of SAMPLING_CALLCHAINS, a table that is not imported"), 3);
  EXPECT_EQ(dropped.at("device synchronisation records (the waiting calls are kept)"), 2);
  for (const auto& [why, count] : dropped) EXPECT_EQ(why.find("ENUM_X"), std::string::npos) << why;
  for (const auto& [why, count] : dropped) EXPECT_EQ(why.find("COMPOSITE"), std::string::npos) << why;
}

TEST_F(NsysTest, Refusals) {
  // A database of nvprof has tables of the same names.
  EXPECT_FALSE(make_importer()->sniff(
      *read_head(make("CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, start INT, end INT, cbid INT)")),
      "x.nvvp"));
  for (const char* sql : {"CREATE TABLE t(x)", "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)",
                          "CREATE TABLE StringIds(id, value); CREATE TABLE NVTX_EVENTS(begin, text)"})
    EXPECT_EQ(import(*make_importer(), make(sql)).result.error().code, core::ErrorCode::invalid_input) << sql;
}

TEST_F(NsysTest, CutEverywhere) {
  const std::string path = make(std::string("PRAGMA page_size=1024;") + kExport);
  cut_everywhere(*make_importer(), path, import(*make_importer(), path).result->account.kept, 1024);
}

using Totals = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

Totals totals_of(const std::string& path, const std::string& sql) {
  Totals totals;
  const auto database = formats::sqlite::Database::open(path);
  auto rows = database->query(sql);
  EXPECT_TRUE(rows.has_value()) << rows.error().text();
  while (*rows->next()) totals[std::string(rows->text(0))] = {*rows->integer(1), *rows->integer(2)};
  return totals;
}

// The second path: SQL over the file.
TEST_F(NsysTest, RealExportEqualsSums) {
  const std::string path = real_trace("nsys_sqlite/NVIDIA_Fuser/8fa9ec29_report1.sqlite", AACO_SOURCE_DIR);
  if (path.empty()) GTEST_SKIP() << "skipped, no real data";
  for (const auto& importer : {make_importer(), any_database::make_importer()}) {
    const auto read = import(*importer, path);
    ASSERT_TRUE(read.result.has_value()) << read.result.error().text();
    Totals kernels, copies, calls, ranges;
    for (const auto& row : read.sink.rows<trace::KernelRow>()) {
      auto& [count, sum] = kernels[std::string(read.sink.text(row.name))];
      ++count, sum += row.end_ns - row.start_ns;
    }
    for (const auto& row : read.sink.rows<trace::ApiCallRow>()) {
      const auto domain = read.sink.text(row.domain);
      if (!domain.starts_with("cuda_") && domain != "marker") continue;
      auto& [count, sum] =
          (domain == "marker" ? ranges : calls)[domain == "marker" ? std::string(read.sink.text(row.name)) : "all"];
      ++count, sum += row.end_ns - row.start_ns;
    }
    EXPECT_EQ(kernels, totals_of(path,
                                 "SELECT s.value, count(*), sum(end-start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON "
                                 "s.id=k.demangledName GROUP BY 1"));
    EXPECT_EQ(calls, totals_of(path, "SELECT 'all', count(*), sum(end-start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"));
    EXPECT_EQ(ranges, totals_of(path, "SELECT text, count(*), sum(end-start) FROM NVTX_EVENTS GROUP BY 1"));
    EXPECT_EQ(read.sink.rows<trace::CopyRow>().size(), 2u);
    EXPECT_EQ(read.result->rank, 0);
    EXPECT_EQ(read.result->account.state, trace::Account::State::ok);
  }
}

}  // namespace
}  // namespace aaco::importers::nsys
