#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workflows/run_request.h"

namespace aaco::workflows {

// A language model in this process: prompts of random tokens are prefilled, then answers decoded token by token.
struct LlmModelRequest {
  RunRequest run;  // the model, its backend, threads, seed, isolation; sizes, iterations and profiles of it are not used
  std::int64_t prompt_tokens = 512, output_tokens = 128;
  std::vector<std::int64_t> batches = {1};            // sequences at once; the first is the main level's
  std::optional<std::vector<std::int64_t>> contexts;  // prompt lengths of the curve; unset: 1/8, 1/4 and 1/2 of the prompt
  std::optional<std::int64_t> requests, duration_ns;  // generations of each level, or their time
  std::optional<std::int64_t> warmup;                 // generations
  bool keep_chunks = true;                            // a row per token
};

}  // namespace aaco::workflows
