#include "workflows/import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "importers/file_source.h"
#include "tests/support/simple_trace.h"
#include "tests/support/source_dir.h"
#include "tracelake/lake.h"

// Imports of real and hand-made traces against a second, simple computation (tests/support/simple_trace.h).
namespace aaco::workflows {
namespace {

using core::Json;

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir(), "import");
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
    services_.paths.share = AACO_SOURCE_DIR;  // data/ lies there
    services_.paths.sessions = core::join_path(folder_->path(), "sessions");
    services_.tool_version = "test";
  }
  std::string file(const std::string& name, std::string_view text) {
    const std::string path = core::join_path(folder_->path(), name);
    EXPECT_TRUE(core::write_file_atomic(path, text).has_value());
    return path;
  }
  core::Result<SessionOutcome> run(const std::vector<std::string>& paths) {
    ImportRequest request;
    request.paths = paths;
    return import(request, services_);
  }
  // Folders of sessions, whole or half.
  std::size_t sessions() const {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& day : std::filesystem::directory_iterator(services_.paths.sessions, none))
      if (day.is_directory() && !day.is_symlink())
        for (const auto& entry : std::filesystem::directory_iterator(day.path())) count += entry.is_directory() ? 1 : 0;
    return count;
  }
  std::optional<core::TemporaryDirectory> folder_;
  Services services_;
};

void expect_equal(const SessionOutcome& outcome, const SimpleTrace& simple) {
  for (const auto& [number, device] : simple.devices) {
    const auto expect = [&, device_number = number](const char* id, std::int64_t value) {
      const auto* metric = trace::find_metric(outcome.metrics, id, device_number);
      ASSERT_NE(metric, nullptr) << id << " of GPU " << device_number;
      EXPECT_EQ(static_cast<std::int64_t>(metric->value), value) << id << " of GPU " << device_number;
    };
    expect("gpu.kernel_count", device.kernels);
    expect("gpu.kernel_sum_ns", device.kernel_sum);
    expect("gpu.busy_ns", device.busy);
    expect("gpu.span_ns", device.span);
    expect("gpu.idle_ns", device.span - device.busy);
    expect("gpu.compute_ns", device.compute);
    expect("gpu.copy_sum_ns", device.copy_sum);
    expect("gpu.collective_sum_ns", device.collective_sum);
    expect("gpu.exposed_copy_ns", device.exposed_copy);
    expect("gpu.exposed_collective_ns", device.exposed_collective);
    expect("gpu.orphan_kernel_count", device.orphans);
    expect("gpu.linked_kernel_sum_ns", device.linked_sum);
    const auto* active = trace::find_metric(outcome.metrics, "gpu.active_ratio", number);
    EXPECT_DOUBLE_EQ(active != nullptr ? active->value : 0,
                     device.span > 0 ? static_cast<double>(device.active) / static_cast<double>(device.span) : 0);
  }
  const auto kernels = top_kernels(outcome.path, SIZE_MAX);
  ASSERT_TRUE(kernels.has_value());
  EXPECT_EQ(kernels->size(), simple.kernels.size());
  for (const TopKernel& kernel : *kernels) {
    const auto found = simple.kernels.find(kernel.name);
    ASSERT_NE(found, simple.kernels.end()) << kernel.name;
    EXPECT_EQ(std::pair(kernel.count, kernel.sum_ns), found->second) << kernel.name;
  }
}

constexpr std::int64_t kMaxQuickBytes = 1'200'000;  // compressed

// Files below a folder of the shared data whose name contains `part`. The large ones are a proof (scripts/proofs/real_traces.sh),
// not a part of every test run.
std::vector<std::string> real_files(const char* folder, std::string_view part) {
  const char* place = std::getenv("AACO_REAL_DATA");
  const std::string root = core::join_path(place != nullptr ? place : AACO_SOURCE_DIR "/../shared/data", folder);
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, none))
    if (const std::string path = entry.path().string(); core::base_name(path).find(part) != std::string::npos)
      if (std::getenv("AACO_LONG_TESTS") != nullptr || core::file_size(path).value_or(0) <= kMaxQuickBytes) files.push_back(path);
  std::sort(files.begin(), files.end());
  return files;
}
std::vector<std::string> real_kineto_traces() { return real_files("traces/kineto", ".json"); }

