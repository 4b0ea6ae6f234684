// Folders of ROCm's profilers become one session: kernels once, counters of all passes by dispatch, processes as ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "tests/support/source_dir.h"
#include "tracelake/lake.h"
#include "workflows/import.h"

namespace aaco::workflows {
namespace {

constexpr std::string_view kKernelHeader =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_"
    "Timestamp\","
    "\"End_Timestamp\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_"
    "Size_Z\"\n";
constexpr std::string_view kCounterHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\","
    "\"Kernel_Name\","
    "\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\","
    "\"Start_Timestamp\",\"End_Timestamp\"\n";
constexpr std::string_view kCallHeader =
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string kernels(std::int64_t first_ns) {
  std::string text(kKernelHeader);
  for (int i = 1; i <= 3; ++i) {
    const std::int64_t start = first_ns + 1000 * i;
    text += "\"KERNEL_DISPATCH\",\"Agent 1\",1,7," + std::to_string(i) + ",5,\"gemm\"," + std::to_string(i) + "," +
            std::to_string(start) + "," + std::to_string(start + 100 * i) + ",64,1,1,128,1,1\n";
  }
  return text;
}
std::string counters(std::int64_t first_ns, std::initializer_list<const char*> names, const char* kernel = "gemm") {
  std::string text(kCounterHeader);
  for (int i = 1; i <= 3; ++i)
    for (const char* name : names) {
      const std::int64_t start = first_ns + 1000 * i;
      text += std::to_string(i) + "," + std::to_string(i) + ",\"Agent 1\",1,7,7,128,5,\"" + kernel + "\",64,0,0,8,16,\"" + name +
              "\"," + std::to_string(10 * i) + "," + std::to_string(start) + "," + std::to_string(start + 100 * i) + "\n";
    }
  return text;
}
std::string calls(std::int64_t first_ns) {
  std::string text(kCallHeader);
  for (int i = 1; i <= 3; ++i)
    text += "\"HIP_RUNTIME_API\",\"hipLaunchKernel\",7,7," + std::to_string(i) + "," + std::to_string(first_ns + 1000 * i - 500) +
            "," + std::to_string(first_ns + 1000 * i - 400) + "\n";
  return text;
}

class RocmImportTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "rocm_import");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
    services_.paths.share = AACO_SOURCE_DIR;  // data/ lies there
    services_.paths.sessions = core::join_path(folder_->path(), "sessions");
  }
  void file(const std::string& name, std::string_view text) {
    const std::string path = core::join_path(input(), name);
    ASSERT_TRUE(core::make_directories(core::parent_path(path)).has_value());
    ASSERT_TRUE(core::write_file_atomic(path, text).has_value());
  }
  [[nodiscard]] std::string input() const { return core::join_path(folder_->path(), "input"); }
  core::Result<SessionOutcome> run(const std::string& path) {
    ImportRequest request;
    request.paths = {path};
    return import(request, services_);
  }
  static double metric(const SessionOutcome& outcome, std::string_view id) {
    const auto* found = trace::find_metric(outcome.metrics, id);
    return found == nullptr ? -1 : found->value;
  }
  static std::vector<trace::KernelCounterRow> counter_rows(const SessionOutcome& outcome) {
    trace::NameTable names;
    auto rows = tracelake::read_table<trace::KernelCounterRow>(outcome.path, names);
    return rows ? std::move(*rows) : std::vector<trace::KernelCounterRow>();
  }
  static bool warns(const SessionOutcome& outcome, std::string_view id) {
    for (const auto& warning : outcome.manifest.warnings)
      if (warning.id == id) return true;
    return false;
  }

  std::optional<core::TemporaryDirectory> folder_;
  Services services_;
};

