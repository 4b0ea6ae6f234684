#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "runner/loop.h"
#include "trace/sink.h"
#include "workflows/llm_model/decoder_plan.h"

namespace aaco::workflows {

// One prompt and its answer. The first step is the prefill.
struct Generation {
  std::vector<runner::llm::DecoderStep> steps;
  bool complete = false;  // otherwise stopped by the user
};

// [batch, prompt] ids, equal for equal seeds.
std::vector<std::int64_t> random_tokens(const DecoderPlan& plan, std::int64_t count, std::uint64_t seed);

// Feeds the prompt and decodes `output` tokens; appends the steps. Stops early where the user does.
core::Status generate(runner::llm::Decoder& decoder, std::span<const std::int64_t> prompt, std::int64_t output, Generation& into,
                      const Services& services);

// What the generations of a level were.
struct LevelRun {
  DecoderLevel level;
  runner::LoopResult loop;              // each call is a generation
  std::vector<Generation> generations;  // in order: warm-up, then measured ones, plain and instrumented
  std::int64_t cache_bytes = 0;         // of the present tensors after the last one
  std::int64_t cache_tokens = 0;        // of each sequence in them
  std::optional<std::int64_t> rss_bytes;
};

// How long a level is measured.
struct LevelLimits {
  runner::LoopOptions loop;
  stats::StoppingOptions stopping;
};
LevelLimits limits_of(const LlmModelRequest& request, const DecoderLevel& level);

core::Result<LevelRun> run_level(runner::Backend& backend, const DecoderPlan& plan, const DecoderLevel& level,
                                 const LlmModelRequest& request, runner::Instrument* instrument, runner::BlockObserver* blocks,
                                 const Services& services);

// Rows of llm_requests and llm_chunks (a row per token). Generations in `disturbed_blocks` go to the phase
// "disturbed". Answers the number of generations written, to go on counting from.
std::int64_t write_rows(const LevelRun& run, std::int64_t first_request,
                        const std::map<std::int64_t, std::string>& disturbed_blocks, bool chunks, trace::Sink& sink);

}  // namespace aaco::workflows
