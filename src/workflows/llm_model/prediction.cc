#include "workflows/llm_model/prediction.h"

#include "workflows/device_roofs.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using analytics::llm::Bandwidth;
using core::Json;

// A step in the middle of the answer.
std::int64_t middle_past(const DecoderLevel& level) { return level.prompt + (level.output - 1) / 2; }

std::optional<double> memory_share_of(const estimation::GraphEstimate& estimate) {
  double all = 0, memory = 0;
  for (const auto& node : estimate.nodes) {
    all += node.seconds();
    if (node.latency.explanation.limit == "memory") memory += node.seconds();
  }
  return all > 0 ? std::optional(memory / all) : std::nullopt;
}

Json nodes_json(const estimation::GraphEstimate& estimate) {
  Json nodes = Json::array();
  for (const auto& node : estimate.nodes)
    nodes.push(Json::object({{"name", node.name},
                             {"op_type", node.op_type},
                             {"operator_class", graph::to_string(node.kind)},
                             {"shape", node.shape},
                             {"repeat_count", node.repeats},
                             {"flops", node.work.flops},
                             {"bytes", node.work.bytes},
                             {"predicted_ns", node.latency.seconds * 1e9},
                             {"predicted_lower_ns", node.latency.lower * 1e9},
                             {"predicted_upper_ns", node.latency.upper * 1e9},
                             {"level", to_string(node.latency.level)},
                             {"limit", node.latency.explanation.limit}}));
  return nodes;
}

// The store that holds the working set, as the registry states it.
std::optional<Bandwidth> stated(const DeviceRoofs& roofs, double working_bytes) {
  const auto of = [&](const std::string& store, const hardware::Figure& figure) {
    return Bandwidth{figure.value, store + " of " + roofs.id + " in the hardware registry: " + figure.source};
  };
  for (const auto& level : roofs.device.memory_levels)
    if (level.bytes_per_s && roofs.fits_cache(working_bytes) &&
        working_bytes <= level.bytes.value * static_cast<double>(level.instances))
      return of(level.name, *level.bytes_per_s);
  if (!roofs.device.memory.bytes_per_s) return std::nullopt;
  return of("main memory", *roofs.device.memory.bytes_per_s);
}

}  // namespace

core::Result<double> weight_bytes_of(const DecoderPlan& plan, const DecoderLevel& level) {
  AACO_ASSIGN(const graph::Model model, bound_decoder(plan.run.graph, plan.layout, level.batch, middle_past(level), 1));
  return analytics::llm::weight_bytes_per_step(model.graph, level.batch);
}

core::Result<LevelPrediction> predict_level(const DecoderPlan& plan, const DecoderLevel& level, const hardware::Device& device,
                                            const Services& services) {
  LevelPrediction out;
  AACO_ASSIGN(const graph::Model prefill, bound_decoder(plan.run.graph, plan.layout, level.batch, 0, level.prompt));
  AACO_ASSIGN(auto of_prefill, predict(prefill, plan.run.model_name, device, {}, services.paths));
  out.prefill = std::move(of_prefill.estimate);
  if (level.output < 2) return out;
  out.decode_past = middle_past(level);
  AACO_ASSIGN(const graph::Model decode, bound_decoder(plan.run.graph, plan.layout, level.batch, out.decode_past, 1));
  AACO_ASSIGN(auto of_decode, predict(decode, plan.run.model_name, device, {}, services.paths));
  out.memory_share = memory_share_of(of_decode.estimate);
  out.decode = std::move(of_decode.estimate);
  return out;
}

std::optional<Bandwidth> bandwidth_of(const hardware::Device& device, double working_bytes, const core::Paths& paths) {
  const auto roofs = device_roofs(device.id, paths);
  if (!roofs) return std::nullopt;
  const bool in_cache = roofs->fits_cache(working_bytes);
  if (const auto& measured = in_cache && roofs->cached ? roofs->cached : roofs->main; measured && (!in_cache || roofs->cached))
    return Bandwidth{measured->per_second, roofs->calibration + (in_cache ? ", operands in cache" : ", operands in memory")};
  return stated(*roofs, working_bytes);
}

Json nodes_json(const LevelPrediction& prediction, const DecoderLevel& level) {
  Json phases = Json::array();
  const auto add = [&](const char* phase, const std::optional<estimation::GraphEstimate>& estimate, std::int64_t past,
                       std::int64_t length) {
    if (!estimate) return;
    phases.push(Json::object({{"phase", phase},
                              {"batch", level.batch},
                              {"context_tokens", past},
                              {"new_tokens", length},
                              {"latency", estimation::to_json(estimate->latency)},
                              {"nodes", nodes_json(*estimate)}}));
  };
  add("prefill", prediction.prefill, 0, level.prompt);
  add("decode", prediction.decode, prediction.decode_past, 1);
  Json out = Json::object({{"schema_version", 1}});
  if (prediction.prefill) out.set("device", prediction.prefill->device_id);
  return out.set("phases", std::move(phases));
}

}  // namespace aaco::workflows
