#include "support/sample_reports.h"

namespace aaco::sample {
namespace {

using core::Json;

report::Attainable attainable() {
  report::Attainable section;
  const report::Prediction predicted{2.0, 1.5, 2.5, "ns", "CALIBRATED", "calibration"};
  section.device = "device", section.title = "title", section.note = "note";
  section.whole = {predicted, 2.25, false};
  section.memory = predicted;
  section.energy = {predicted, 128, 1.5, 1.25, 1.75, true};
  section.explained_ratio = 0.5, section.measured_ns = 2e3, section.attainable_ns = 1e3;
  section.unmatched_nodes = 1, section.unmatched_ns = 5.0, section.surprises = 1;
  section.nodes = {
      {"node", "Conv", "graph node", "1x2", "fp32", 3, 4, 2e3, 1e3, 1.5e3, 1e3, 2e3, "CALIBRATED", "compute", "why", true}};
  return section;
}

report::ProfilerTotals totals() {
  report::ProfilerTotals section;
  section.kernels = {{"kernel", 1, 2, 2.0, 1, 3, {}, "gemm", "rocBLAS", Json::object({{"tile", "64x64"}})}};
  section.calls = {{"hipLaunchKernel", 1, 2, 2.0, 1, 3, "hip", {}, {}, {}}};
  section.samples.emplace();
  section.samples->samples = 9;
  section.samples->instructions = {{"v_add_f32", "a.cc:3", 9}};
  section.samples->different_instructions = 1;
  section.samples->types = {{"valu", 9}};
  section.samples->stall_reasons = {{"waitcnt", 3}};
  section.samples->dispatches = {{7, 9}};
  section.samples->different_dispatches = 1;
  section.samples->kernels = {{"kernel", 9}};
  return section;
}

report::GpuSection gpu() {
  report::GpuSection section;
  section.devices = {{"GPU 0", "waiting", 0.4, "low", 2.5, "high", 0.25, 1.5, "usual", 1.2, 3e3, 4e3, 5e3, 0.3}};
  section.families = {{"gemm", 4, 2'000, 0.5}};
  section.convention = {"counted", "left out", "first start to last end"};
  section.ranks = {{1, 9'000, 5'000, 2, 1'000, 500, 3'500, 4.5e3}};
  return section;
}

void add_sections(report::Sections& sections) {
  sections.attainable = attainable();
  sections.totals = totals();
  sections.gpu = gpu();
  sections.attribution = report::Attribution{4, 3, 2'000, 1'500, {{"correlation", 3, 1'500}}, {{"Conv", 3, 1'500}}};
  sections.gaps = report::Gaps{{{"host_late", 2, 800}},
                               {{"synchronous-copy", "blocking copies", "use pinned memory", 2, 700}},
                               0.875,
                               {{0, 0, 10, 400, "host_late", 0.8, "a", "b", "cudaMemcpy", 100, 200, "synchronous-copy", 300}},
                               {}};
  sections.gaps->host = {2, 100, 200};
  const report::WorkRates::Rate rate{0,           1,      std::string(400, 'r') + "(int)",
                                     "GEMM bf16", "gemm", "bfloat16",
                                     "shapes",    3,      2'000,
                                     1e9,         1e6,    5e14,
                                     5e11,        1e15,   4e12,
                                     0.5,         0.125};
  sections.work_rates = report::WorkRates{"amd_instinct_mi300x_192gb", {rate}, {rate}, 7, 8};
  sections.collectives = report::Collectives{4,
                                             2,
                                             {{"all_reduce", 8, 4, 2'000, 500, 4'096, 1e9, 1.75e9, 1.75, "mixed"}},
                                             {{1, "all_reduce", 2, 1'000, 500, 1}},
                                             {{3, "all_reduce", "0", 10, 2, 8, 1'024, 400, 500, 1, "arrival"}}};
  sections.operating_system = report::OperatingSystem{
      1,
      {{"python", 11, 10, 100, 20, 30, 1, 2}},
      {{"block_io", "read", "pread", 3, 90, 40, 4'096, 0}, {"off_cpu", "sleep", "futex", 2, 80, 50, 0, 7}},
      report::OperatingSystem::Frame{"all threads", 100, false, {{"python", 100, false, {{"futex_wait", 60, true, {}}}}}}};
  report::Scaling scaling;
  scaling.summary = {"the highest throughput with batch 8", "high"};
  const report::Scaling::Value value{100, trace::Interval{90, 110}};
  scaling.points = {{"batch 8", "20261121T101500Z-5feeb1", {}, "cpu", 8, 2, {{"sequence", 128}}, value, value, value, 1.5},
                    {"batch 9", {}, "out of memory", {}, {}, {}, {}, {}, {}, {}, {}}};
  sections.scaling = std::move(scaling);
  report::Search search{
      "latency", "threads=2: median latency -12.0 %", "use best.yaml", "32 generated inputs", 96, 24, 2, 1, {}, {}, {}};
  search.proof = report::Search::Proof{"threads=2", "latency.p50_ns", "improvement", -0.12, -0.14, -0.1, 0.02, 7};
  search.parts = {{"spinning=off", 0.03}};
  search.trials = {
      {"baseline", "baseline", "", 1e6, 1.2e6, 1000, 1 << 20, 0, {}, false},
      {"threads=2", "winner", "", 8e5, 9e5, 1250, 2 << 20, 1e-6, -0.12, true},
      {"precision=int8_dynamic", "tolerance", "largest output error is 0.1", 5e5, 6e5, 2000, 1 << 20, 0.1, -0.5, false}};
  sections.search = std::move(search);
  report::Compiler compiler{"ONNX Runtime 1.30.0, CPUExecutionProvider",
                            "all",
                            "migraphx",
                            "PCIe 5.0 x16",
                            5,
                            2e6,
                            3e6,
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {}};
  compiler.levels = {{"all", 3, 2, 0, 2, 1, 0, 0}};
  compiler.blocks = {{12,
                      {{"fused", "Conv+Relu", "FusedConv", "c0", "float32 -> float16", 9e5, {}},
                       {"inserted", "", "Cast", "", "cast", 1e4, {0}}}}};
  compiler.missed = {
      {"cast_between", "conv_activation", "c", "r", "a Cast stands between 'c' and 'r'", "remove the Cast", 2, 4e4}};
  compiler.differences = {{"basic", "FusedGemm", "Gemm+Relu", 3, 1e5, -2e4}};
  compiler.parts = {{"host", "h", "h", 1}};
  compiler.refused = {{"provider_operator", "Hardmax", "h", "migraphx does not support Hardmax", 1}};
  compiler.seams = {{"c", "h", "migraphx", "host", 4'096, 65, 700}};
  compiler.seams_least_ns = 65;
  compiler.seams_ns = 700;
  compiler.usual_ns = 300;
  sections.compiler = std::move(compiler);
  report::Llm llm{"12 requests/s at concurrency 4", "TTFT <= 200 ms", "concurrency 4", "concurrency 4", {}, {}};
  llm.levels = {{"concurrency 4",
                 100,
                 98,
                 5,
                 1,
                 {{"timeout", 2}},
                 {{"llm.ttft_p50_ns", 1e7, "ns", trace::Interval{9e6, 1.1e7}, {}},
                  {"llm.requests_per_second", 12, "1/s", trace::Interval{11, 13}, {}}},
                 {"the loop was late"},
                 "the client may be the bottleneck",
                 8.5,
                 false,
                 "",
                 "2 of 98 requests opened a TLS connection",
                 {"opening connections added 5 ms to the TTFT P99"},
                 {"requests waited in the server's queue"},
                 3,
                 {{"prefill of other requests", 3}}}};
  llm.slow = {{17, "concurrency 4", 5e9, 1e6, 1, 2e9, 3e8, 128, {1e6, 2e6}, "wait for a CPU at the server"}};
  sections.llm = std::move(llm);
  report::Decoder decoder{"prefill 10 ms, decode 1 ms per token", "Optimum layout", {}, {}, {}, {}};
  const report::Decoder::Value measured{1e6, trace::Interval{9e5, 1.1e6}};
  const report::Decoder::Predicted predicted{1e6, 8e5, 1.2e6, "CALIBRATED"};
  decoder.levels = {
      {"prompt 8, batch 1", 1, 8, 4, 6, measured, measured, measured, measured, predicted, predicted, 4096, 4096, 1e8}};
  decoder.limit = {"bandwidth", "bandwidth-bound", 1e8, 4096, 1e10, "calibration", 1e7, 1.1e7, 0.8, 0.9, 0.1, {"evidence"}};
  decoder.nodes = {{"decode", "/h.0/MatMul", "MatMul", "memory", 1e5, 0.25}};
  decoder.profiled = {{"decode", "/h.0/MatMul", "MatMul", 1, 1.1e5, 0.3, 1e5}};
  sections.decoder = std::move(decoder);
  report::TraceTimeline trace{1'000, 5'000, 3, {{1, "kernel", 2, 3, 4}}, {{"gemm_f16", "gemm", "gemm"}}, {"", "grid 1 x 1 x 1"},
                              {}};
  trace.layers = {{0, 5'000, 100, {{0, 0, 1, 7, 100, 200, 1, 200, 200}, {0, 0, 0, 0, 400, 300, 2, 250, 200}}}};
  sections.trace = std::move(trace);
}

}  // namespace

report::ReportModel full() {
  report::ReportModel model = gpu_run();
  model.session.tag = "tag", model.session.fingerprint = "print";
  model.session.request = Json::object({{"model", "m"}});
  model.session.outcome = trace::outcome_from_json(Json::object({{"model", "m"}}));
  model.session.warnings = {{"warning.id", "message", "remedy"}};
  model.session.accounts = {{"source", trace::Account::State::failed, "reason", 3, 2, {{"damaged", 1}}, {"note"}}};
  model.headline_of = {0, "GPU 0"};
  model.time_whole = report::TimeWhole::trace;
  model.time_devices = 2;
  report::TimeShare share{.name = std::string(400, 'k') + "(int)", .group = "g", .provider = "p", .parent = "part"};
  share.total_ns = 5, share.share_ratio = 0.5, share.count = 1, share.ci95 = trace::Interval{4, 6};
  share.detail = Json::object({{"shape", "1x2"}});
  model.parts = model.operators = model.nodes = model.kernels = {share};
  model.parts.front().short_name = "k";  // parts are never shortened by themselves
  model.why = model.advice = {{"id", "title", "text", 0.9, 0.1, {"evidence"}, "the device span", trace::Interval{0, 0.2}}};
  report::Roofline line{"text", 0.5, {}, {}, 0.6};
  line.roofs = {{"float32", report::Roof::Kind::compute, 1e12, "data sheet", report::Roof::Basis::measured, "float32"},
                {"HBM", report::Roof::Kind::memory, 1e11, "data sheet", report::Roof::Basis::stated, "hbm"}};
  line.points = {{"Conv", "Conv", 1e9, 1e6, 1e7, 0.5, "convolution", "float32", 1, "shapes", 0.6}};
  model.roofline = line;
  model.iterations = {{"measure", 0, 0, 1'000, true, "page faults"}};
  model.histogram = {{1'000, 2'000, 1}};
  model.timeline = {{"iterations", "measure 0", "measure", 0, 1'000}};
  model.telemetry = {{"host.load", "cpu0", "ratio", {0, 1}, {0.5, 0.6}}};
  model.metrics.push_back({"gpu.active_ratio", 0.5, "ratio", trace::Interval{0.4, 0.6}, 1});
  model.definitions = {{"gpu.active_ratio", "GPU active", "ratio", "union of kernel time / wall time", "higher", "meaning"}};
  add_sections(model.sections);
  return model;
}

}  // namespace aaco::sample
