#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::llm {

// The time between two chunks with content of one request.
struct TokenGap {
  std::int64_t request = 0, from_ns = 0, to_ns = 0;
  [[nodiscard]] double ns() const { return static_cast<double>(to_ns - from_ns); }
};

struct FirstToken {
  std::int64_t time_ns = 0, request = 0;
  bool operator<(const FirstToken& other) const { return time_ns < other.time_ns; }
};

// Of the measured requests of a load level; gaps in the order of the chunks, first tokens in the order of time.
struct TokenTimes {
  std::vector<TokenGap> gaps;
  std::vector<FirstToken> firsts;
};
TokenTimes token_times(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                       const trace::NameTable& names, std::string_view load);

// The median of the gaps between chunks that were not read together; 0 where all were.
double usual_gap_ns(const std::vector<TokenGap>& gaps);

// The first token of another request arrives within the gap, or in the same step as its end.
bool has_prefill(const TokenGap& gap, const std::vector<FirstToken>& firsts);

}  // namespace aaco::analytics::llm