std::string limits_of(const SessionOutcome& outcome) {
  std::string out;
  for (const Json& gpu : outcome.manifest.outcome.gpu["gpus"].items())
    out += (out.empty() ? "" : ",") + std::string(gpu["bound"]["limit"].text());
  return out;
}

// What binds the shared traces, judged by looking at them: eager inference of small models launches one by one; the decoder's
// stream waits for an event; benchmarks of one operator wait for the host or set up libraries; a training step is busy.
TEST_F(ImportTest, RealTracesAreBoundByWhatAReaderSees) {
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"h100/gaunernst_bert", "launch"},    {"mi300/gaunernst_bert", "launch"}, {"mi300/Falconsai", "launch"},
      {"sglang_Qwen3-8B_decode", "held"},   {"gpu_only_trace", "compute"},      {"alexnet", "warmup"},
      {"event_sync_trace", "waiting"},      {"triton_example", "compute"},      {"benchmark_simple_add", "waiting"},
      {"resnet50_num_workers_4", "compute"}};
  const auto files = real_kineto_traces();
  if (files.empty()) GTEST_SKIP() << "skipped, no real data";
  std::size_t found = 0;
  for (const std::string& path : files)
    for (const auto& [part, limit] : expected) {
      if (path.find(part) == std::string::npos || path.find("_et.json") != std::string::npos) continue;
      const auto outcome = run({path});
      ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
      EXPECT_EQ(limits_of(*outcome), limit) << path;
      ++found;
    }
  EXPECT_GE(found, expected.size());
}

TEST_F(ImportTest, RealTracesEqualTheSimplePathToTheNanosecond) {
  const auto files = real_kineto_traces();
  if (files.empty()) GTEST_SKIP() << "skipped, no real data";
  int with_devices = 0;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const SimpleTrace simple = simple_trace(path);
    if (simple.devices.empty()) continue;
    ++with_devices;
    const auto outcome = run({path});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
    expect_equal(*outcome, simple);
    trace::NameTable names;
    const auto gaps = tracelake::read_table<trace::GapRow>(outcome->path, names);
    ASSERT_TRUE(gaps.has_value());
    double gap_ns = 0, unknown_ns = 0;
    for (const auto& gap : *gaps) {
      gap_ns += static_cast<double>(gap.end_ns - gap.start_ns);
      if (names.text(gap.cause) == "unknown") unknown_ns += static_cast<double>(gap.end_ns - gap.start_ns);
    }
    std::printf("%-55s gaps unexplained: %6.2f %%  %s\n", core::base_name(path).substr(0, 55).c_str(),
                gap_ns > 0 ? 100 * unknown_ns / gap_ns : 0, limits_of(*outcome).c_str());
    EXPECT_TRUE(unknown_ns <= 0.15 * gap_ns || !simple.has_launches()) << unknown_ns << " of " << gap_ns;
  }
  ASSERT_GT(with_devices, 0);
}

// Every shared trace by itself: databases of other profilers too.
TEST_F(ImportTest, RealTracesKnowTheFamilyOfNearlyAllKernelTime) {
  auto files = real_files("traces/kineto", ".json");
  for (const auto& [folder, ending] : {std::pair{"traces/rpd_db", ".rpd"},
                                       {"traces/nsys_sqlite", ".sqlite"},
                                       {"traces/rocprof_legacy", "results.csv"},
                                       {"traces/rocprofv3_csv", "target_traces.csv"}})
    for (std::string& path : real_files(folder, ending)) files.push_back(std::move(path));
  if (files.empty()) GTEST_SKIP() << "skipped, no real data";
  int with_kernels = 0;
  for (const std::string& path : files) {
    const auto outcome = run({path});
    if (!outcome) {
      EXPECT_NE(path.find("execution_trace"), std::string::npos) << outcome.error().message;  // they hold no timeline
      continue;
    }
    const auto kernels = top_kernels(outcome->path, SIZE_MAX);
    ASSERT_TRUE(kernels.has_value());
    double kernel_ns = 0, other_ns = 0;
    for (const auto& kernel : *kernels) {
      kernel_ns += static_cast<double>(kernel.sum_ns);
      if (kernel.family == "other") other_ns += static_cast<double>(kernel.sum_ns);
    }
    if (kernel_ns == 0) continue;
    ++with_kernels;
    std::printf("%-55s kernels of no family: %.3f %% of kernel time\n", core::base_name(path).substr(0, 55).c_str(),
                100 * other_ns / kernel_ns);
    EXPECT_LE(other_ns, 0.02 * kernel_ns) << path;
  }
  EXPECT_GT(with_kernels, 0);
}

