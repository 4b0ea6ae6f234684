#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analytics/llm.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::llm {

struct Window {
  std::int64_t from = 0, to = 0;
  [[nodiscard]] double seconds() const { return static_cast<double>(to - from) * 1e-9; }
};

// What flowed from the server over time. Tokens count when their chunk arrives. Of a response of few chunks those of each flow
// evenly from the chunk before it, and those of the first over the shortest time to a first token of the level: so that requests
// that run in step do not count over one burst less or more at the edges of a window. A response in one piece flows over its own
// time.
class Flow {
 public:
  // `tokens_per_chunk`: of the complete requests, for the tokens of those that ended early; empty: unknown, these have none.
  Flow(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
       bool tokens_known, const std::optional<double>& tokens_per_chunk);
  // Requests count by the share of their output within the window. Tokens of failed and cancelled requests count, too.
  [[nodiscard]] Rates over(Window window) const;

 private:
  struct Piece {
    std::int64_t from_ns = 0, to_ns = 0;
    double complete = 0, failed = 0, output = 0, prompt = 0;
  };
  void add(const Piece& piece) { pieces_.push_back(piece); }
  void add_whole(const trace::LlmRequestRow& row, const Piece& all);
  void add_chunks(const trace::LlmRequestRow& row, const Piece& all, std::span<const std::int64_t> times_ns,
                  std::span<const double> tokens);

  std::vector<Piece> pieces_;
  double own_ns_ = 0, own_first_ns_ = 0;  // of a usual response that did not wait for others, and of its first token
  bool tokens_known_ = false, prompts_known_ = true;
};

}  // namespace aaco::analytics::llm
