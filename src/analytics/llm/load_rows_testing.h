#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analytics/llm.h"

// For tests: rows of a load.
namespace aaco::analytics::llm {

inline constexpr std::int64_t kMs = 1'000'000;

// Rows of a load level with their chunks.
struct Rows {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  std::vector<trace::LlmChunkRow> chunks;

  // An answer with a chunk each `gap` ms after its first token.
  trace::LlmRequestRow& add(std::int64_t due_ms, std::int64_t sent_ms, std::int64_t first_ms, std::int64_t gap_ms,
                            std::int64_t count) {
    trace::LlmRequestRow row{.request = static_cast<std::int64_t>(requests.size()),
                             .phase = names.intern("measure"),
                             .load = names.intern("rate 1/s")};
    row.scheduled_ns = due_ms * kMs;
    row.sent_ns = sent_ms * kMs;
    row.first_token_ns = first_ms * kMs;
    row.last_token_ns = (first_ms + gap_ms * (count - 1)) * kMs;
    row.end_ns = *row.last_token_ns;
    row.outcome = names.intern("ok");
    row.output_tokens = count;
    row.content_chunks = count;
    for (std::int64_t i = 0; i < count; ++i) {
      trace::LlmChunkRow chunk{.request = row.request, .chunk = i, .time_ns = (first_ms + gap_ms * i) * kMs};
      chunk.kind = names.intern("content");
      chunks.push_back(chunk);
    }
    requests.push_back(row);
    return requests.back();
  }
  void fail(std::int64_t due_ms, std::string_view outcome) {
    trace::LlmRequestRow& row = add(due_ms, due_ms, due_ms + 1, 1, 1);
    row.outcome = names.intern(outcome);
    row.detail = names.intern("why");
  }
  [[nodiscard]] Load load(const Slo& slo = {}, std::int64_t ramp_ns = 0) const {
    return measure_load(requests, chunks, names, slo, ramp_ns);
  }
};

}  // namespace aaco::analytics::llm