constexpr std::string_view kSmall = R"({"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0.5,"dur":20,"args":{"External id":5}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1,"dur":4,"args":{"correlation":11}},
 {"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk_SB_MT64x64x8_SE","pid":0,"tid":7,"ts":10.001,"dur":5.5,"args":{"device":0,"stream":7,"correlation":11}},
 {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":8,"ts":14,"dur":10,"args":{"device":0,"stream":8,"correlation":77}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":40,"dur":2,"args":{"device":0,"stream":7,"correlation":12,"bytes":4096}}
]})";

TEST_F(ImportTest, ASmallTraceEqualsTheSimplePath) {
  const std::string path = file("trace.json", kSmall);
  const auto outcome = run({path});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  expect_equal(*outcome, simple_trace(path));
  EXPECT_EQ(outcome->manifest.kind, "import");
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "attribution.launch_coverage_ratio")->value, 0.5);
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "fingerprint.time_coverage_ratio")->value, 1);
  ASSERT_EQ(outcome->manifest.accounts.size(), 1u);
  EXPECT_EQ(sessions(), 1u);
}
TEST_F(ImportTest, WithoutOrphans) {
  ImportRequest request;
  request.paths = {file("trace.json", kSmall)};
  request.count_orphans = false;
  const auto outcome = import(request, services_);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(trace::find_metric(outcome->metrics, "gpu.kernel_count")->value, 1);
  EXPECT_EQ(trace::find_metric(outcome->metrics, "gpu.orphan_kernel_count")->value, 1);
  EXPECT_EQ(outcome->manifest.outcome.gpu["convention"]["orphan_kernels"].text(), "left out");
}
// Why little is attributed depends on what the trace lacks.
TEST_F(ImportTest, LowAttributionReportsTheObstacle) {
  const auto reason = [&](std::string_view text) {
    const auto outcome = run({file("trace.json", text)});
    EXPECT_TRUE(outcome.has_value());
    if (outcome)
      for (const auto& warning : outcome->manifest.warnings)
        if (warning.id == "attribution.low") return warning.message;
    return std::string("none");
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  constexpr std::string_view kLaunch =
      R"({"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":30,"dur":4,"args":{"correlation":11}},)";
  constexpr std::string_view kKernel =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":5,"args":{"device":0,"stream":7,"correlation":11}}]})";
  const std::string begin = R"({"traceEvents":[)";
  EXPECT_TRUE(has(reason(begin + std::string(kLaunch) + std::string(kKernel)), "no operators or ranges"));
  EXPECT_TRUE(has(reason(begin + R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2},)" +
                         std::string(kLaunch) + std::string(kKernel)),
                  "outside any operator"));
  std::string late(kKernel);
  late.replace(late.find("11}"), 3, "12}");
  EXPECT_TRUE(has(reason(begin + std::string(kLaunch) + late), "no launch in the trace"));
  std::string graph(kLaunch);
  graph.replace(graph.find("hipLaunchKernel"), 15, "hipGraphLaunch");
  EXPECT_TRUE(has(reason(begin + graph + std::string(kKernel)), "graph launches hide"));
}
TEST_F(ImportTest, ShapesAndTheDeviceGiveARoofline) {
  const std::string path = file("shapes.json", R"({"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0.5,"dur":20,"args":{"External id":5,
  "Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"]}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1,"dur":4,"args":{"correlation":11}},
 {"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk_BBS_BH_MT64x64x8_SE","pid":0,"tid":7,"ts":10,"dur":210.25,
  "args":{"device":0,"stream":7,"correlation":11}}]})");
  const auto outcome = run({path});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  const Json& line = outcome->manifest.outcome.gpu["gpus"].items()[0]["roofline"];
  EXPECT_EQ(line["device_id"].text(), "amd_instinct_mi300x_192gb");
  ASSERT_EQ(line["kernels"].items().size(), 1u) << line.dump();
  const Json& kernel = line["kernels"].items()[0];
  EXPECT_DOUBLE_EQ(*kernel["flops"].as_f64(), 2.0 * 4096 * 4096 * 4096);
  EXPECT_EQ(kernel["roof"].text(), "compute");
  // 137.4 GFLOP at 1307.4 TFLOP/s are 105 us of 210.
  EXPECT_NEAR(trace::find_metric(outcome->metrics, "gpu.roofline_ratio")->value, 0.5, 0.005);
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "gpu.known_work_ratio")->value, 1);
  const Json& sites = outcome->manifest.outcome.gpu["gpus"].items()[0]["sites"];
  EXPECT_DOUBLE_EQ(*sites["explained_ratio"].as_f64(), 1);
  EXPECT_EQ(sites["nodes"].items().size(), 1U);
}
// The runs of an ONNX Runtime profile are what was measured: latency and throughput are theirs.
TEST_F(ImportTest, RunsOfAProfileAreALatencySeries) {
  const auto outcome = run({file("profile.json", R"([
 {"cat":"Node","tid":1,"ts":12,"dur":15,"name":"c_kernel_time","args":{"op_name":"Conv","node_index":"0"}},
 {"cat":"Kernel","dur":7,"ts":14,"name":"gemm","args":{"stream":"7","parent_name":"c_kernel_time"}},
 {"cat":"Session","tid":1,"ts":10,"dur":20,"name":"model_run"},
 {"cat":"Node","tid":1,"ts":52,"dur":15,"name":"c_kernel_time","args":{"op_name":"Conv","node_index":"0"}},
 {"cat":"Session","tid":1,"ts":50,"dur":30,"name":"model_run"}])")});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  ASSERT_NE(trace::find_metric(outcome->metrics, "latency.mean_ns"), nullptr);
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "latency.mean_ns")->value, 25'000);
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "node.compute_ns")->value, 15'000);
  for (const auto& warning : outcome->manifest.warnings)
    EXPECT_NE(warning.id, "attribution.no_launches");  // they name their node
}
TEST_F(ImportTest, WithoutShapesThereIsNoRooflineButAReason) {
  const auto outcome = run({file("trace.json", kSmall)});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->manifest.outcome.gpu["gpus"].items()[0]["roofline"]["reason"].text().empty());
  EXPECT_FALSE(outcome->manifest.outcome.gpu["gpus"].items()[0]["sites"]["reason"].text().empty());
  EXPECT_EQ(trace::find_metric(outcome->metrics, "gpu.roofline_ratio"), nullptr);
}
TEST_F(ImportTest, TwoTracesAreTwoRanks) {
  const auto outcome = run({file("rank0.json", kSmall), file("rank1.json", kSmall)});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  const Json& gpus = outcome->manifest.outcome.gpu["gpus"];
  ASSERT_EQ(gpus.items().size(), 2u);
  EXPECT_EQ(gpus.items()[1]["rank"].as_i64(), 1);
  ASSERT_NE(trace::find_metric(outcome->metrics, "gpu.busy_ns", 1), nullptr);  // both are device 0 of their rank
  EXPECT_DOUBLE_EQ(trace::find_metric(outcome->metrics, "ranks.compute_skew_ratio")->value, 0);
  EXPECT_EQ(outcome->manifest.outcome.gpu["ranks"].items().size(), 2u);
  EXPECT_TRUE(outcome->manifest.outcome.gpu["straggler"].is_null());  // they are equal
}
TEST_F(ImportTest, TheRankThatComesLastToACollectiveIsTheStraggler) {
  std::string late(kSmall);
  late.replace(late.find("\"ts\":14,\"dur\":10"), 16, "\"ts\":22,\"dur\":2");
  late.replace(late.find("\"dur\":5.5"), 9, "\"dur\":9.5");
  const auto outcome = run({file("rank0.json", kSmall), file("rank1.json", late)});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(outcome->manifest.outcome.gpu["straggler"]["rank"].as_i64(), 1);
  EXPECT_GT(trace::find_metric(outcome->metrics, "ranks.collective_wait_ratio")->value, 0);
}
constexpr std::string_view kReplay = R"({"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"replay","pid":1,"tid":1,"ts":0.5,"dur":20,"args":{"External id":5}},
 {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":1,"tid":1,"ts":1,"dur":4,"args":{"correlation":11}},
 {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":11}},
 {"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":16,"dur":1,"args":{"device":0,"stream":7,"correlation":11}},
 {"ph":"X","cat":"kernel","name":"new","pid":0,"tid":7,"ts":18,"dur":1,"args":{"device":0,"stream":7,"correlation":11}}
]})";
// Nothing runs while a graph is captured: its launches name their kernels.
constexpr std::string_view kCapture = R"({"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":20,"args":{"External id":5}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":2,"dur":4,"args":{"correlation":3,"kernel":"gemm"}},
 {"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":30,"dur":20,"args":{"External id":6}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":32,"dur":4,"args":{"correlation":4,"kernel":"relu"}}
]})";

