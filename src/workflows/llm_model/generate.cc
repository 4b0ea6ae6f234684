#include "workflows/llm_model/generate.h"

#include "core/resident_memory.h"

namespace aaco::workflows {
namespace {

using runner::llm::Decoder;
using runner::llm::DecoderStep;

constexpr std::int64_t kMainTimeNs = 10'000'000'000, kCurveTimeNs = 2'000'000'000;
constexpr std::int64_t kFewestGenerations = 6;  // of which a median has an interval
constexpr core::Nanoseconds kMaxWarmup{3'000'000'000};
constexpr std::int64_t kUnlimitedNs = std::int64_t{24} * 3600 * 1'000'000'000;

// A generation that the user stopped is no measured call.
void drop_incomplete(LevelRun& run) {
  if (run.generations.empty() || run.generations.back().complete || run.generations.back().steps.empty()) return;
  const std::int64_t start = run.generations.back().steps.front().start_ns;
  for (auto* calls : {&run.loop.warmup, &run.loop.plain, &run.loop.instrumented})
    if (!calls->empty() && calls->back().start_ns + calls->back().duration_ns > start) calls->pop_back();
}

struct Place {
  const char* phase = "";
  std::int64_t block = 0;
};

// The phase of the call a generation is in, by its start.
std::map<std::int64_t, Place> places_of(const runner::LoopResult& loop) {
  std::map<std::int64_t, Place> places;
  for (const auto& call : loop.warmup) places[call.start_ns] = {"warmup", call.block};
  for (const auto& call : loop.plain) places[call.start_ns] = {"measure", call.block};
  for (const auto& call : loop.instrumented) places[call.start_ns] = {"measure_telemetry", call.block};
  return places;
}

trace::LlmRequestRow request_row(const Generation& generation, const DecoderLevel& level) {
  trace::LlmRequestRow row;
  const DecoderStep &first = generation.steps.front(), &last = generation.steps.back();
  row.scheduled_ns = row.dispatched_ns = row.admitted_ns = first.start_ns;
  row.sent_ns = first.start_ns;
  row.first_chunk_ns = row.first_token_ns = first.end_ns;
  row.last_token_ns = row.end_ns = last.end_ns;
  row.prompt_tokens_asked = level.prompt;
  row.output_tokens_asked = level.output;
  row.prompt_tokens = level.prompt;
  row.output_tokens = row.content_chunks = static_cast<std::int64_t>(generation.steps.size());
  return row;
}

void write_tokens(const Generation& generation, std::int64_t request, trace::Sink& sink) {
  trace::LlmChunkRow row;
  row.request = request;
  row.kind = sink.name("content");
  row.tokens = 1;
  for (const DecoderStep& step : generation.steps) {
    row.time_ns = step.end_ns;
    sink.add(row);
    ++row.chunk;
  }
}

}  // namespace

std::vector<std::int64_t> random_tokens(const DecoderPlan& plan, std::int64_t count, std::uint64_t seed) {
  core::Random random(seed);
  const auto vocabulary = static_cast<std::uint64_t>(plan.layout.vocabulary.value_or(256));
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<std::int64_t>(random.below(vocabulary)));
  return tokens;
}

core::Status generate(Decoder& decoder, std::span<const std::int64_t> prompt, std::int64_t output, Generation& into,
                      const Services& services) {
  decoder.restart();
  std::span<const std::int64_t> tokens = prompt;
  for (std::int64_t i = 0; i < output; ++i) {
    if (services.stopping()) return {};
    AACO_ASSIGN(const DecoderStep step, decoder.feed(tokens));
    into.steps.push_back(step);
    tokens = decoder.next();
  }
  into.complete = true;
  return {};
}

LevelLimits limits_of(const LlmModelRequest& request, const DecoderLevel& level) {
  LevelLimits limits;
  limits.loop.block_min_calls = 1;
  limits.loop.warmup_max_time = kMaxWarmup;
  limits.loop.warmup_iterations = request.warmup;
  if (!level.main && !request.warmup) limits.loop.warmup_iterations = 1;
  auto& stopping = limits.stopping;
  stopping.maximum_time_ns = kUnlimitedNs;
  if (request.requests) {
    stopping.kind = stats::StoppingOptions::Kind::iterations;
    stopping.iterations = stopping.maximum_iterations = *request.requests;
    return limits;
  }
  stopping.kind = stats::StoppingOptions::Kind::time;
  stopping.time_ns = request.duration_ns.value_or(level.main ? kMainTimeNs : kCurveTimeNs);
  stopping.minimum_iterations = request.duration_ns ? 1 : kFewestGenerations;
  return limits;
}

core::Result<LevelRun> run_level(runner::Backend& backend, const DecoderPlan& plan, const DecoderLevel& level,
                                 const LlmModelRequest& request, runner::Instrument* instrument, runner::BlockObserver* blocks,
                                 const Services& services) {
  LevelRun run;
  run.level = level;
  Decoder decoder(backend, plan.layout, {level.batch, level.cached(), plan.in_place, request.run.seed});
  const auto prompt = random_tokens(plan, level.batch * level.prompt, request.run.seed);
  const auto once = [&]() -> core::Status {
    Generation generation;
    generation.steps.reserve(static_cast<std::size_t>(level.output));
    const auto done = generate(decoder, prompt, level.output, generation, services);
    run.generations.push_back(std::move(generation));
    return done;
  };
  const LevelLimits limits = limits_of(request, level);
  stats::StoppingRule rule(limits.stopping);
  rule.reserve();
  static const std::atomic<bool> kNever{false};
  AACO_ASSIGN(run.loop,
              runner::measure(once, limits.loop, rule, instrument, services.stop != nullptr ? *services.stop : kNever, blocks));
  drop_incomplete(run);
  run.cache_tokens = decoder.past();
  if (run.cache_tokens > 0) {
    AACO_ASSIGN(run.cache_bytes, decoder.cache_bytes());
  }
  run.rss_bytes = core::resident_bytes();
  return run;
}

std::int64_t write_rows(const LevelRun& run, std::int64_t first_request,
                        const std::map<std::int64_t, std::string>& disturbed_blocks, bool chunks, trace::Sink& sink) {
  const auto places = places_of(run.loop);
  std::int64_t request = first_request;
  for (const Generation& generation : run.generations) {
    if (generation.steps.empty()) continue;
    trace::LlmRequestRow row = request_row(generation, run.level);
    auto place = places.upper_bound(row.scheduled_ns);
    const Place found = place == places.begin() ? Place{"measure", -1} : std::prev(place)->second;
    const bool disturbed = std::string_view(found.phase) == "measure" && disturbed_blocks.contains(found.block);
    row.request = request;
    row.phase = sink.name(disturbed ? "disturbed" : found.phase);
    row.load = sink.name(run.level.name);
    row.outcome = sink.name(generation.complete ? "ok" : "cancelled");
    row.finish_reason = sink.name(generation.complete ? "length" : "");
    row.token_source = sink.name("model");
    sink.add(row);
    if (chunks) write_tokens(generation, request, sink);
    ++request;
  }
  return request - first_request;
}

}  // namespace aaco::workflows
