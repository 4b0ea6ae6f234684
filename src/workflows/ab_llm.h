#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "workflows/diff.h"
#include "workflows/llm_side.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct AbLlmRequest {
  LlmSide a, b;                                // one level each
  core::Nanoseconds duration{60'000'000'000};  // of the blocks of each side together
  core::Nanoseconds block{5'000'000'000};      // where a side has neither a number of requests nor a duration
  double threshold_ratio = 0.02;
  double level = 0.95;
  bool force = false;
  std::string tag;
};

struct AbLlmOutcome {
  DiffOutcome verdict;
  std::vector<std::string> a_paths, b_paths;  // a session per block
  bool interrupted = false;
  std::int64_t wall_ns = 0;
};

// Measures two servers, two loads of one, or two decoders in this process by whole generations, in alternating blocks (ABBA),
// each a session, and compares the blocks of both sides: what drifts is on both. At least kFewestBlocks of each side, however
// long they take. Fails with what the first block fails with.
inline constexpr std::int64_t kFewestBlocks = 4;
core::Result<AbLlmOutcome> ab_llm(const AbLlmRequest& request, const Services& services);
core::Json to_json(const AbLlmOutcome& outcome, const AbLlmRequest& request);

}  // namespace aaco::workflows
