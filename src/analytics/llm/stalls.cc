#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analytics/llm.h"
#include "analytics/llm/token_gaps.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

// The step that computes a prompt writes its first token and the next token of the others within the same moment.
constexpr double kSameStep = 0.1;  // of the gap

}  // namespace

bool has_prefill(const TokenGap& gap, const std::vector<FirstToken>& firsts) {
  const auto end = gap.to_ns + static_cast<std::int64_t>(kSameStep * gap.ns());
  auto first = std::lower_bound(firsts.begin(), firsts.end(), FirstToken{gap.from_ns + 1, 0});
  for (; first != firsts.end() && first->time_ns <= end; ++first)
    if (first->request != gap.request) return true;
  return false;
}

double usual_gap_ns(const std::vector<TokenGap>& gaps) {
  std::vector<double> lengths;
  for (const TokenGap& gap : gaps)
    if (gap.ns() > 0) lengths.push_back(gap.ns());
  return lengths.empty() ? 0 : stats::median(lengths);
}

TokenTimes token_times(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                       const trace::NameTable& names, std::string_view load) {
  std::unordered_map<std::int64_t, std::int64_t> last;  // the last chunk of each request of the level
  TokenTimes times;
  for (const auto& row : requests) {
    if (names.text(row.phase) != "measure" || names.text(row.load) != load || !row.first_token_ns) continue;
    last.emplace(row.request, 0);
    times.firsts.push_back({*row.first_token_ns, row.request});
  }
  std::sort(times.firsts.begin(), times.firsts.end());
  for (const auto& chunk : chunks) {
    const auto before = last.find(chunk.request);
    const std::string_view kind = names.text(chunk.kind);
    if (before == last.end() || (kind != "content" && kind != "reasoning" && kind != "tool_call")) continue;
    if (before->second != 0) times.gaps.push_back({chunk.request, before->second, chunk.time_ns});
    before->second = chunk.time_ns;
  }
  return times;
}

std::optional<PrefillStalls> prefill_stalls(std::span<const trace::LlmRequestRow> requests,
                                            std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                            std::string_view load) {
  const TokenTimes times = token_times(requests, chunks, names, load);
  if (times.gaps.empty() || times.firsts.size() < 2) return std::nullopt;
  PrefillStalls stalls;
  stalls.usual_gap_ns = usual_gap_ns(times.gaps);
  const double span = static_cast<double>(times.firsts.back().time_ns - times.firsts.front().time_ns);
  const double rate = span > 0 ? static_cast<double>(times.firsts.size() - 1) / span : 0;
  std::vector<double> slow;
  std::int64_t with = 0, others_with = 0;
  double expected = 0;
  for (const TokenGap& gap : times.gaps) {
    const bool prefill = has_prefill(gap, times.firsts);
    if (gap.ns() <= kSlowGap * stalls.usual_gap_ns) {
      others_with += prefill ? 1 : 0;
      continue;
    }
    slow.push_back(gap.ns());
    with += prefill ? 1 : 0;
    expected += 1 - std::exp(-rate * gap.ns() * (1 + kSameStep));
  }
  if (slow.empty()) return std::nullopt;
  stalls.slow_gaps = static_cast<std::int64_t>(slow.size());
  stalls.slow_gap_ns = stats::median(slow);
  stalls.with_prefill_ratio = static_cast<double>(with) / static_cast<double>(slow.size());
  stalls.expected_ratio = expected / static_cast<double>(slow.size());
  if (times.gaps.size() > slow.size())
    stalls.others_with_prefill_ratio = static_cast<double>(others_with) / static_cast<double>(times.gaps.size() - slow.size());
  return stalls;
}

bool stalls_tokens(const PrefillStalls& stalls) {
  return stalls.slow_gaps >= kFewestSlowGaps && stalls.with_prefill_ratio >= kStalledShare &&
         stalls.with_prefill_ratio >= kStalledMore * stalls.expected_ratio &&
         stalls.with_prefill_ratio >= kStalledOthers * stalls.others_with_prefill_ratio;
}

}  // namespace aaco::analytics::llm
