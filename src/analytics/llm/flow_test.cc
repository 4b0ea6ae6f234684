#include <gtest/gtest.h>

#include "analytics/llm.h"
#include "analytics/llm/load_rows_testing.h"

namespace aaco::analytics::llm {
namespace {

// 20 requests a second for 10 s, at a server whose steps get longer with its batch: a token of each open request every 100 ms, of
// 100 tokens each. No request ends before its tenth second, and tokens flow from the first on.
TEST(Flow, TokensCountWhenTheyArrive) {
  Rows rows;
  for (std::int64_t i = 0; i < 200; ++i) rows.add(50 * i, 50 * i, 50 * i + 100, 100, i == 0 ? 10 : 100);
  const Load load = rows.load();
  ASSERT_TRUE(load.steady);
  // Between the first end (1 s) and the last request (9.95 s): (open requests) x 10 tokens/s, of which 20 a second are added.
  const double from = 1.0, to = 9.95;
  EXPECT_NEAR(*load.steady->output_tokens_per_second, 20 * (from + to) / 2 * 10, 30);
  EXPECT_NEAR(load.steady->requests_per_second, *load.steady->output_tokens_per_second / 100, 0.3);
}
// Four in step: a window of whole waves has whole waves of tokens.
TEST(Flow, WavesCountWhole) {
  Rows rows;
  for (std::int64_t wave = 0; wave < 10; ++wave)
    for (std::int64_t slot = 0; slot < 4; ++slot) rows.add(350 * wave + slot, 350 * wave + slot, 350 * wave + slot + 40, 10, 32);
  const Load load = rows.load();
  ASSERT_TRUE(load.steady);
  EXPECT_NEAR(*load.steady->output_tokens_per_second, 4 * 32 / 0.35, 4);
  EXPECT_NEAR(*load.rates.output_tokens_per_second * load.duration_s, 1280, 1e-6);
}
TEST(Flow, TokensOfRequestsThatFailedFlowedToo) {
  Rows rows;
  for (std::int64_t i = 0; i < 10; ++i) rows.add(100 * i, 100 * i, 100 * i + 10, 10, 10);
  auto& cut = rows.add(1000, 1000, 1010, 10, 10);
  cut.outcome = rows.names.intern("truncated");
  cut.output_tokens.reset();
  const Load load = rows.load();
  EXPECT_NEAR(*load.rates.output_tokens_per_second * load.duration_s, 110, 1e-6);
  EXPECT_NEAR(load.rates.requests_per_second * load.duration_s, 10, 1e-6);
  EXPECT_NEAR(load.rates.failures_per_second * load.duration_s, 1, 1e-6);
}
// Continuous usage: a chunk counts with its own tokens.
TEST(Flow, ChunksCountWithTheirTokens) {
  Rows rows;
  for (std::int64_t i = 0; i < 10; ++i) rows.add(1000 * i, 1000 * i, 1000 * i + 100, 400, 2).output_tokens = 10;
  for (auto& chunk : rows.chunks) chunk.tokens = chunk.chunk == 0 ? 9 : 1;
  EXPECT_NEAR(*rows.load().rates.output_tokens_per_second, 100 / 9.5, 0.01);
}
TEST(Flow, WithoutRowsOfChunksTokensFlowEvenly) {
  Rows rows;
  for (std::int64_t i = 0; i < 200; ++i) rows.add(50 * i, 50 * i, 50 * i + 100, 100, i == 0 ? 10 : 100);
  const double with = *rows.load().steady->output_tokens_per_second;
  rows.chunks.clear();
  EXPECT_NEAR(*rows.load().steady->output_tokens_per_second, with, 0.02 * with);
}

}  // namespace
}  // namespace aaco::analytics::llm
