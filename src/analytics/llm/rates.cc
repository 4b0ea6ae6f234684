#include "analytics/llm/rates.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace aaco::analytics::llm {
namespace {

constexpr std::size_t kFineChunks = 8;  // of a response: its bursts at the edges of a window do not matter

double length_of(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from); }

bool is_complete(const trace::LlmRequestRow& row, const trace::NameTable& names) {
  return names.text(row.outcome) == "ok" && row.sent_ns;
}

// The time of a usual response that did not wait for others: the shortest of the complete ones with at least the median number of
// chunks, from their sending. A quantile above that includes waiting in a queue that grows from the first request on.
double own_time_ns(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::vector<std::int64_t> chunks;
  for (const auto& row : requests)
    if (is_complete(row, names)) chunks.push_back(row.content_chunks);
  if (chunks.empty()) return 0;
  const auto middle = chunks.begin() + static_cast<std::ptrdiff_t>(chunks.size() / 2);
  std::nth_element(chunks.begin(), middle, chunks.end());
  double shortest = std::numeric_limits<double>::max();
  for (const auto& row : requests)
    if (is_complete(row, names) && row.content_chunks >= *middle)
      shortest = std::min(shortest, length_of(*row.sent_ns, row.end_ns));
  return shortest;
}

double shortest_first_ns(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::optional<double> shortest;
  for (const auto& row : requests)
    if (is_complete(row, names) && row.first_token_ns)
      shortest =
          std::min(shortest.value_or(std::numeric_limits<double>::infinity()), length_of(*row.sent_ns, *row.first_token_ns));
  return shortest.value_or(0);
}

struct Chunks {
  std::vector<std::int64_t> times_ns;
  std::vector<double> tokens;  // as many, where every chunk states its own
};

std::unordered_map<std::int64_t, Chunks> chunks_by_request(std::span<const trace::LlmChunkRow> chunks,
                                                           const trace::NameTable& names) {
  std::unordered_map<std::int64_t, Chunks> all;
  for (const auto& chunk : chunks) {
    if (!is_output_kind(names.text(chunk.kind))) continue;
    Chunks& of = all[chunk.request];
    of.times_ns.push_back(chunk.time_ns);
    if (chunk.tokens) of.tokens.push_back(static_cast<double>(*chunk.tokens));
  }
  return all;
}

}  // namespace

Flow::Flow(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
           const trace::NameTable& names, bool tokens_known, const std::optional<double>& tokens_per_chunk)
    : own_ns_(own_time_ns(requests, names)), own_first_ns_(shortest_first_ns(requests, names)), tokens_known_(tokens_known) {
  const auto by_request = chunks_by_request(chunks, names);
  for (const auto& row : requests) {
    const bool ok = names.text(row.outcome) == "ok", cancelled = names.text(row.outcome) == "cancelled";
    Piece all{.complete = ok ? 1.0 : 0.0, .failed = ok || cancelled ? 0.0 : 1.0};
    all.output = row.output_tokens ? static_cast<double>(*row.output_tokens)
                                   : tokens_per_chunk.value_or(0) * static_cast<double>(row.content_chunks);
    if (ok) prompts_known_ = prompts_known_ && row.prompt_tokens.has_value();
    if (ok) all.prompt = static_cast<double>(row.prompt_tokens.value_or(0));
    const bool flows = row.first_token_ns && row.last_token_ns && *row.last_token_ns > *row.first_token_ns;
    const auto known = by_request.find(row.request);
    if (!flows)
      add_whole(row, all);
    else if (known == by_request.end() || known->second.times_ns.size() < 2)
      add_chunks(row, all, std::vector{*row.first_token_ns, *row.last_token_ns},
                 std::vector{1.0, static_cast<double>(std::max<std::int64_t>(1, row.content_chunks - 1))});
    else
      add_chunks(row, all, known->second.times_ns, known->second.tokens);
  }
}

void Flow::add_whole(const trace::LlmRequestRow& row, const Piece& all) {
  Piece piece = all;
  piece.from_ns = std::max(row.scheduled_ns, row.end_ns - static_cast<std::int64_t>(own_ns_));
  piece.to_ns = row.end_ns;
  add(piece);
}

void Flow::add_chunks(const trace::LlmRequestRow& row, const Piece& all, std::span<const std::int64_t> times_ns,
                      std::span<const double> tokens) {
  const double stated = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  const bool counted = tokens.size() == times_ns.size() && stated > 0;
  std::int64_t before =
      std::max(row.sent_ns.value_or(row.scheduled_ns), times_ns.front() - static_cast<std::int64_t>(own_first_ns_));
  const bool fine = times_ns.size() >= kFineChunks;
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    const double share = counted ? tokens[i] / stated : 1 / static_cast<double>(times_ns.size());
    add({fine ? times_ns[i] : before, times_ns[i], share * all.complete, 0, share * all.output, i == 0 ? all.prompt : 0});
    before = times_ns[i];
  }
  if (all.failed > 0) add({row.end_ns, row.end_ns, 0, all.failed, 0, 0});
}

Rates Flow::over(Window window) const {
  Piece sum;
  for (const Piece& piece : pieces_) {
    const std::int64_t from = std::max(piece.from_ns, window.from), to = std::min(piece.to_ns, window.to);
    if (to < from) continue;
    const double share = piece.to_ns > piece.from_ns ? length_of(from, to) / length_of(piece.from_ns, piece.to_ns) : 1;
    sum.complete += share * piece.complete;
    sum.failed += share * piece.failed;
    sum.output += share * piece.output;
    sum.prompt += share * piece.prompt;
  }
  const double seconds = std::max(1e-9, window.seconds());
  Rates rates{.requests_per_second = sum.complete / seconds, .failures_per_second = sum.failed / seconds};
  if (tokens_known_) rates.output_tokens_per_second = sum.output / seconds;
  if (prompts_known_ && sum.complete > 0) rates.prompt_tokens_per_second = sum.prompt / seconds;
  return rates;
}

}  // namespace aaco::analytics::llm
