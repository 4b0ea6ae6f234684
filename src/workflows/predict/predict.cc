#include "workflows/predict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/files.h"
#include "estimation/decoder_graph.h"
#include "estimation/kernel.h"
#include "estimation/memory.h"
#include "estimation/models.h"
#include "graph/tokens.h"
#include "workflows/calibration_registry.h"
#include "workflows/predict/partitioned_analysis.h"

namespace aaco::workflows {
namespace {

using estimation::Estimate;
using graph::ElementType;

// Around the liveness of the tensors, where no runtime is known: allocators round and keep. A judgement, no measurement stands
// behind it (docs/features.md, G10).
constexpr double kMemoryBelow = 0.9, kMemoryAbove = 1.5;
// The logarithm of how far the usual memory of ONNX Runtime is from that of runs, either way: 38 of the 39 runs that its
// coefficients were chosen on are inside.
constexpr double kUsualMemoryBound = 0.4;

// The graph as it would be with its floating-point tensors in another type.
void retype(graph::Graph& graph, ElementType type) {
  for (auto& tensor : graph.tensors)
    if (graph::is_floating(tensor.type)) tensor.type = type;
  for (auto& body : graph.subgraphs) retype(body, type);
}

// `typed`: the graph in the type it is computed in.
void add_memory(const graph::Graph& typed, const hardware::Device& device, const estimation::MemoryEstimate& memory,
                estimation::GraphEstimate& out) {
  auto& parts = out.memory_parts;
  parts.weight_bytes = memory.weight_bytes;
  parts.activation_bytes = memory.activation_bytes;
  parts.workspace_bytes = memory.workspace_bytes;
  parts.kv_cache_bytes = memory.kv_cache_bytes;
  if (device.memory.bytes) parts.device_bytes = static_cast<std::int64_t>(device.memory.bytes->value);
  if (memory.peak_node >= 0 && static_cast<std::size_t>(memory.peak_node) < typed.nodes.size())
    parts.peak_node = typed.nodes[static_cast<std::size_t>(memory.peak_node)].name;
  for (const estimation::MemoryStep& step : memory.timeline)
    parts.timeline.push_back(
        {typed.nodes[static_cast<std::size_t>(step.node)].name, step.activation_bytes, step.workspace_bytes});
  const auto peak = static_cast<double>(memory.peak_bytes);
  out.memory = Estimate{
      peak, "bytes", estimation::Level::theoretical, "tensor liveness analysis", kMemoryBelow * peak, kMemoryAbove * peak};
  if (memory.unknown_tensors > 0)
    out.notes.push_back(std::to_string(memory.unknown_tensors) +
                        " tensors have unknown sizes: the memory estimate is a lower bound");
}

// The type most of the time is spent in.
std::string main_type(const estimation::GraphEstimate& estimate) {
  std::map<std::string, double> seconds;
  for (const auto& node : estimate.nodes) seconds[node.dtype] += node.seconds();
  const auto most =
      std::max_element(seconds.begin(), seconds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == seconds.end() ? std::string() : most->first;
}

// The fits of whole models that count for such a graph on a processor, compiled; null: none.
struct WholeModels {
  const estimation::ModelFit *time = nullptr, *memory = nullptr;
  std::string family;
};
WholeModels whole_models(const estimation::Conditions& conditions, const estimation::CalibrationSet& set,
                         const estimation::GraphEstimate& estimate) {
  WholeModels out;
  const auto entry = set.entries().find(estimate.device_id);
  if (entry == set.entries().end() || conditions.best != estimation::Level::calibrated) return out;
  out.family = "onnxruntime network " + main_type(estimate);
  const auto find = [&](const std::map<std::string, estimation::ModelFit>& fits) {
    const auto found = fits.find(out.family);
    return found == fits.end() ? nullptr : &found->second;
  };
  out.time = conditions.power_cap_watts ? nullptr : find(entry->second.calibration.models);
  out.memory = find(entry->second.calibration.memory);
  return out;
}

std::string quality_text(const estimation::ModelFit& fit) {
  return fmt::format("{} measured runs of whole models in {} families (held-out error {:.1f} %)", fit.quality.rows,
                     fit.quality.sites, fit.quality.mean_error * 100);
}

Estimate as_estimate(const estimation::ModelEstimate& made, double scale, const char* unit, const std::string& source) {
  return {made.seconds * scale, unit, estimation::Level::calibrated, source, made.lower * scale, made.upper * scale};
}

// Where whole models of the device's runtime were fitted, the graph's time is by them: sums over kernels miss what lies between.
void use_fitted_time(const graph::GraphCost& cost, const hardware::Device& device, const WholeModels& fits,
                     estimation::GraphEstimate& out) {
  if (fits.time == nullptr) return;
  const auto made = estimate_model(*fits.time, estimation::terms_of(out, cost, device), out.device_id);
  out.notes.push_back(fmt::format("the time is fitted to {}; the sum of the individual nodes is {:.3g} ms",
                                  quality_text(*fits.time), out.latency.value / 1e6));
  const double before = out.latency.value * 1e-9;
  out.latency = as_estimate(made, 1e9, "ns", out.device_id + ": " + fits.family);
  estimation::follow_latency(device, before, out);
}

// On a processor the memory is a runtime's process, in which weights are packed anew and an allocator keeps what is not live: by
// the fit of this machine's runs, else by what ONNX Runtime usually takes.
void use_runtime_memory(const graph::GraphCost& cost, const WholeModels& fits, const estimation::MemoryEstimate& memory,
                        estimation::GraphEstimate& out) {
  const auto terms = estimation::memory_terms_of(cost, memory, out.nodes.size());
  const std::string what = "memory added to the process by loading and running the model, based on ";
  if (fits.memory != nullptr) {
    out.notes.push_back(what + quality_text(*fits.memory));
    out.memory = as_estimate(estimate_model(*fits.memory, terms, out.device_id), 1, "bytes", out.device_id + ": " + fits.family);
    return;
  }
  out.notes.push_back(what + "how ONNX Runtime typically allocates weights and activations");
  auto usual = estimation::untested_fit(estimation::usual_memory_coefficients());
  usual.low = -kUsualMemoryBound;
  usual.high = kUsualMemoryBound;
  out.memory = as_estimate(estimate_model(usual, terms, out.device_id), 1, "bytes",
                           "typical ONNX Runtime memory use for weights and activations");
  out.memory->level = estimation::Level::theoretical;
}

// How to do better where nobody has measured the device; none where that was not asked for.
void tell_of_calibration(const hardware::Device& device, const estimation::Conditions& conditions,
                         const estimation::CalibrationSet& set, estimation::GraphEstimate& out) {
  if (conditions.best != estimation::Level::calibrated || set.entries().contains(estimation::facts_of(device).id)) return;
  out.notes.push_back(
      fmt::format("no calibration for this device: create one with 'aaco calibrate --hardware {} --measurements TABLE.csv' "
                  "('aaco benchmark' measures a table on this machine); all later estimates will use it",
                  device.id));
}

// Which level the time of each operator class has: a graph's own level is that of its worst tenth.
void tell_of_levels(estimation::GraphEstimate& out) {
  std::map<std::string, std::map<estimation::Level, double>> classes;
  double all = 0;
  for (const auto& node : out.nodes) {
    classes[std::string(graph::to_string(node.kind))][node.latency.level] += node.seconds();
    all += node.seconds();
  }
  constexpr double kShown = 0.01;  // of the time
  std::string text;
  for (const auto& [name, levels] : classes)
    for (const auto& [level, seconds] : levels)
      if (seconds >= kShown * all)
        text += fmt::format("{}{} {} ({:.0f} %)", text.empty() ? "" : ", ", name, to_string(level), 100 * seconds / all);
  if (!text.empty()) out.notes.push_back("levels by class and share of node time: " + text);
}

// Whose measurements the fits that came with the program are of.
void tell_of_shipped_fits(const estimation::CalibrationSet& set, estimation::GraphEstimate& out) {
  std::string fits;
  for (const auto& [id, entry] : set.entries()) {
    const auto& licences = entry.calibration.provenance.licences;
    const bool used = std::any_of(out.nodes.begin(), out.nodes.end(),
                                  [&id = id](const auto& node) { return node.latency.source.find(id) != std::string::npos; });
    if (used && !licences.empty()) fits += fmt::format("{}{} ({})", fits.empty() ? "" : ", ", id, fmt::join(licences, "; "));
  }
  if (fits.empty()) return;
  out.notes.push_back(
      fmt::format("uses fits of published measurements that come with aaco: {}. Their bounds allow for software that differs; "
                  "'aaco calibrate show ID' has their errors, 'aaco calibrate' replaces them by your own measurements",
                  fits));
}

// Narrow types are of the weights: activations and cache keep 16 bits.
void use_type(estimation::Conditions& conditions, estimation::RecognisedDecoder& decoder) {
  constexpr std::array<std::string_view, 6> kNarrow{"fp8", "int8", "int4", "fp4", "mxfp4", "nvfp4"};
  if (std::find(kNarrow.begin(), kNarrow.end(), conditions.dtype) == kNarrow.end()) return;
  decoder.model.weight_type = conditions.dtype == "fp4" ? "mxfp4" : conditions.dtype;
  if (decoder.model.experts) decoder.model.expert_type = decoder.model.weight_type;
  auto& step = decoder.step;
  if (step.activations != ElementType::float16) step.activations = step.cache = ElementType::bfloat16;
  conditions.dtype.clear();
}

// How a language model's graph is costed: in the form that serving stacks run, or as written.
struct Served {
  std::optional<graph::Graph> graph;  // empty: as written
  std::string note;                   // which, and why; empty: no language model
};

// `cached`: the graph takes and gives a cache of keys and values.
Served as_served(const graph::Graph& graph, const std::string& name, const hardware::Device& device, bool cached,
                 estimation::Conditions& conditions) {
  constexpr const char* kCopies = "its cost includes copies of the cache and of grouped keys that serving stacks avoid; ";
  constexpr const char* kServe = "use --serve with the model's name or config.json for an estimate as served";
  const bool gpu = device.kind == hardware::DeviceKind::gpu;
  if (!gpu && !cached) return {};
  auto decoder = estimation::recognise_decoder(graph, name);
  if (!cached && !decoder) return {};
  if (!decoder)
    return {{},
            fmt::format("this graph was not made for serving and is costed as written (not recognised as a decoder: {}): {}{}",
                        decoder.error().message, kCopies, kServe)};
  if (!gpu || conditions.as_written || conditions.eager)
    return {{}, std::string("this graph was not made for serving and is costed as written: ") + (cached ? kCopies : "") + kServe};
  use_type(conditions, *decoder);
  if (!conditions.host_ns) conditions.host_ns = 0;  // launches are captured once
  const auto& model = decoder->model;
  return {estimation::served_step(*decoder),
          fmt::format("recognised as a decoder of {} layers ({:.3g} billion parameters) and costed as serving stacks run it: "
                      "attention on a cache in place, grouped queries shared, norms fused, launches captured, scores of the last "
                      "token only; --as-written costs the graph's own operators, --serve estimates a server",
                      model.layers, model.parameters() / 1e9)};
}

// Inputs that do not fit together, and nothing behind them has a shape: such a model cannot run, and a prediction of what is left
// of it would rank first. Where all shapes are known all the same, the node is only told of. (A TFLite file says every rank.)
core::Result<void> refuse_contradictions(const graph::Model& model) {
  const std::int64_t open = model.shapes.unknown + (model.format == graph::ModelFormat::tflite ? model.shapes.symbolic : 0);
  if (model.shapes.problems.empty() || open == 0) return {};
  return core::fail(core::ErrorCode::invalid_input, "the model cannot run with these sizes: " + model.shapes.problems.front(),
                    "use other sizes (--batch, --dim); 'aaco inspect' shows the shapes");
}

}  // namespace

core::Result<graph::Fusion> usual_fusion(const graph::Graph& graph, const hardware::Device& device, const core::Paths& paths) {
  const bool cpu = device.kind == hardware::DeviceKind::cpu;
  const std::string file = core::join_path(paths.share, cpu ? "data/fusion/onnxruntime_cpu.yaml" : "data/fusion/migraphx.yaml");
  AACO_ASSIGN(const graph::FusionRules rules, graph::load_fusion_rules(file));
  return graph::fuse(graph, rules);
}

core::Result<estimation::CalibrationSet> calibrations_for(const hardware::Device& device,
                                                          const estimation::Conditions& conditions, const core::Paths& paths) {
  if (conditions.best == estimation::Level::theoretical) return estimation::CalibrationSet();
  return load_calibrations_for(paths, device);
}

core::Result<report::AnalysisReport> predict(const graph::Model& model, const std::string& name, const hardware::Device& device,
                                             const estimation::Conditions& asked, const core::Paths& paths,
                                             const Fallback* fallback) {
  AACO_TRY(refuse_contradictions(model));
  estimation::Conditions conditions = asked;
  if (!conditions.dtype.empty()) conditions.dtype = estimation::canonical_type(conditions.dtype);
  report::AnalysisReport report;
  report.model = name;
  report.dtype = conditions.dtype;
  for (const auto& [symbol, size] : model.dimensions.sizes) report.sizes.emplace_back(symbol, size);
  report.assumptions = model.dimensions.assumptions;
  report.assumptions.insert(report.assumptions.end(), model.shapes.assumptions.begin(), model.shapes.assumptions.end());
  report.assumptions.insert(report.assumptions.end(), model.shapes.problems.begin(), model.shapes.problems.end());
  report.batch = model.items.count;
  report.counted_by = model.items.counted_by;
  const std::vector<graph::Tokens> ids = graph::token_inputs(model.graph);
  if (ids.size() == 1) report.tokens = ids.front();
  if (ids.size() > 1)
    report.assumptions.push_back(
        fmt::format("'{}' and '{}' both contain token ids: it is unclear which to count, so per-token figures are omitted",
                    ids[0].input, ids[1].input));
  const estimation::MemoryEstimate written = estimation::estimate_memory(model.graph);
  const Served served =
      fallback == nullptr ? as_served(model.graph, name, device, written.kv_cache_bytes > 0, conditions) : Served();
  const graph::Graph& graph = served.graph ? *served.graph : model.graph;
  const auto type = conditions.dtype.empty() ? std::nullopt : estimation::element_type_of(conditions.dtype);
  std::optional<graph::Graph> retyped;
  if (type) retype(retyped.emplace(graph), *type);
  const graph::Graph& typed = retyped ? *retyped : graph;
  estimation::MemoryPolicy policy;
  policy.materialises_scores = !served.graph;
  const estimation::MemoryEstimate memory = served.graph || retyped ? estimation::estimate_memory(typed, policy) : written;
  if (fallback != nullptr) {
    report.partition.emplace();
    AACO_ASSIGN(report.estimate, analyze_parts(model.graph, device, *fallback, conditions, paths, *report.partition));
    add_memory(typed, device, memory, report.estimate);
    return report;
  }
  graph::Fusion fusion;
  if (!conditions.eager) {
    AACO_ASSIGN(fusion, usual_fusion(graph, device, paths));
    conditions.fusion = &fusion;
  }
  AACO_ASSIGN(const auto calibrations, calibrations_for(device, conditions, paths));
  AACO_ASSIGN(report.estimate, estimation::analyze(graph, device, conditions, &calibrations));
  add_memory(typed, device, memory, report.estimate);
  if (!served.note.empty()) report.estimate.notes.push_back(served.note);
  if (device.kind == hardware::DeviceKind::cpu && !conditions.eager) {
    const WholeModels fits = whole_models(conditions, calibrations, report.estimate);
    const graph::GraphCost cost = graph::cost_of(model.graph);
    use_fitted_time(cost, device, fits, report.estimate);
    use_runtime_memory(retyped ? graph::cost_of(typed) : cost, fits, memory, report.estimate);
  }
  if (!calibrations.entries().empty()) tell_of_levels(report.estimate);
  tell_of_shipped_fits(calibrations, report.estimate);
  tell_of_calibration(device, conditions, calibrations, report.estimate);
  return report;
}

}  // namespace aaco::workflows
