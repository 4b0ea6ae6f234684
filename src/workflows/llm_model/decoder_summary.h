#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/decode_limit.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/metric.h"
#include "trace/sink.h"
#include "workflows/llm_model/generate.h"
#include "workflows/llm_model/prediction.h"

namespace aaco::workflows {

// What is known of the machine and the model beside the measurement.
struct DecoderFacts {
  double weight_bytes = 0;  // that a decode step reads
  std::optional<analytics::llm::Bandwidth> bandwidth;
  std::optional<double> disturbed_ratio;                  // of the generations, by external load
  std::optional<double> joules_per_generation;            // measured; empty without a sensor
  std::vector<std::optional<LevelPrediction>> predicted;  // one per level run; empty without a device
};

struct DecoderSummary {
  trace::Metrics metrics;  // of the main level
  core::Json document;     // metrics/llm_summary.json
  std::string sentence;    // of the main level
  std::vector<std::string> causes;
};

// `written`: the rows of the session.
DecoderSummary summarize_decoder(const std::vector<LevelRun>& runs, const trace::MemorySink& written, const DecoderPlan& plan,
                                 const DecoderFacts& facts);

}  // namespace aaco::workflows