TEST_F(RocmImportTest, TablesOfOneRunAreOneSession) {
  file("h/77_kernel_trace.csv", kernels(0));
  file("h/77_hip_api_trace.csv", calls(0));
  file("h/77_counter_collection.csv", counters(0, {"SQ_WAVES"}));
  file("h/77_agent_info.csv",
       "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\",\"Product_Name\"\n1,1,\"GPU\",\"gfx942\",\"MI300X\"\n");
  file("h/77_kernel_stats.csv",
       "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n\"gemm\",3,600,200,"
       "100,100,300,100\n");
  file("h/notes.txt", "nothing");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 3);  // not six: the counters' dispatches are the same
  EXPECT_EQ(metric(*outcome, "gpu.kernel_sum_ns"), 600);
  EXPECT_EQ(metric(*outcome, "gpu.linked_kernel_sum_ns"), 600);  // each has its launch
  EXPECT_EQ(counter_rows(*outcome).size(), 3U);
  EXPECT_EQ(outcome->manifest.accounts.size(), 5U);
  EXPECT_FALSE(warns(*outcome, "import.statistics_differ"));
  EXPECT_TRUE(warns(*outcome, "import.passed_over"));
}

TEST_F(RocmImportTest, StatisticsAloneAreASessionOfTotals) {
  file("77_kernel_stats.csv",
       "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n"
       "\"relu_kernel\",5,50,10,25,9,11,1\n\"Cijk_Ailk_Bljk_SB_MT64x64x8_SE\",3,150,50,75,40,60,1\n");
  file("77_hip_api_stats.csv",
       "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"hipLaunchKernel\",8,80,10,100\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 8);
  EXPECT_EQ(metric(*outcome, "gpu.kernel_sum_ns"), 200);
  EXPECT_DOUBLE_EQ(metric(*outcome, "fingerprint.time_coverage_ratio"), 1);
  for (const char* id : {"gpu.busy_ns", "gpu.span_ns", "gpu.idle_ns", "gpu.active_ratio", "launch.tax"})
    EXPECT_EQ(trace::find_metric(outcome->metrics, id), nullptr) << id;  // not known, which is not 0
  EXPECT_TRUE(warns(*outcome, "import.totals_only"));
  const auto kernels = top_kernels(outcome->path, 10);
  ASSERT_TRUE(kernels.has_value());
  ASSERT_EQ(kernels->size(), 2U);
  EXPECT_EQ((*kernels)[0].family, "gemm");
  EXPECT_EQ((*kernels)[0].sum_ns, 150);
  EXPECT_EQ((*kernels)[1].count, 5);
  const auto summary = core::read_json_file(core::join_path(outcome->path, "profiler/kernel_summary.json"));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ((*summary)["kernels"].items()[0]["min_ns"].as_i64(), 40);
  EXPECT_EQ((*summary)["kernels"].items()[0]["mean_ns"].as_f64(), 50);
  EXPECT_EQ((*summary)["calls"].items()[0]["domain"].text(), "hip");
  EXPECT_TRUE((*summary)["calls"].items()[0]["min_ns"].is_null());
}

TEST_F(RocmImportTest, StatisticsBesideATraceStayACheck) {
  file("77_kernel_trace.csv", kernels(0));
  file("77_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"gemm\",3,600,200,100\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 3);  // not six
  EXPECT_FALSE(warns(*outcome, "import.totals_only"));
}

TEST_F(RocmImportTest, SampledProgramCountersAreCountedByKernelWhereOneIsKnown) {
  const std::string samples =
      "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"\n"
      "10,1,1,\"s_endpgm\",\"\",1\n11,1,2,\"v_add\",\"\",2\n12,1,2,\"v_add\",\"\",2\n13,1,9,\"v_add\",\"\",9\n";
  file("alone/77_pc_sampling_host_trap.csv", samples);
  const auto alone = run(core::join_path(input(), "alone"));
  ASSERT_TRUE(alone.has_value()) << alone.error().text();
  EXPECT_TRUE(warns(*alone, "import.samples_only"));
  EXPECT_EQ(trace::find_metric(alone->metrics, "gpu.kernel_count"), nullptr);
  const auto of_alone = core::read_json_file(core::join_path(alone->path, "profiler/kernel_summary.json"));
  ASSERT_TRUE(of_alone.has_value());
  EXPECT_EQ((*of_alone)["samples"]["instructions"].items()[0]["instruction"].text(), "v_add");
  EXPECT_EQ((*of_alone)["samples"]["instructions"].items()[0]["samples"].as_i64(), 3);
  EXPECT_TRUE((*of_alone)["samples"]["kernels"].is_null());

  file("both/77_pc_sampling_host_trap.csv", samples);
  file("both/77_kernel_trace.csv", kernels(0));
  const auto both = run(core::join_path(input(), "both"));
  ASSERT_TRUE(both.has_value());
  EXPECT_FALSE(warns(*both, "import.samples_only"));
  const auto of_both = core::read_json_file(core::join_path(both->path, "profiler/kernel_summary.json"));
  ASSERT_TRUE(of_both.has_value());
  ASSERT_EQ((*of_both)["samples"]["kernels"].items().size(), 1U);
  EXPECT_EQ((*of_both)["samples"]["kernels"].items()[0]["samples"].as_i64(), 3);  // dispatch 9 is not in the trace
}

TEST_F(RocmImportTest, TimesBeyondAnyClockAreNotCountedAndSaid) {
  file("77_kernel_trace.csv",
       std::string(kKernelHeader) +
           "\"KERNEL_DISPATCH\",\"Agent 1\",1,7,1,5,\"k\",1,9223372036854774808,9223372036854775308,64,1,1,64,1,1\n"
           "\"KERNEL_DISPATCH\",\"Agent 1\",1,7,2,5,\"k\",2,100,200,64,1,1,64,1,1\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 1);
  EXPECT_TRUE(warns(*outcome, "gpu.odd_times"));
}

TEST_F(RocmImportTest, WorkFarFromAllOtherIsSaid) {
  file("h/77_kernel_trace.csv", kernels(0));
  auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(warns(*outcome, "gpu.stray_work"));
  file("h/77_kernel_trace.csv", kernels(0) +
                                    R"("KERNEL_DISPATCH","Agent 1",1,7,9,5,"gemm",9,3600000000000,3600000000100,64,1,1,128,1,1)"
                                    "\n");
  outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(warns(*outcome, "gpu.stray_work"));  // an hour behind
  EXPECT_FALSE(warns(*outcome, "gpu.repeated_kernels"));
}

TEST_F(RocmImportTest, KernelsThatStandTwiceAreSaid) {
  const std::string table = kernels(0);
  file("h/77_kernel_trace.csv", table + table.substr(kKernelHeader.size()));
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(warns(*outcome, "gpu.repeated_kernels"));
}

TEST_F(RocmImportTest, EmptyStatisticsAreNoSession) {
  file("77_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n");
  EXPECT_FALSE(run(input()).has_value());
}

TEST_F(RocmImportTest, StatisticsThatDifferAreSaid) {
  file("77_kernel_trace.csv", kernels(0));
  file("77_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"gemm\",4,700,200,100\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(warns(*outcome, "import.statistics_differ"));
}

TEST_F(RocmImportTest, CountersOfSeveralPassesAreJoinedByDispatch) {
  file("pmc_1/h/100_counter_collection.csv", counters(0, {"SQ_WAVES", "GRBM_COUNT"}));
  file("pmc_2/h/200_counter_collection.csv", counters(9000, {"TCC_HIT", "GRBM_COUNT"}));
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 3);  // of the first pass
  const auto rows = counter_rows(*outcome);
  std::set<std::pair<std::uint64_t, std::uint32_t>> different;
  for (const auto& row : rows) different.emplace(row.dispatch_id, row.counter.value);
  EXPECT_EQ(rows.size(), 9U);
  EXPECT_EQ(different.size(), 9U);
  EXPECT_FALSE(warns(*outcome, "import.passes_differ"));
}

TEST_F(RocmImportTest, PassesThatDidNotDoTheSameAreSaid) {
  file("pass_1/out_counter_collection.csv", counters(0, {"SQ_WAVES"}));
  file("pass_2/out_counter_collection.csv", counters(9000, {"TCC_HIT"}, "softmax"));
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(warns(*outcome, "import.passes_differ"));
}

TEST_F(RocmImportTest, ATableOfSeveralRunsKeepsTheCountersOfEach) {
  const std::string second = counters(9000, {"SQ_WAVES", "TCC_HIT"}, "softmax");
  const std::string both = counters(0, {"SQ_WAVES", "TCC_HIT"}) + second.substr(std::string(kCounterHeader).size());
  file("pass_1/out_counter_collection.csv", both);
  file("pass_2/out_counter_collection.csv", both);  // which the first has
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(counter_rows(*outcome).size(), 12U);
  EXPECT_FALSE(warns(*outcome, "import.passes_differ"));
}

TEST_F(RocmImportTest, ProcessesOnOneAgentShareAGpu) {
  file("h/100_kernel_trace.csv", kernels(0));
  file("h/101_kernel_trace.csv", kernels(50));
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  const auto& gpus = outcome->manifest.outcome.gpu["gpus"].items();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0]["shared_by_ranks"].items().size(), 2U);
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 6);
  EXPECT_TRUE(warns(*outcome, "gpu.shared"));
}

