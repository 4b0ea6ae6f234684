#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/llm.h"
#include "analytics/llm_definitions.h"
#include "core/json.h"
#include "core/result.h"
#include "serving/client.h"
#include "trace/session.h"

namespace aaco::workflows {

// What the tables of an llm session say together.
struct LlmSummary {
  trace::Metrics metrics;  // of the level that counts: the last that keeps the SLO, otherwise the one with the highest throughput
  std::vector<trace::Warning> warnings;
  core::Json document;  // metrics/llm_summary.json
  std::string sentence, failure;
  std::int64_t complete = 0, failed = 0, cancelled = 0;  // requests of all levels
};
struct LlmSummaryOptions {
  analytics::llm::Slo slo;
  std::optional<double> price_per_hour;
  bool server_sampled = false;           // the processes of the session's telemetry are the server's
  std::optional<double> client_ceiling;  // chunks per second, by --self-test
  std::vector<analytics::llm::Tool> definitions;
  std::int32_t machine = 0;         // rank of the rows of the server's machine
  std::int64_t clock_error_ns = 0;  // of their times
  std::int64_t ramp_ns = 0;         // the rate rose within it
};
core::Result<LlmSummary> summarize_llm(const std::string& session_path, const LlmSummaryOptions& options);

// The level that counts under the definitions of other tools, as a table; empty where the document has none.
std::string render_definitions(const core::Json& document);

// A level that has just run.
analytics::llm::Load measure_stage(const serving::StageOutcome& stage, const std::string& load, const analytics::llm::Slo& slo);

}  // namespace aaco::workflows
