#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/files.h"
#include "tests/support/made_session.h"
#include "tracelake/lake.h"
#include "workflows/import.h"
#include "workflows/session_report.h"
#include "workflows/side_by_side.h"

// Tables work_rates and collective_calls, and the comparison side by side, of imported traces: own fixtures, and the shared ones.
namespace aaco::workflows {
namespace {

using core::Json;

core::Result<SessionOutcome> import_files(const Lake& lake, const std::vector<std::string>& paths) {
  ImportRequest request;
  request.paths = paths;
  return import(request, lake.services);
}

// A step on each rank: a matrix product of 512 x 1024 x 256 (bf16) for `mm_us`, then an all-reduce of 4 MiB that ends at 1000 us.
std::string rank_trace(int rank, int mm_us, const char* kernel = "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_SE_K1",
                       const char* device = "AMD Instinct MI300X") {
  const std::string begin = std::to_string(100 + mm_us);
  return R"({"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":)" + std::to_string(rank) + R"(,"world_size":2},
"deviceProperties":[{"id":0,"name":")" +
         device + R"("}],"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":50,"dur":1000,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":60,"dur":20,"args":{"External id":1,"Input Dims":[[512,256],[256,1024]],"Input type":["c10::BFloat16","c10::BFloat16"],"Input Strides":[[256,1],[1024,1]],"Concrete Inputs":["",""]}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":65,"dur":5,"args":{"correlation":11}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":85,"dur":5,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":")" +
         kernel + R"(","pid":0,"tid":7,"ts":100,"dur":)" + std::to_string(mm_us) +
         R"(,"args":{"device":0,"stream":7,"correlation":11,"grid":[64,1,1],"block":[256,1,1]}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL","pid":0,"tid":8,"ts":)" +
         begin + R"(,"dur":)" + std::to_string(900 - mm_us) +
         R"(,"args":{"device":0,"stream":8,"correlation":12,"Collective name":"allreduce","In msg nelems":2097152,"dtype":"BFloat16","Group size":2,"Process Group Name":"0"}}
]})";
}

template <class Row>
std::vector<Row> rows_of(const SessionOutcome& session, trace::NameTable& names) {
  auto rows = tracelake::read_table<Row>(session.path, names);
  EXPECT_TRUE(rows) << rows.error().text();
  return rows ? *rows : std::vector<Row>();
}

