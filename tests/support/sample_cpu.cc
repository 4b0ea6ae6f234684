#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/random.h"
#include "support/sample_reports.h"

namespace aaco::sample {
namespace {

using core::Json;
using report::ReportModel;

constexpr std::int64_t kWarmup = 24;
constexpr std::int64_t kMeasured = 1200;
constexpr double kMedian_ns = 22.41e6;

struct Layer {
  const char* op;
  const char* name;
  int count;        // nodes of this kind
  double total_ms;  // of all of them, per iteration
};
constexpr std::array<Layer, 9> kLayers = {{{"Conv", "resnet/stage2/conv", 24, 9.62},
                                           {"FusedConv", "resnet/stage3/conv", 29, 8.41},
                                           {"Add", "resnet/add", 16, 1.02},
                                           {"Relu", "resnet/relu", 16, 0.74},
                                           {"MaxPool", "resnet/pool0", 1, 0.41},
                                           {"ReorderOutput", "reorder", 4, 0.38},
                                           {"Gemm", "resnet/fc", 1, 0.33},
                                           {"GlobalAveragePool", "resnet/pool1", 1, 0.06},
                                           {"Flatten", "resnet/flatten", 1, 0.004}}};

void add_time(ReportModel& model) {
  const double iteration_ns = 22.52e6;
  double nodes_ns = 0;
  for (const Layer& layer : kLayers) nodes_ns += layer.total_ms * 1e6;
  const auto share = [iteration_ns](double ns) { return ns / iteration_ns; };
  const auto part = [&](const char* name, double ns) {
    report::TimeShare one;
    one.name = name, one.total_ns = ns, one.share_ratio = share(ns);
    model.parts.push_back(one);
  };
  part("Operators", nodes_ns);
  part("Framework, between nodes", iteration_ns * 0.97 - nodes_ns);
  part("Outside the profile", iteration_ns * 0.03);
  core::Random random(11);
  for (const Layer& layer : kLayers) {
    report::TimeShare op;
    op.name = layer.op, op.provider = "CPUExecutionProvider", op.parent = "Operators";
    op.total_ns = layer.total_ms * 1e6, op.share_ratio = share(op.total_ns), op.count = layer.count;
    model.operators.push_back(op);
    double weight_sum = 0;
    std::vector<double> weights;
    for (int i = 0; i < layer.count; ++i) weight_sum += weights.emplace_back(0.3 + random.uniform());
    for (int i = 0; i < layer.count; ++i) {
      report::TimeShare node;
      node.name = layer.count == 1 ? layer.name : std::string(layer.name) + std::to_string(i + 1);
      node.group = layer.op, node.provider = op.provider, node.count = 1;
      node.total_ns = op.total_ns * weights[static_cast<std::size_t>(i)] / weight_sum;
      node.share_ratio = share(node.total_ns);
      node.ci95 = trace::Interval{node.total_ns * 0.985, node.total_ns * 1.017};
      node.detail = Json::object({{"input_shapes", "[1,256,14,14] [256,256,3,3]"},
                                  {"output_shapes", "[1,256,14,14]"},
                                  {"parameter_bytes", 2359296},
                                  {"thread_use_ratio", 0.94}});
      model.nodes.push_back(node);
    }
  }
  std::stable_sort(model.nodes.begin(), model.nodes.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
}

void add_iterations(ReportModel& model) {
  core::Random random(7);
  std::int64_t at = 412'000'000;
  const auto add = [&](const char* phase, std::int64_t index, double ns, const char* disturbance = "") {
    report::IterationPoint point{phase, index, at, static_cast<std::int64_t>(ns), false, disturbance};
    point.outlier = std::string_view(phase) == "measure" && ns > 26.2e6;
    model.iterations.push_back(point);
    at += point.duration_ns + 2'000;
  };
  for (std::int64_t i = 0; i < kWarmup; ++i)
    add("warmup", i, kMedian_ns * (1 + 1.4 * std::exp(-static_cast<double>(i) / 4.0)) + random.normal() * 0.4e6);
  std::vector<double> measured;
  for (std::int64_t i = 0; i < kMeasured; ++i) {
    double ns = kMedian_ns + random.normal() * 0.35e6 + std::exp(random.normal() * 0.9) * 0.18e6;
    const bool late = random.uniform() < 0.008;
    if (late) ns += 3.5e6 + random.uniform() * 6e6;
    measured.push_back(ns);
    add("measure", i, ns, late && i % 3 == 0 ? "involuntary context switches: 4" : "");
  }
  const auto [low, high] = std::minmax_element(measured.begin(), measured.end());
  constexpr std::size_t kBins = 60;
  const double width = (*high - *low) / kBins;
  for (std::size_t i = 0; i < kBins; ++i)
    model.histogram.push_back({*low + width * static_cast<double>(i), *low + width * static_cast<double>(i + 1), 0});
  for (double ns : measured) ++model.histogram[std::min(kBins - 1, static_cast<std::size_t>((ns - *low) / width))].count;
}

void add_timeline(ReportModel& model) {
  std::int64_t at = 31'000'000'000;
  for (int iteration = 0; iteration < 6; ++iteration) {
    const std::int64_t start = at;
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const auto& node = model.nodes[(i * 37) % model.nodes.size()];
      model.timeline.push_back({"nodes", node.name, node.group, at, static_cast<std::int64_t>(node.total_ns)});
      at += static_cast<std::int64_t>(node.total_ns) + 9'000;
    }
    model.timeline.push_back({"iterations", "iteration " + std::to_string(iteration), "", start, at - start});
    at += 310'000;
  }
}

void add_telemetry(ReportModel& model) {
  core::Random random(5);
  const auto series = [&](const char* metric, const char* entity, const char* unit, double base, double swing) {
    report::Series one{metric, entity, unit, {}, {}};
    double drift = 0;
    for (int i = 0; i < 600; ++i) {
      drift = drift * 0.97 + random.normal() * 0.08;
      one.time_ns.push_back(std::int64_t{i} * 50'000'000);
      const double ramp = i < 8 ? 0.4 + 0.075 * i : 1.0;
      one.value.push_back(std::max(0.0, base * ramp + swing * drift));
    }
    model.telemetry.push_back(std::move(one));
  };
  series("cpu.use_ratio", "", "ratio", 0.94, 0.02);
  series("cpu.clock_hz", "cpu0", "hz", 3.41e9, 4e7);
  series("cpu.clock_hz", "cpu1", "hz", 3.38e9, 5e7);
  series("process.rss_bytes", "pid 4711", "bytes", 412e6, 2e6);
  series("system.context_switches_per_second", "", "1/s", 840, 300);
  series("psi.cpu_some_ratio", "", "ratio", 0.021, 0.02);
}

void add_metrics(ReportModel& model) {
  using trace::Interval;
  model.metrics = {{"latency.p50_ns", 22.61e6, "ns", Interval{22.57e6, 22.65e6}, {}},
                   {"latency.mean_ns", 22.74e6, "ns", Interval{22.68e6, 22.80e6}, {}},
                   {"latency.p90_ns", 23.44e6, "ns", Interval{23.36e6, 23.57e6}, {}},
                   {"latency.p95_ns", 24.03e6, "ns", Interval{23.86e6, 24.30e6}, {}},
                   {"latency.p99_ns", 27.92e6, "ns", Interval{26.71e6, 29.94e6}, {}},
                   {"latency.std_ns", 0.98e6, "ns", {}, {}},
                   {"latency.cov_ratio", 0.0431, "ratio", {}, {}},
                   {"latency.count", 1200, "count", {}, {}},
                   {"warmup.iterations", 24, "count", {}, {}},
                   {"throughput.items_per_second", 43.97, "items/s", Interval{43.85, 44.09}, {}},
                   {"observer.effect_ratio", 0.0031, "ratio", Interval{-0.0024, 0.0086}, {}},
                   {"memory.rss_peak_bytes", 421.0e6, "bytes", {}, {}},
                   {"profile.slowdown_ratio", 0.064, "ratio", Interval{0.058, 0.071}, {}}};
  model.definitions = {
      {"latency.p50_ns", "Median latency", "ns",
       "order statistic of the measured iterations at probability 0.5 (Hyndman and Fan type 7); interval: distribution-free, "
       "binomial",
       "lower", "Half of the iterations were faster than this."},
      {"latency.p99_ns", "99th percentile", "ns",
       "order statistic at probability 0.99; left empty where the sample cannot bound it", "lower",
       "One iteration in a hundred was slower than this."},
      {"throughput.items_per_second", "Throughput", "items/s", "batch / mean(latency)", "higher",
       "Items that passed through the model each second, one call after the other."},
      {"latency.cov_ratio", "Variation", "ratio", "std / mean", "lower", "How much iterations differ, relative to their mean."},
      {"observer.effect_ratio", "Observer effect", "ratio", "median with telemetry / median without - 1, over alternating blocks",
       "lower", "What measuring cost the thing measured."}};
}

report::Attainable::Node attainable_node(const char* name, double measured_ns, double attainable_ns, const char* level,
                                         const char* reason, bool surprise) {
  report::Attainable::Node node;
  node.name = name;
  node.measured_ns = measured_ns;
  node.attainable_ns = attainable_ns;
  node.predicted_ns = attainable_ns * 1.25;
  node.predicted_lower_ns = attainable_ns;
  node.predicted_upper_ns = attainable_ns * 1.5;
  node.confidence = level;
  node.reason = reason;
  node.surprise = surprise;
  return node;
}

// As docs/formats/predictions.md has it.
report::Attainable attainable() {
  report::Attainable section;
  section.device = "amd_epyc_9254";
  section.energy.emplace();
  section.energy->predicted = {2.4, 1.2,           4.8,
                               "J", "THEORETICAL", "specification: board power 200 W, published energy per byte of DDR5"};
  section.energy->measured_joules = 1.92;
  section.energy->measured_lower_joules = 1.9;
  section.energy->measured_upper_joules = 1.94;
  section.energy->surprise = false;
  section.unmatched_nodes = 1;
  section.unmatched_ns = 60'000;
  section.nodes = {
      attainable_node("/layer1/0/conv1/Conv", 820'000, 640'000, "CALIBRATED", "close to the compute ceiling", false),
      attainable_node("/fc/Gemm", 330'000, 120'000, "THEORETICAL", "the kernel reaches little of the memory ceiling", true)};
  return section;
}

}  // namespace

ReportModel cpu_run() {
  ReportModel model;
  model.title = "ResNet-50, ONNX Runtime CPU, batch 1";
  model.verdict =
      "One inference takes 22.6 ms, and 80 % of it is convolution; the machine was steady enough to trust differences of 1 %.";
  model.verdict_confidence = "high: 1,200 iterations, the median's 95 % interval is 0.35 % wide, no drift.";
  model.headline_metrics = {"latency.p50_ns", "latency.p99_ns", "throughput.items_per_second"};
  auto& session = model.session;
  session.id.text = "20261121T081530Z-3f9a1c";
  session.kind = "run", session.tool_version = "0.1.0", session.created_realtime_ns = 1'795'248'930'000'000'000;
  session.command = {"aaco", "run", "--model", "resnet50", "--backend", "cpu", "--batch", "1", "--telemetry"};
  session.outcome = trace::outcome_from_json(Json::object({{"model", "resnet50"},
                                                           {"backend", "cpu"},
                                                           {"provider", "CPUExecutionProvider"},
                                                           {"batch", 1},
                                                           {"stopped_by", "precision 1 % reached"}}));
  session.fingerprint = "b7c0d2e19f3a";
  session.phases = {{"load", 0, 398'000'000},
                    {"warmup", 412'000'000, 1'150'000'000},
                    {"measure", 1'150'000'000, 28'400'000'000},
                    {"profile", 30'900'000'000, 33'000'000'000}};
  session.warnings = {{"telemetry.gpu_missing", "No GPU was found, so every GPU metric is absent (not zero).",
                       "If this machine has one: aaco doctor says what is missing."},
                      {"machine.governor_unknown",
                       "The CPU frequency governor cannot be read here, so a change of clock between runs would go unseen.", ""},
                      {"profile.slowdown",
                       "The profiled pass was 6.4 % slower than the measured one: node times are shares of that pass, not of the "
                       "measured latency.",
                       ""}};
  session.accounts = {{"proc", trace::Account::State::ok, "", 36'120, 36'120, {}, {}},
                      {"ort.profile",
                       trace::Account::State::partial,
                       "two events ended after the trace was cut",
                       5'582,
                       5'580,
                       {{"event without an end", 2}},
                       {}},
                      {"nvml",
                       trace::Account::State::unsupported,
                       "libnvidia-ml.so.1 is not on this machine; install the NVIDIA driver if it has such a GPU",
                       0,
                       0,
                       {},
                       {}},
                      {"amdgpu", trace::Account::State::unsupported, "no amdgpu device under /sys/class/drm", 0, 0, {}, {}}};
  add_time(model);
  model.why = {{"bottleneck.compute",
                "Convolution is bound by arithmetic",
                "The 53 convolutions run at 71 % of the arithmetic peak this machine has shown; memory traffic would allow twice "
                "the rate.",
                0.86,
                {},
                {"18.0 ms of 22.5 ms are spent in Conv and FusedConv (80.1 %).",
                 "Their arithmetic intensity is 61 FLOP/byte; the ridge of this machine is at 9.8.",
                 "Thread use is 94 % in the ten longest nodes."}},
               {"bottleneck.framework",
                "The framework is not the problem",
                "What lies between nodes is 3.9 % of the iteration.",
                0.95,
                {},
                {"0.88 ms between the end of one node and the start of the next."}}};
  model.advice = {{"precision.int8",
                   "Quantise the convolutions to INT8",
                   "This CPU has VNNI: four times the multiply rate of FP32 for the layers that take 80 % of the time.",
                   0.6,
                   0.42,
                   {"Conv and FusedConv: 18.0 ms; published speed-ups of this layer mix lie between 1.9 and 3.1."}},
                  {"threads.pin",
                   "Pin the threads to physical cores",
                   "Four migrations a second were seen in the measured phase.",
                   0.5,
                   0.03,
                   {"9 of the 10 slowest iterations coincide with a migration."}},
                  {"graph.fuse_add_relu",
                   "Fuse Add and Relu",
                   "Sixteen pairs write and read the same tensor once more than needed.",
                   0.7,
                   0.021,
                   {"Add 1.02 ms, Relu 0.74 ms; fused they would take about 1.3 ms."}}};
  report::Roofline line;
  line.text = "The run reached 64 % of what this machine can do: 22.6 ms against 14.5 ms if every operator met its roof.";
  line.reached_ratio = 0.64;
  line.roofs = {{"FP32, two cores", report::Roof::Kind::compute, 201.6e9, "measured by aaco calibrate"},
                {"Memory", report::Roof::Kind::memory, 20.5e9, "measured by aaco calibrate"},
                {"L2 cache", report::Roof::Kind::memory, 164e9, "measured by aaco calibrate"}};
  line.points = {{"Conv", "Conv", 1.93e9, 31.6e6, 9.62e6},
                 {"FusedConv", "FusedConv", 1.88e9, 30.7e6, 8.41e6},
                 {"Add", "Add", 5.5e6, 22.1e6, 1.02e6},
                 {"Relu", "Relu", 5.5e6, 14.7e6, 0.74e6},
                 {"MaxPool", "MaxPool", 1.8e6, 4.0e6, 0.41e6},
                 {"Gemm", "Gemm", 4.1e6, 8.2e6, 0.33e6},
                 {"GlobalAveragePool", "GlobalAveragePool", 1e5, 0.41e6, 0.06e6}};
  model.roofline = line;
  model.sections.attainable = attainable();
  add_iterations(model);
  add_timeline(model);
  add_telemetry(model);
  add_metrics(model);
  model.environment = Json::object(
      {{"host",
        Json::object({{"name", "bench-07"}, {"kernel", "6.1.0-28-amd64"}, {"os", "Debian GNU/Linux 12"}, {"governor", Json()}})},
       {"cpu", Json::object({{"model", "AMD EPYC 9254"}, {"cores", 2}, {"threads", 2}, {"memory_bytes", 25276518400}})},
       {"libraries", Json::object({{"onnxruntime", "1.30.0"}, {"duckdb", "1.5.6"}})},
       {"limits", Json::object({{"cpu_quota", 2.0}, {"memory_bytes", 25769803776}})},
       {"variables", Json::object({{"OMP_NUM_THREADS", "2"}, {"LANG", "C.UTF-8"}})}});
  return model;
}

}  // namespace aaco::sample
