#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/load.h"
#include "runner/decoder.h"
#include "workflows/llm_model_request.h"
#include "workflows/run/run_plan.h"

namespace aaco::workflows {

// One prompt length and batch, measured by repeated generations.
struct DecoderLevel {
  std::string name;  // "prompt 512, batch 1"
  std::int64_t batch = 1, prompt = 0, output = 0;
  bool main = false;  // the session's metrics are of it
  // Tokens of each sequence in the cache at the end: the last output token is not fed.
  [[nodiscard]] std::int64_t cached() const { return prompt + output - 1; }
};

struct DecoderPlan {
  RunPlan run;
  runner::llm::DecoderLayout layout;
  std::vector<DecoderLevel> levels;  // the main one first
  bool in_place = false;             // past and present are one buffer
};

// Fails as llm_model() does.
core::Result<DecoderPlan> plan_decoder(const LlmModelRequest& request, const Services& services);
// The levels of a request: the prompt at each batch, then the curve of shorter or longer prompts at the first batch.
std::vector<DecoderLevel> decoder_levels(const LlmModelRequest& request);
// That the model can take them.
core::Status check_levels(const std::vector<DecoderLevel>& levels, const runner::llm::DecoderLayout& layout);

// The graph with `length` new tokens after `past` of each sequence, every shape known.
core::Result<graph::Model> bound_decoder(const graph::Graph& graph, const runner::llm::DecoderLayout& layout, std::int64_t batch,
                                         std::int64_t past, std::int64_t length);

core::Json to_json(const LlmModelRequest& request, const DecoderPlan& plan);

}  // namespace aaco::workflows