TEST(RatesImport, AMatrixProductHasFlopsAndBytesPerSecond) {
  const Lake lake;
  const auto session = import_files(lake, {lake.file("rank0.json", rank_trace(0, 400))});
  ASSERT_TRUE(session) << session.error().text();
  trace::NameTable names;
  const auto rates = rows_of<trace::WorkRateRow>(*session, names);
  ASSERT_EQ(rates.size(), 2U);
  for (const auto& rate : rates) {
    const double flops = 2.0 * 512 * 1024 * 256, bytes = 2.0 * (512 * 256 + 256 * 1024 + 512 * 1024);
    EXPECT_EQ(names.text(rate.source), "shapes");
    EXPECT_EQ(names.text(rate.data_type), "bfloat16");
    EXPECT_EQ(rate.time_ns, 400'000);
    EXPECT_DOUBLE_EQ(rate.flops.value_or(0), flops);
    EXPECT_EQ(rate.bytes.value_or(0), static_cast<std::int64_t>(bytes));
    EXPECT_NEAR(rate.flops_per_s.value_or(0), flops / 400e-6, 1);
    ASSERT_TRUE(rate.peak_flops_per_s && rate.flops_ratio && rate.bytes_ratio);
    EXPECT_DOUBLE_EQ(*rate.flops_ratio, *rate.flops_per_s / *rate.peak_flops_per_s);
  }
  EXPECT_EQ(names.text(rates[0].subject), "kernel");
  EXPECT_EQ(names.text(rates[1].name), "aten::mm");
}

TEST(RatesImport, AnUnknownDeviceHasRatesWithoutShares) {
  const Lake lake;
  const auto session =
      import_files(lake, {lake.file("rank0.json", rank_trace(0, 400, "Cijk_Ailk_Bljk_BBS_BH_MT1x1x1", "Unheard 1"))});
  ASSERT_TRUE(session);
  trace::NameTable names;
  for (const auto& rate : rows_of<trace::WorkRateRow>(*session, names)) {
    EXPECT_TRUE(rate.flops_per_s.has_value());
    EXPECT_FALSE(rate.flops_ratio || rate.bytes_ratio || rate.peak_flops_per_s);
    EXPECT_EQ(names.text(rate.hardware), "");
  }
}

TEST(RatesImport, RanksWaitForTheLastOne) {
  const Lake lake;
  const auto session =
      import_files(lake, {lake.file("rank0.json", rank_trace(0, 400)), lake.file("rank1.json", rank_trace(1, 700))});
  ASSERT_TRUE(session) << session.error().text();
  trace::NameTable names;
  const auto calls = rows_of<trace::CollectiveCallRow>(*session, names);
  ASSERT_EQ(calls.size(), 2U);
  for (const auto& call : calls) {
    EXPECT_EQ(call.instance, 0);
    EXPECT_EQ(call.rank_count, 2);
    EXPECT_EQ(call.wait_ns, call.rank == 0 ? 300'000 : 0);
    EXPECT_EQ(names.text(call.wait_method), "arrival");
    EXPECT_EQ(call.data_bytes, 4 << 20);
    EXPECT_NEAR(call.algorithm_bytes_per_s.value_or(0), (4 << 20) / 200e-6, 1);  // since the last arrival
    EXPECT_NEAR(call.bus_bytes_per_s.value_or(0), (4 << 20) / 200e-6, 1);        // factor 1 of two ranks
  }
  const auto report = load_report(session->path, lake.services.paths);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->sections.collectives);
  EXPECT_EQ(report->sections.collectives->matched_count, 2);
  ASSERT_EQ(report->sections.collectives->worst.size(), 1U);
  EXPECT_EQ(report->sections.collectives->worst[0].last_rank, 1);
  ASSERT_TRUE(report->sections.work_rates);
  EXPECT_EQ(report->sections.work_rates->kernels.at(0).short_name, "GEMM bf16 MT128x128x32");
  EXPECT_EQ(report->kernels.at(1).short_name.empty(), report->kernels.at(1).group == "collective");
}

TEST(RatesImport, OneRankHasBandwidthsOverItsDuration) {
  const Lake lake;
  const auto session = import_files(lake, {lake.file("rank0.json", rank_trace(0, 400))});
  ASSERT_TRUE(session);
  trace::NameTable names;
  const auto calls = rows_of<trace::CollectiveCallRow>(*session, names);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(calls[0].wait_ns);
  EXPECT_EQ(names.text(calls[0].time_method), "duration");
}

TEST(RatesImport, KernelsOfOneRoleAreSideBySideAcrossDevices) {
  const Lake lake;
  const auto a = import_files(lake, {lake.file("a.json", rank_trace(0, 400))});
  const auto b =
      import_files(lake, {lake.file("b.json", rank_trace(0, 100, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64",
                                                         "NVIDIA H100 80GB HBM3"))});
  ASSERT_TRUE(a && b);
  const auto sides = side_by_side({a->manifest.id.text, b->manifest.id.text, true, true}, lake.services);
  ASSERT_TRUE(sides) << sides.error().text();
  ASSERT_TRUE(sides->kernels && sides->tree);
  const auto mm = std::find_if(sides->kernels->begin(), sides->kernels->end(),
                               [](const auto& pair) { return pair.match == analytics::tracediff::Match::role; });
  ASSERT_NE(mm, sides->kernels->end());
  EXPECT_EQ(mm->role, "aten::mm, gemm");
  EXPECT_DOUBLE_EQ(mm->delta_ns, -300'000);
  const auto op =
      std::find_if(sides->tree->begin(), sides->tree->end(), [](const auto& node) { return node.name == "aten::mm"; });
  ASSERT_NE(op, sides->tree->end());
  EXPECT_DOUBLE_EQ(op->device_delta_ns, -300'000);
  EXPECT_FALSE(to_json(*sides)["same_device"].as_bool().value_or(true));
  EXPECT_FALSE(sides->notes.empty());
}

TEST(RatesImport, SessionsWithoutKernelsAreNotComparedSideBySide) {
  const Lake lake;
  const auto run = lake.make({.calls_ns = {1e6, 1e6}});
  const auto sides = side_by_side({run.manifest.id.text, run.manifest.id.text, true, false}, lake.services);
  ASSERT_FALSE(sides);
  EXPECT_NE(sides.error().message.find("no GPU kernels"), std::string::npos);
  EXPECT_FALSE(side_by_side({"nothing", "nothing", true, false}, lake.services));
}

// Every row of the shared traces holds what the columns promise; times are no more than the trace has.
TEST(RatesImport, RealTracesAreConsistent) {
  const char* place = std::getenv("AACO_REAL_DATA");
  const std::string root = core::join_path(place != nullptr ? place : AACO_SOURCE_DIR "/../shared/data", "traces");
  if (!core::is_directory(root)) GTEST_SKIP() << "no real data";
  const Lake lake;
  std::int64_t kernels = 0, bandwidths = 0;
  for (const char* file : {"kineto/AMD-AGI_TraceLens/h100/gaunernst_bert-small-uncased__1016001.json.gz",
                           "kineto/AMD-AGI_TraceLens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz",
                           "kineto/AMD-AGI_TraceLens/mi300/ddp_resnet18_no_pool/train_resnet18.json.gz",
                           "kineto/amd_HPCTrainingExamples_TraceLens/merged_nccl_only.json.gz",
                           "rocprof_compute/amd_HPCTrainingExamples_omniperf_MI300A"}) {
    const auto session = import_files(lake, {core::join_path(root, file)});
    ASSERT_TRUE(session) << file << session.error().text();
    trace::NameTable names;
    double shaped_ns = 0, all_ns = 0;
    for (const auto& rate : rows_of<trace::WorkRateRow>(*session, names)) {
      const double seconds = static_cast<double>(rate.time_ns) * 1e-9;
      EXPECT_TRUE(rate.flops || rate.bytes) << file;
      if (rate.flops) {
        EXPECT_NEAR(rate.flops_per_s.value_or(0) * seconds / *rate.flops, 1, 1e-3) << file;
      }
      if (rate.bytes) {
        EXPECT_NEAR(rate.bytes_per_s.value_or(0) * seconds / static_cast<double>(*rate.bytes), 1, 1e-3) << file;
      }
      EXPECT_EQ(rate.flops.has_value(), rate.flops_per_s.has_value());
      if (rate.flops_ratio) {
        EXPECT_LT(*rate.flops_ratio, 1.05) << file << " " << names.text(rate.name);
      }
      EXPECT_FALSE(names.text(rate.source).empty());
      const bool kernel = names.text(rate.subject) == "kernel";
      kernels += kernel ? 1 : 0;
      if (kernel && names.text(rate.source) == "shapes") shaped_ns += static_cast<double>(rate.time_ns);
    }
    for (const auto& group : rows_of<trace::KernelGroupRow>(*session, names)) all_ns += static_cast<double>(group.kernel_sum_ns);
    EXPECT_LE(shaped_ns, all_ns * (1 + 1e-9)) << file;
    std::size_t collectives = rows_of<trace::CollectiveRow>(*session, names).size();
    const auto calls = rows_of<trace::CollectiveCallRow>(*session, names);
    EXPECT_EQ(calls.size(), collectives) << file;
    for (const auto& call : calls) bandwidths += call.bus_bytes_per_s ? 1 : 0;
  }
  EXPECT_GT(kernels, 20);
  EXPECT_GT(bandwidths, 10);
}

}  // namespace
}  // namespace aaco::workflows
