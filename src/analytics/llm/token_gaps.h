#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::llm {

// The time between two chunks with content of one request.
struct TokenGap {
  std::int64_t request = 0, from_ns = 0, to_ns = 0;
  std::optional<double> read_lag_ns = std::nullopt;  // the chunk at its end waited in the kernel; empty: unknown
  std::int64_t read_with = 0;                        // chunks of the request that were read together with that one
  [[nodiscard]] double ns() const { return static_cast<double>(to_ns - from_ns); }
};

// The server computes a prompt: from its send, but at most for as long as a prompt takes that waits for nothing (the shortest of
// the level, or what the server states), to the first token.
struct Prefill {
  std::int64_t from_ns = 0, to_ns = 0, request = 0;
};

// Of the measured requests of a load level; gaps in the order of the chunks, prefills in the order of their ends.
struct TokenTimes {
  std::vector<TokenGap> gaps;
  std::vector<Prefill> prefills;
  double own_prefill_ns = 0;  // of a prompt that waits for nothing: to its first token
  std::int64_t longest_prefill_ns = 0;
  // The steps that end with a first token are longer than others: prompts are computed in them.
  bool prefills_stretch_steps = false;
  std::unordered_map<std::int64_t, TokenGap> firsts;  // from the send to the first token, by request
};
TokenTimes token_times(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                       const trace::NameTable& names, std::string_view load);

// The median of the gaps between chunks that were not read together; 0 where all were.
double usual_gap_ns(const std::vector<TokenGap>& gaps);

// The server computed a prompt of another request within the gap, or in the same step as its end.
bool has_prefill(const TokenGap& gap, const TokenTimes& times);

// All requests that were being answered stood still at once, and no prompt was computed: the server paused.
struct Pause {
  std::int64_t from_ns = 0, to_ns = 0;
  double lost_ns = 0;         // above the usual gap of these requests
  std::int64_t requests = 0;  // that stood still
};
// In the order of time. Gaps that the client read late are none.
std::vector<Pause> pauses_of(const TokenTimes& times, std::span<const trace::LlmRequestRow> requests,
                             const trace::NameTable& names, std::string_view load, bool prefills_stall);
// "the server paused 6 times for about 300 ms, every 5.00 s: all open requests stood still at once". Empty: it did not.
std::string sentence_of(std::span<const Pause> pauses);

}  // namespace aaco::analytics::llm