TEST_F(ImportTest, ACaptureTellsTheOperatorsOfReplayedKernels) {
  ImportRequest request;
  request.paths = {file("serve.json", kReplay)};
  const auto without = import(request, services_);
  request.captures = {file("bs8.json", kCapture)};
  const auto with = import(request, services_);
  ASSERT_TRUE(without.has_value() && with.has_value());
  EXPECT_EQ(trace::find_metric(without->metrics, "attribution.launch_coverage_ratio")->value, 0);
  EXPECT_NEAR(trace::find_metric(with->metrics, "attribution.launch_coverage_ratio")->value, 2.0 / 3, 1e-9);
  EXPECT_EQ(trace::find_metric(with->metrics, "gpu.kernel_count")->value, 3);
  trace::NameTable names;
  const auto rows = tracelake::read_table<trace::AttributionRow>(with->path, names);
  ASSERT_TRUE(rows.has_value());
  std::map<std::string, std::string> causes;
  for (const auto& row : *rows)
    causes[std::string(names.text(row.kernel_name))] =
        std::string(names.text(row.operator_name)) + " by " + std::string(names.text(row.method));
  EXPECT_EQ(causes["gemm"], "aten::mm by capture_map");
  EXPECT_EQ(causes["relu"], "aten::relu by capture_map");
  EXPECT_EQ(causes["new"], " by graph_launch");
}
TEST_F(ImportTest, ACaptureInAFolderIsKnownByItsName) {
  (void)file("serve.json", kReplay);
  (void)file("capture_bs8.json", kCapture);
  const auto outcome = run({folder_->path()});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_NEAR(trace::find_metric(outcome->metrics, "attribution.launch_coverage_ratio")->value, 2.0 / 3, 1e-9);
  EXPECT_EQ(outcome->manifest.accounts.size(), 2u);
  EXPECT_EQ(outcome->manifest.accounts[1].source, "kineto.capture");
}
TEST_F(ImportTest, ACaptureThatTellsNothingIsAWarningAndNoneIsAnError) {
  ImportRequest request;
  request.paths = {file("serve.json", kReplay)};
  request.captures = {
      file("other.json", R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":1,"dur":2}]})")};
  const auto outcome = import(request, services_);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(std::any_of(outcome->manifest.warnings.begin(), outcome->manifest.warnings.end(),
                          [](const auto& warning) { return warning.id == "import.capture_empty"; }));
  request.captures = {core::join_path(folder_->path(), "nowhere.json")};
  const std::size_t before = sessions();
  EXPECT_FALSE(import(request, services_).has_value());
  EXPECT_EQ(sessions(), before);
}
TEST_F(ImportTest, RawFilesAreKeptOnlyWhenAsked) {
  ImportRequest request;
  request.paths = {file("trace.json", kSmall)};
  const auto without = import(request, services_);
  request.keep_raw = true;
  const auto with = import(request, services_);
  ASSERT_TRUE(without.has_value() && with.has_value());
  EXPECT_FALSE(core::exists(core::join_path(without->path, "profiler/rocprof_raw")));
  EXPECT_TRUE(core::exists(core::join_path(with->path, "profiler/rocprof_raw/trace.json")));
}
TEST_F(ImportTest, ADamagedFileBesideAGoodOneIsAWarning) {
  const auto outcome =
      run({file("rank0.json", kSmall), file("rank1.json", R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,)")});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_FALSE(outcome->manifest.warnings.empty());
}
TEST_F(ImportTest, RefusalsLeaveNothingBehind) {
  for (const std::string_view text :
       {"", "hello", "{}", "[]", "[1,2,3]", R"({"traceEvents":[]})", R"({"traceEvents":3})", "\x1f\x8b broken"}) {
    EXPECT_FALSE(run({file("bad.json", text)}).has_value()) << text;
    EXPECT_EQ(sessions(), 0u) << text;
  }
  EXPECT_FALSE(run({core::join_path(folder_->path(), "nowhere.json")}).has_value());
  EXPECT_EQ(sessions(), 0u);
}

}  // namespace
}  // namespace aaco::workflows
