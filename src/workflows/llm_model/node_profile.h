#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "runner/ort_runtime.h"
#include "trace/sink.h"
#include "workflows/llm_model/decoder_plan.h"
#include "workflows/llm_model/prediction.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// A node in the calls of one phase: the time of all its executions in a call, the median over the calls.
struct ProfiledNode {
  std::string name, op_type, provider;
  std::int64_t count = 0;          // executions per call
  double ns = 0, share_ratio = 0;  // of the time in nodes
};

// Prefill or decode under the runtime's profiler, which slows calls down.
struct ProfiledPhase {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t context_tokens = 0;  // of each sequence in the cache before a call, median
  double call_ns = 0;               // median time of the runtime's run
  std::vector<ProfiledNode> nodes;  // the longest first
};

// One step of a generation per iteration of the profile, in the order they ran.
std::vector<ProfiledPhase> phases_of(const std::vector<runner::llm::DecoderStep>& steps, const trace::MemorySink& profile);

// A pass of its own over the main level, with a session of the runtime of its own. Disturbs: after the measurement, whose model
// must be closed where memory is scarce. Ends with the generation in which the budget is spent. Empty where the user stopped it
// before a generation had ended.
core::Result<std::vector<ProfiledPhase>> profile_decoder(runner::ort::Runtime& runtime, const DecoderPlan& plan,
                                                         std::uint64_t seed, double budget_ns, SessionDraft& draft,
                                                         const Services& services);

// metrics/llm_nodes.json. A node has the prediction of the node of its name, or of the longest name that its own begins with: the
// runtime names fused nodes after their first one.
core::Json profiled_nodes_json(const std::vector<ProfiledPhase>& phases, const DecoderLevel& level,
                               const std::optional<LevelPrediction>& predicted);

}  // namespace aaco::workflows