TEST_F(RocmImportTest, ProcessesAreRanks) {
  file("h/100_kernel_trace.csv", kernels(0));
  file("h/100_hip_api_trace.csv", calls(0));
  file("h/101_kernel_trace.csv", core::replace_all(kernels(50), "Agent 1", "Agent 2"));
  file("h/101_hip_api_trace.csv", calls(50));
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  const auto& gpus = outcome->manifest.outcome.gpu["gpus"].items();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[1]["rank"].as_i64(), 1);
}

TEST_F(RocmImportTest, ProcessesInOneTableAreRanksThatTheOtherTablesShare) {
  file("m_kernel_trace.csv",
       "Guid,Kind,Agent_Id,Kernel_Name,Dispatch_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
       "g1,KERNEL_DISPATCH,Agent 4,k,1,7,1000,2000\ng2,KERNEL_DISPATCH,Agent 5,k,1,7,1100,2100\n");
  file("m_hip_api_trace.csv",
       "Guid,Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
       "g2,HIP_API,hipLaunchKernel,8,8,7,500,600\ng1,HIP_API,hipLaunchKernel,9,9,7,700,800\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(warns(*outcome, "import.processes_mixed"));
  const auto& gpus = outcome->manifest.outcome.gpu["gpus"].items();
  ASSERT_EQ(gpus.size(), 2U);
  const auto latency = [&](std::int64_t device) {
    for (const auto& each : outcome->metrics)
      if (each.id == "launch.queue_mean_ns" && each.device == device) return each.value;
    return -1.0;
  };
  EXPECT_EQ(latency(4), 200);  // from its own process's call
  EXPECT_EQ(latency(5), 500);
}

TEST_F(RocmImportTest, ADocumentAndItsTablesAreReadOnce) {
  file("results.csv", "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"BeginNs\",\"EndNs\"\n0,\"k\",0,0,1000,1500\n");
  file("results.json", R"({ "traceEvents":[{}
,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":1}
,{"ph":"X","name":"k","pid":6,"tid":0,"ts":"1","dur":"1","args":{"KernelName":"k","gpu-id":"0","queue-id":"0","BeginNs":"1000","EndNs":"1500"}}
],"otherData":{}})");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 1);
  ASSERT_EQ(outcome->manifest.outcome.passed_over.items().size(), 1U);
}

