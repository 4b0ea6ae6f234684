#include "workflows/llm_model/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflows/llm_model/decoder_summary.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kPrefillNs = 100, kStepNs = 10;

// A generation of `steps` calls that begins at `start`.
Generation generation(std::int64_t start, std::int64_t steps, bool complete = true) {
  Generation made;
  made.complete = complete;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t duration = i == 0 ? kPrefillNs : kStepNs;
    made.steps.push_back({start, start + duration, duration / 2, i == 0 ? 0 : 7 + i, i == 0 ? 8 : 1});
    start += duration;
  }
  return made;
}

// Warm-up at 0; measured ones at 1000 (block 0) and 3000 (block 2); one with telemetry at 2000; one that was stopped at 4000.
LevelRun sample() {
  LevelRun run;
  run.level = {"prompt 8, batch 2", 2, 8, 4, true};
  run.loop.warmup = {{0, 130, 0}};
  run.loop.plain = {{1000, 130, 0}, {3000, 130, 2}};
  run.loop.instrumented = {{2000, 130, 1}};
  for (const std::int64_t start : {0, 1000, 2000, 3000}) run.generations.push_back(generation(start, 4));
  run.generations.push_back(generation(4000, 2, false));
  run.cache_bytes = 4096;
  run.cache_tokens = 11;
  return run;
}

std::vector<std::string> of_requests(const trace::MemorySink& sink, trace::NameId trace::LlmRequestRow::*member) {
  std::vector<std::string> texts;
  for (const auto& row : sink.rows<trace::LlmRequestRow>()) texts.emplace_back(sink.text(row.*member));
  return texts;
}

TEST(GenerationRows, PhasesAreThoseOfTheirCalls) {
  trace::MemorySink sink;
  EXPECT_EQ(write_rows(sample(), 10, {}, true, sink), 5);
  EXPECT_THAT(of_requests(sink, &trace::LlmRequestRow::phase),
              testing::ElementsAre("warmup", "measure", "measure_telemetry", "measure", "measure"));
  EXPECT_THAT(of_requests(sink, &trace::LlmRequestRow::outcome), testing::ElementsAre("ok", "ok", "ok", "ok", "cancelled"));
  EXPECT_EQ(sink.rows<trace::LlmRequestRow>().front().request, 10);
  EXPECT_EQ(sink.rows<trace::LlmRequestRow>()[1].first_token_ns, 1100);
  EXPECT_EQ(sink.rows<trace::LlmRequestRow>()[1].last_token_ns, 1130);
  EXPECT_EQ(sink.rows<trace::LlmChunkRow>().size(), 4U * 4U + 2U);
}

TEST(GenerationRows, DisturbedBlocksAreNotMeasured) {
  trace::MemorySink sink;
  write_rows(sample(), 0, {{2, "cpu"}}, true, sink);
  EXPECT_THAT(of_requests(sink, &trace::LlmRequestRow::phase),
              testing::ElementsAre("warmup", "measure", "measure_telemetry", "disturbed", "disturbed"));
}

TEST(GenerationRows, WithoutChunksThereAreRequestsOnly) {
  trace::MemorySink sink;
  write_rows(sample(), 0, {}, false, sink);
  EXPECT_TRUE(sink.rows<trace::LlmChunkRow>().empty());
  EXPECT_EQ(sink.rows<trace::LlmRequestRow>().size(), 5U);
}

TEST(GenerationRows, AGenerationWithoutAStepHasNoRow) {
  LevelRun run = sample();
  run.generations = {Generation{}};
  trace::MemorySink sink;
  EXPECT_EQ(write_rows(run, 0, {}, true, sink), 0);
}

DecoderPlan plan() {
  DecoderPlan made;
  made.layout.kv_heads = 2;
  made.layout.cache_type = runner::ElementType::float32;
  made.layout.cache = {{"past.0.key", "present.0.key", 16}, {"past.0.value", "present.0.value", 16}};
  return made;
}

double value_of(const trace::Metrics& metrics, std::string_view id) {
  const auto* metric = find_metric(metrics, id);
  return metric == nullptr ? -1 : metric->value;
}

TEST(DecoderSummaryTest, TokensCountForAllSequences) {
  const std::vector<LevelRun> runs = {sample()};
  trace::MemorySink sink;
  write_rows(runs.front(), 0, {}, true, sink);
  const auto summary = summarize_decoder(runs, sink, plan(), DecoderFacts{1e6, {}, {}, {}, {}});
  EXPECT_EQ(value_of(summary.metrics, "llm.ttft_p50_ns"), kPrefillNs);
  EXPECT_EQ(value_of(summary.metrics, "llm.tpot_p50_ns"), kStepNs);
  EXPECT_EQ(value_of(summary.metrics, "llm.prefill_tokens_per_second"), 2 * 8 * 1e9 / kPrefillNs);
  EXPECT_EQ(value_of(summary.metrics, "llm.decode_tokens_per_second"), 2 * 1e9 / kStepNs);
  EXPECT_EQ(value_of(summary.metrics, "llm.kv_cache_bytes"), 4096);
  EXPECT_EQ(value_of(summary.metrics, "llm.kv_cache_predicted_bytes"), 2 * 2 * 2 * 11 * 16 * 4);
  EXPECT_EQ(find_metric(summary.metrics, "llm.energy_per_token_joules"), nullptr);
  EXPECT_EQ(find_metric(summary.metrics, "llm.weight_floor_ratio"), nullptr);
  EXPECT_EQ(summary.document["mode"].text(), "in_process");
}

TEST(DecoderSummaryTest, EnergyIsPerTokenOfAllSequences) {
  const std::vector<LevelRun> runs = {sample()};
  trace::MemorySink sink;
  write_rows(runs.front(), 0, {}, true, sink);
  const auto summary = summarize_decoder(runs, sink, plan(), DecoderFacts{0, {}, {}, 16.0, {}});
  EXPECT_EQ(value_of(summary.metrics, "llm.energy_per_token_joules"), 2);
}

TEST(DecoderSummaryTest, NoLevelYieldsNoFigure) {
  const auto summary = summarize_decoder({}, {}, plan(), {});
  EXPECT_TRUE(summary.metrics.empty());
  EXPECT_TRUE(summary.document["levels"].items().empty());
}

}  // namespace
}  // namespace aaco::workflows
