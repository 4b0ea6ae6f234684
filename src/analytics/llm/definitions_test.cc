#include <gtest/gtest.h>

#include "analytics/llm_definitions.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// One request: due at 0, sent at 10 ms, the role at 20, three chunks of two tokens each at 110, 130, 150, the end at 160.
struct One {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  std::vector<trace::LlmChunkRow> chunks;

  explicit One(std::optional<std::int64_t> tokens = 6, const char* outcome = "ok") {
    trace::LlmRequestRow row{.request = 0, .phase = names.intern("measure"), .load = names.intern("concurrency 1")};
    row.sent_ns = 10 * kMs;
    row.first_chunk_ns = 20 * kMs;
    row.first_token_ns = 110 * kMs;
    row.last_token_ns = 150 * kMs;
    row.end_ns = 160 * kMs;
    row.outcome = names.intern(outcome);
    row.output_tokens = tokens;
    row.content_chunks = 3;
    requests.push_back(row);
    add(20, "role");
    for (const std::int64_t time : {110, 130, 150}) add(time, "content");
    add(155, "usage");
    add(160, "done");
  }
  void add(std::int64_t time_ms, const char* kind) {
    trace::LlmChunkRow chunk{.request = 0, .chunk = 0, .time_ns = time_ms * kMs};
    chunk.kind = names.intern(kind);
    chunks.push_back(chunk);
  }
  [[nodiscard]] std::optional<double> mean_ms(Tool tool, const std::string& name) const {
    for (const ToolFigure& figure : figures_as(tool, requests, chunks, names, "concurrency 1"))
      if (figure.name == name) return figure.mean_ns ? std::optional(*figure.mean_ns / kMs) : std::nullopt;
    return std::nullopt;
  }
};

TEST(Definitions, VllmTakesTheRoleForTheFirstToken) {
  const One one;
  EXPECT_EQ(one.mean_ms(Tool::vllm, "TTFT"), 10);
  EXPECT_EQ(one.mean_ms(Tool::vllm, "E2EL"), 140);
  EXPECT_EQ(one.mean_ms(Tool::vllm, "TPOT"), 26);
  EXPECT_NEAR(*one.mean_ms(Tool::vllm, "ITL"), 130.0 / 3, 1e-9);
}
TEST(Definitions, GuidellmCountsTheFirstTokenInTpot) {
  const One one;
  EXPECT_EQ(one.mean_ms(Tool::guidellm, "TTFT"), 100);
  EXPECT_NEAR(*one.mean_ms(Tool::guidellm, "TPOT"), 140.0 / 6, 1e-9);
  EXPECT_EQ(one.mean_ms(Tool::guidellm, "ITL"), 8);
  EXPECT_EQ(one.mean_ms(Tool::guidellm, "E2EL"), 150);
}
TEST(Definitions, AiperfEndsWithTheLastContent) {
  const One one;
  EXPECT_EQ(one.mean_ms(Tool::aiperf, "ITL"), 8);
  EXPECT_EQ(one.mean_ms(Tool::aiperf, "inter-chunk"), 20);
  EXPECT_EQ(one.mean_ms(Tool::aiperf, "E2EL"), 140);
}
TEST(Definitions, UnknownTokensHaveNoTpot) {
  const One one{std::nullopt};
  EXPECT_FALSE(one.mean_ms(Tool::vllm, "TPOT"));
  EXPECT_FALSE(one.mean_ms(Tool::guidellm, "TPOT"));
  EXPECT_FALSE(one.mean_ms(Tool::aiperf, "ITL"));
}
TEST(Definitions, FailuresAreLeftOut) { EXPECT_FALSE(One(6, "timeout").mean_ms(Tool::vllm, "TTFT")); }
TEST(Definitions, OtherLevelsAreLeftOut) {
  const One one;
  for (const ToolFigure& figure : figures_as(Tool::vllm, one.requests, one.chunks, one.names, "concurrency 2"))
    EXPECT_FALSE(figure.mean_ns) << figure.name;
}
TEST(Definitions, Names) {
  EXPECT_EQ(parse_tools("vllm, aiperf").value(), (std::vector{Tool::vllm, Tool::aiperf}));
  for (const char* text : {"", "triton", "vllm,", "vllm;aiperf"}) EXPECT_FALSE(parse_tools(text)) << text;
}

}  // namespace
}  // namespace aaco::analytics::llm
