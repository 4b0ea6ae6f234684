#include "workflows/llm_model/decoder_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runner/input_shapes.h"
#include "runner/inputs.h"
#include "workflows/run/memory_check.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;
using runner::llm::DecoderLayout;

constexpr std::int64_t kCurveTokens = 32;  // decoded at each point of a curve

std::vector<std::int64_t> usual_contexts(std::int64_t prompt) {
  std::vector<std::int64_t> contexts;
  for (const std::int64_t part : {8, 4, 2})
    if (prompt / part > 0) contexts.push_back(prompt / part);
  return contexts;
}

// Prefill and the last decode step of every level fit into memory.
core::Status check_memory_of(const DecoderPlan& plan) {
  const auto check = [&](std::int64_t batch, std::int64_t past, std::int64_t length) -> core::Status {
    runner::InputRequest sizes;
    for (const auto& input : runner::llm::decoder_inputs(plan.layout, batch, past, length))
      sizes.shapes[input.name] = input.shape;
    AACO_ASSIGN(const auto resolved, runner::resolve_inputs(plan.run.graph, sizes));
    return check_memory(plan.run, resolved);
  };
  for (const DecoderLevel& level : plan.levels) {
    AACO_TRY(check(level.batch, 0, level.prompt));
    if (level.output > 1) AACO_TRY(check(level.batch, level.cached() - 1, 1));
  }
  return {};
}

}  // namespace

std::vector<DecoderLevel> decoder_levels(const LlmModelRequest& request) {
  std::vector<DecoderLevel> levels;
  std::set<std::string> known;
  const auto add = [&](std::int64_t prompt, std::int64_t batch, std::int64_t output) {
    DecoderLevel level{fmt::format("prompt {}, batch {}", prompt, batch), batch, prompt, output, levels.empty()};
    if (known.insert(level.name).second) levels.push_back(std::move(level));
  };
  for (const std::int64_t batch : request.batches) add(request.prompt_tokens, batch, request.output_tokens);
  for (const std::int64_t context : request.contexts.value_or(usual_contexts(request.prompt_tokens)))
    add(context, request.batches.front(), std::min(request.output_tokens, kCurveTokens));
  return levels;
}

core::Status check_levels(const std::vector<DecoderLevel>& levels, const DecoderLayout& layout) {
  for (const DecoderLevel& level : levels) {
    if (layout.batch && level.batch != *layout.batch)
      return core::fail(ErrorCode::invalid_argument,
                        fmt::format("the model's batch size is fixed at {}, got {}", *layout.batch, level.batch),
                        fmt::format("use --batch {}", *layout.batch));
    if (layout.max_positions && level.cached() > *layout.max_positions)
      return core::fail(ErrorCode::invalid_argument,
                        fmt::format("{} prompt and {} output tokens exceed the model's {} positions", level.prompt, level.output,
                                    *layout.max_positions),
                        "use smaller --prompt-tokens, --output-tokens or --context-curve");
  }
  return {};
}

core::Result<graph::Model> bound_decoder(const graph::Graph& given, const DecoderLayout& layout, std::int64_t batch,
                                         std::int64_t past, std::int64_t length) {
  graph::Graph graph = given;
  const auto inputs = runner::llm::decoder_inputs(layout, batch, past, length);
  for (const graph::TensorId id : graph.inputs) {
    auto& tensor = graph.tensor(id);
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const auto& one) { return one.name == tensor.name; });
    if (input != inputs.end()) tensor.shape = graph::Shape(input->shape.begin(), input->shape.end());
  }
  return graph::prepare(std::move(graph));
}

core::Result<DecoderPlan> plan_decoder(const LlmModelRequest& request, const Services& services) {
  DecoderPlan plan;
  plan.levels = decoder_levels(request);
  AACO_ASSIGN(plan.run, plan_run(request.run, services));
  AACO_ASSIGN(plan.layout, runner::llm::find_decoder_layout(plan.run.graph));
  AACO_TRY(check_levels(plan.levels, plan.layout));
  AACO_TRY(check_memory_of(plan));
  plan.in_place = plan.layout.family == DecoderLayout::Family::genai && plan.run.backend.provider == "CPUExecutionProvider";
  return plan;
}

Json to_json(const LlmModelRequest& request, const DecoderPlan& plan) {
  Json levels = Json::array();
  for (const DecoderLevel& level : plan.levels) levels.push(level.name);
  Json out = plan.run.request;
  out.set("prompt_tokens", request.prompt_tokens).set("output_tokens", request.output_tokens).set("levels", std::move(levels));
  out.set("main_batch", request.batches.front());
  out.set("requests", request.requests).set("duration_ns", request.duration_ns).set("warmup", request.warmup);
  return out;
}

}  // namespace aaco::workflows
