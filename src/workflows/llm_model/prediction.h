#pragma once

#include <optional>
#include <vector>

#include "analytics/decode_limit.h"
#include "estimation/analysis.h"
#include "hardware/device.h"
#include "workflows/llm_model/decoder_plan.h"

namespace aaco::workflows {

// What the analyzer says of a level: the prefill, and a decode step in the middle of the answer.
struct LevelPrediction {
  std::optional<estimation::GraphEstimate> prefill, decode;
  double weight_bytes = 0;             // that a decode step reads
  std::int64_t decode_past = 0;        // tokens of each sequence in the cache before that step
  std::optional<double> memory_share;  // of the decode step's node time, in nodes limited by memory
};

// By the device's calibration, where it has one. Fails as the analyzer does.
core::Result<LevelPrediction> predict_level(const DecoderPlan& plan, const DecoderLevel& level, const hardware::Device& device,
                                            const Services& services);

// Bytes that a decode step of this level reads; needs no device.
core::Result<double> weight_bytes_of(const DecoderPlan& plan, const DecoderLevel& level);

// The rate at which memory delivers `working_bytes`: of the device's calibration, otherwise of its entry in the registry.
std::optional<analytics::llm::Bandwidth> bandwidth_of(const hardware::Device& device, double working_bytes,
                                                      const core::Paths& paths);

// predict/llm_nodes.json: every node of both phases.
core::Json nodes_json(const LevelPrediction& prediction, const DecoderLevel& level);

}  // namespace aaco::workflows