TEST_F(RocmImportTest, ADocumentWithoutAnEventLeavesTheTableItsPlace) {
  file("results.csv", "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"BeginNs\",\"EndNs\"\n0,\"k\",0,0,1000,1500\n");
  file("results.json", ",{\"args\":{\"name\":\"COPY\"},\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"sort_index\":0}\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), 1);
  EXPECT_TRUE(warns(*outcome, "import.file_failed"));
}

TEST_F(RocmImportTest, KernelsOfTwoProfilersAreSaid) {
  file("h/77_kernel_trace.csv", kernels(0));
  file("h/trace.json",
       R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":1}}]})");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(warns(*outcome, "import.several_profilers"));
}

TEST_F(RocmImportTest, RunsAfterEachOtherAreSaid) {
  const std::string heading = "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"BeginNs\",\"EndNs\"\n";
  file("a/results.csv", heading + "0,\"k\",0,0,1000,1500\n");
  const auto one = run(input());
  file("b/results.csv", heading + "0,\"k\",0,0,8000,8500\n");
  const auto two = run(input());
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_FALSE(warns(*one, "import.several_runs"));
  EXPECT_TRUE(warns(*two, "import.several_runs"));
}

TEST_F(RocmImportTest, AFolderOfFactsOnlyIsRefused) {
  file("77_agent_info.csv", "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\"\n1,1,\"GPU\",\"gfx942\"\n");
  EXPECT_FALSE(run(input()).has_value());
}

TEST_F(RocmImportTest, MigraphxProgramsBecomeGraphAndPartition) {
  file("read.txt", "@0 = @param:x -> float_type, {1}, {1}\n@1 = relu(@0) -> float_type, {1}, {1}\n");
  file("compile.txt", "Compiling ...\n@0 = @param:x -> float_type, {1}, {1}\n@1 = gpu::relu(@0) -> float_type, {1}, {1}\n");
  const auto outcome = run(input());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  trace::NameTable names;
  const auto nodes = tracelake::read_table<trace::GraphNodeRow>(outcome->path, names);
  ASSERT_TRUE(nodes.has_value());
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ(names.text((*nodes)[1].op_type), "gpu::relu");
  EXPECT_TRUE(core::exists(core::join_path(outcome->path, "runtime/migraphx_partition.json")));
}

// The shared folders, with numbers that their own tables have.
TEST_F(RocmImportTest, RealFoldersHaveEachKernelOnce) {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::string root = core::join_path(set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data", "traces");
  if (!core::exists(core::join_path(root, "rocprof_legacy"))) GTEST_SKIP() << "skipped, no real data";
  const auto lines = [&](const std::string& path) {
    const auto text = core::read_file(core::join_path(root, path));
    return text ? static_cast<double>(std::count(text->begin(), text->end(), '\n')) - 1 : -1;
  };
  const struct {
    const char *folder, *table;
  } cases[] = {{"rocprof_legacy/ROCm_aiter_root", "rocprof_legacy/ROCm_aiter_root/results.csv"},
               {"rocprof_compute/ROCm_rocprofiler-compute/vcopy/MI200",
                "rocprof_compute/ROCm_rocprofiler-compute/vcopy/MI200/timestamps.csv"}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.folder);
    const auto outcome = run(core::join_path(root, each.folder));
    ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
    EXPECT_EQ(metric(*outcome, "gpu.kernel_count"), lines(each.table));
    EXPECT_FALSE(warns(*outcome, "import.statistics_differ"));
    std::set<std::pair<std::uint64_t, std::uint32_t>> different;
    const auto rows = counter_rows(*outcome);
    for (const auto& row : rows) different.emplace(row.dispatch_id, row.counter.value);
    EXPECT_EQ(different.size(), rows.size());
  }
  // Put together from runs that each count their dispatches from the first: 56 numbers for 2,894 dispatches.
  const auto several = run(core::join_path(root, "rocprofv3_csv/ROCm_aiter_moe_MI300_MI350/mi300_moe_target_counters.csv"));
  ASSERT_TRUE(several.has_value()) << several.error().text();
  EXPECT_EQ(counter_rows(*several).size(), 162'056U) << "of 162,064 cells eight are empty";
}

}  // namespace
}  // namespace aaco::workflows
