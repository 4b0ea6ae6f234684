#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/random.h"
#include "support/sample_reports.h"

namespace aaco::sample {
namespace {

using core::Json;

constexpr int kLayers = 32;

struct NodeKind {
  const char* op;
  const char* suffix;
  const char* kernel;
  const char* family;
  double us;
};
constexpr std::array<NodeKind, 7> kKinds = {{
    {"MatMul", "self_attn/qkv",
     "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE_1LDSB0_APM1_AF0EM8_AF1EM1_AMAS3_ASAE01_ASCE01_ASEM8_BL1_BS1_DTVA0",
     "gemm", 61.2},
    {"MatMul", "mlp/gate_up", "Cijk_Alik_Bljk_HHS_BH_MT256x128x32_MI32x32x8x1_SE_1LDSB0_APM1_AF0EM8_AF1EM1", "gemm", 118.4},
    {"MatMul", "mlp/down", "Cijk_Ailk_Bljk_HHS_BH_MT128x64x32_MI16x16x16x1_SN_1LDSB0_APM1_GSU4", "gemm", 63.9},
    {"Attention", "self_attn/decode",
     "void ck::kernel_batched_gemm_softmax_gemm_xdl_cshuffle_v1<ck::GridwiseBatchedGemmSoftmaxGemm_Xdl_CShuffle<__half, float, "
     "__half, ck::tensor_operation::element_wise::PassThrough>>",
     "attention", 44.0},
    {"RMSNormalization", "input_layernorm", "void migraphx_simplified_layernorm_kernel<__half, 4096, 256>", "normalization", 6.1},
    {"SkipRMSNormalization", "post_attention_layernorm", "void migraphx_skip_layernorm_kernel<__half, 4096, 256>",
     "normalization", 6.6},
    {"SiLU", "mlp/act", "void migraphx_silu_mul_kernel<__half2>", "elementwise", 4.2},
}};

void add_time(report::ReportModel& model, double iteration_ns) {
  const auto entry = [&](const char* name, double ns) {
    report::TimeShare one;
    one.name = name, one.total_ns = ns, one.share_ratio = ns / iteration_ns;
    return one;
  };
  double kernels_ns = 0;
  for (const NodeKind& kind : kKinds) kernels_ns += kind.us * 1e3 * kLayers;
  model.parts = {entry("GPU kernels", kernels_ns), entry("Waiting for the host", iteration_ns * 0.147),
                 entry("Copies, exposed", iteration_ns * 0.021)};
  model.parts.push_back(
      entry("Idle, not explained", iteration_ns - kernels_ns - model.parts[1].total_ns - model.parts[2].total_ns));
  core::Random random(3);
  for (const NodeKind& kind : kKinds) {
    auto found =
        std::find_if(model.operators.begin(), model.operators.end(), [&](const auto& one) { return one.name == kind.op; });
    if (found == model.operators.end()) {
      report::TimeShare op = entry(kind.op, 0);
      op.parent = "GPU kernels", op.provider = "MIGraphXExecutionProvider";
      model.operators.push_back(op);
      found = model.operators.end() - 1;
    }
    for (int layer = 0; layer < kLayers; ++layer) {
      report::TimeShare node = entry("", kind.us * 1e3 * (0.96 + 0.08 * random.uniform()));
      node.name = "/model/layers." + std::to_string(layer) + "/" + kind.suffix;
      node.group = kind.op, node.provider = "MIGraphXExecutionProvider", node.count = 1;
      report::TimeShare kernel = node;
      kernel.name = kind.kernel, kernel.group = kind.family, kernel.provider = "hipBLASLt", kernel.parent = node.name;
      kernel.detail = Json::object(
          {{"grid", "304 x 1 x 1"}, {"block", "256 x 1 x 1"}, {"vgpr_count", 128}, {"attribution", "correlation id, exact"}});
      found->total_ns += node.total_ns;
      found->share_ratio += node.share_ratio;
      ++found->count;
      model.nodes.push_back(node);
      model.kernels.push_back(kernel);
    }
  }
  report::TimeShare stray = entry(
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1>>(int, "
      "at::native::FillFunctor<float>)",
      21'000);
  stray.group = "elementwise", stray.count = 3;
  model.kernels.push_back(stray);
  const auto larger = [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; };
  for (auto* list : {&model.operators, &model.nodes, &model.kernels}) std::stable_sort(list->begin(), list->end(), larger);
}

void add_series(report::ReportModel& model, double iteration_ns) {
  core::Random random(13);
  std::int64_t at = 2'100'000'000;
  std::vector<double> measured;
  const auto add = [&](const char* phase, std::int64_t index, double ns) {
    model.iterations.push_back({phase, index, at, static_cast<std::int64_t>(ns), false, ""});
    at += static_cast<std::int64_t>(ns) + 1'000;
  };
  for (int i = 0; i < 40; ++i) add("warmup", i, iteration_ns * (1 + 2.2 * std::exp(-i / 6.0)) + random.normal() * 2e5);
  for (int i = 0; i < 900; ++i) {
    const bool second_mode = (i / 150) % 2 == 1;
    const double ns = iteration_ns * (second_mode ? 1.041 : 0.992) + random.normal() * 6e4 + std::exp(random.normal()) * 3e4;
    if (!second_mode) measured.push_back(ns);
    add(second_mode ? "measure_telemetry" : "measure", i, ns);
    model.iterations.back().outlier = random.uniform() < 0.004;
  }
  const auto [low, high] = std::minmax_element(measured.begin(), measured.end());
  for (int i = 0; i < 48; ++i)
    model.histogram.push_back({*low + (*high - *low) * i / 48, *low + (*high - *low) * (i + 1) / 48, 0});
  for (double ns : measured)
    ++model.histogram[std::min<std::size_t>(47, static_cast<std::size_t>((ns - *low) / (*high - *low) * 48))].count;

  for (const auto& [metric, unit, base, swing] :
       {std::tuple{"gpu.power_watts", "watts", 612.0, 25.0}, std::tuple{"gpu.clock_hz", "hz", 1.94e9, 4e7},
        std::tuple{"gpu.temperature_celsius", "celsius", 61.0, 1.5}, std::tuple{"gpu.memory_used_bytes", "bytes", 28.4e9, 1e8},
        std::tuple{"gpu.busy_ratio", "ratio", 0.86, 0.05}}) {
    report::Series series{metric, "GPU 0", unit, {}, {}};
    for (int i = 0; i < 400; ++i) {
      series.time_ns.push_back(std::int64_t{i} * 25'000'000);
      series.value.push_back(i >= 180 && i < 190 ? std::nan("")
                                                 : base * (i < 60 ? 0.3 + 0.7 * i / 60 : 1.0) + swing * random.normal());
    }
    model.telemetry.push_back(std::move(series));
  }
}

void add_timeline(report::ReportModel& model) {
  std::int64_t at = 9'000'000'000;
  for (int iteration = 0; iteration < 3; ++iteration) {
    const std::int64_t start = at;
    for (int layer = 0; layer < kLayers; ++layer)
      for (const NodeKind& kind : kKinds) {
        const auto length = static_cast<std::int64_t>(kind.us * 1e3);
        const std::string name = "/model/layers." + std::to_string(layer) + "/" + kind.suffix;
        model.timeline.push_back({"nodes", name, kind.op, at - 8'000, length + 2'000});
        model.timeline.push_back({"GPU 0 stream 7", kind.kernel, kind.family, at, length});
        model.timeline.push_back({"HIP calls", "hipModuleLaunchKernel", "launch", at - 14'000, 4'200});
        at += length + 6'500 + (kind.us > 100 ? 12'000 : 0);
      }
    model.timeline.push_back({"iterations", "iteration " + std::to_string(iteration), "", start - 20'000, at - start + 30'000});
    at += 240'000;
  }
}

}  // namespace

report::ReportModel gpu_run() {
  const double iteration_ns = 12.6e6;
  report::ReportModel model;
  model.title = "Decoder 7B, one token, MIGraphX on MI300X";
  model.verdict =
      "One token takes 12.6 ms; the GPU waits 19 % of it, mostly for the host, and the matrix products read memory at 71 % of "
      "what it can give.";
  model.verdict_confidence =
      "medium: 450 iterations, telemetry itself changed the median by 4.9 %, in blocks that are not counted.";
  model.headline_metrics = {"latency.p50_ns", "gpu.active_ratio", "throughput.items_per_second"};
  auto& session = model.session;
  session.id.text = "20261121T093001Z-a04be7", session.kind = "run", session.tool_version = "0.1.0",
  session.created_realtime_ns = 1'795'253'401'000'000'000;
  session.command = {"aaco", "run", "decoder7b.onnx", "--backend", "migraphx", "--profile"};
  session.outcome =
      trace::outcome_from_json(Json::object({{"model", "decoder7b"}, {"provider", "MIGraphXExecutionProvider"}, {"batch", 1}}));
  session.phases = {{"load", 0, 1'900'000'000},
                    {"warmup", 2'100'000'000, 2'900'000'000},
                    {"measure", 2'900'000'000, 8'900'000'000},
                    {"profile", 9'000'000'000, 9'060'000'000}};
  session.warnings = {{"attribution.partial", "3 kernels (0.2 % of the GPU time) could not be joined to a node.", ""}};
  session.accounts = {{"rocprofv3", trace::Account::State::ok, "", 68'224, 68'224, {}, {}},
                      {"amdgpu",
                       trace::Account::State::partial,
                       "gpu_metrics could not be read for 250 ms",
                       2'000,
                       1'950,
                       {{"read failed: EAGAIN", 50}},
                       {"one gap of 250 ms"}}};
  model.metrics = {{"latency.p50_ns", 12.55e6, "ns", trace::Interval{12.54e6, 12.56e6}, {}},
                   {"latency.p90_ns", 12.66e6, "ns", trace::Interval{12.64e6, 12.69e6}, {}},
                   {"latency.p99_ns", 12.86e6, "ns", trace::Interval{12.79e6, 13.03e6}, {}},
                   {"gpu.active_ratio", 0.812, "ratio", trace::Interval{0.806, 0.818}, 0},
                   {"gpu.energy_joules", 7.71, "J", trace::Interval{7.2, 8.2}, 0},
                   {"throughput.items_per_second", 79.4, "items/s", trace::Interval{79.2, 79.7}, {}},
                   {"launch.tax", 0.21, "ratio", {}, 0}};
  model.definitions = {{"latency.p50_ns", "Median latency", "ns", "order statistic at probability 0.5", "lower", ""},
                       {"gpu.active_ratio", "GPU active", "ratio", "union of kernel time / wall time", "higher",
                        "Share of the wall time in which at least one kernel ran."},
                       {"throughput.items_per_second", "Throughput", "items/s", "batch / mean(latency)", "higher", ""}};
  add_time(model, iteration_ns);
  add_series(model, iteration_ns);
  add_timeline(model);
  model.why = {{"bottleneck.memory",
                "Matrix products are bound by memory traffic",
                "At batch 1 each weight is read once for one multiply-add.",
                0.93,
                {},
                {"MatMul takes 7.79 ms of 12.6 ms.", "Intensity 1.0 FLOP/byte; the ridge of the MI300X is at 247."}},
               {"bottleneck.launch",
                "The host cannot keep the queue full",
                "224 launches a token, 6.5 us apart.",
                0.71,
                {},
                {"1.85 ms of gaps begin when the queue is empty and end with a launch."}}};
  model.advice = {{"graph.capture",
                   "Capture the step as a HIP graph",
                   "One launch in place of 224.",
                   0.8,
                   0.12,
                   {"Launch gaps: 1.85 ms per token."},
                   "the device span",
                   trace::Interval{0, 0.15}},
                  {"weights.fp8", "Store the weights in FP8", "Halves the bytes that bound 62 % of the time.", 0.65, 0.27, {}}};
  report::Roofline line;
  line.text = "The kernels reached 71 % of the memory roof; the whole token 58 %.";
  line.reached_ratio = 0.58;
  line.roofs = {{"FP16 matrix", report::Roof::Kind::compute, 1307e12, "datasheet"},
                {"HBM3", report::Roof::Kind::memory, 5.3e12, "datasheet"}};
  line.points = {{"MatMul", "MatMul", 1.3e10, 13.1e9, 7.79e6},
                 {"Attention", "Attention", 2.1e8, 1.1e9, 1.41e6},
                 {"RMSNormalization", "RMSNormalization", 2.6e6, 1.0e6, 0.2e6},
                 {"SiLU", "SiLU", 1.4e6, 2.1e6, 0.13e6}};
  model.roofline = line;
  model.environment = Json::object({{"gpus", Json::array({Json::object({{"index", 0},
                                                                        {"name", "AMD Instinct MI300X"},
                                                                        {"memory_bytes", 206158430208},
                                                                        {"partition", "SPX/NPS1"},
                                                                        {"pcie", "Gen5 x16"}})})},
                                    {"driver", Json::object({{"amdgpu", "6.10.5"}, {"rocm", "6.4.1"}})}});
  model.sections.gaps = report::Gaps{{{"host_late", 224, 1'850'000}, {"copy", 12, 264'000}}, {}, {}};
  return model;
}

}  // namespace aaco::sample
