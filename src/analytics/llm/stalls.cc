#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analytics/llm.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

struct Gap {
  std::int64_t request = 0, from_ns = 0, to_ns = 0;
  [[nodiscard]] double ns() const { return static_cast<double>(to_ns - from_ns); }
};

struct FirstToken {
  std::int64_t time_ns = 0, request = 0;
  bool operator<(const FirstToken& other) const { return time_ns < other.time_ns; }
};

// The step that computes a prompt writes its first token and the next token of the others within the same moment.
constexpr double kSameStep = 0.1;  // of the gap

bool has_prefill(const Gap& gap, const std::vector<FirstToken>& firsts) {
  const auto end = gap.to_ns + static_cast<std::int64_t>(kSameStep * gap.ns());
  auto first = std::lower_bound(firsts.begin(), firsts.end(), FirstToken{gap.from_ns + 1, 0});
  for (; first != firsts.end() && first->time_ns <= end; ++first)
    if (first->request != gap.request) return true;
  return false;
}

}  // namespace

std::optional<PrefillStalls> prefill_stalls(std::span<const trace::LlmRequestRow> requests,
                                            std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                            std::string_view load) {
  std::unordered_map<std::int64_t, std::int64_t> last;  // the last chunk of each request of the level
  std::vector<FirstToken> firsts;
  for (const auto& row : requests) {
    if (names.text(row.phase) != "measure" || names.text(row.load) != load || !row.first_token_ns) continue;
    last.emplace(row.request, 0);
    firsts.push_back({*row.first_token_ns, row.request});
  }
  std::vector<Gap> gaps;
  std::vector<double> lengths;
  for (const auto& chunk : chunks) {
    const auto before = last.find(chunk.request);
    const std::string_view kind = names.text(chunk.kind);
    if (before == last.end() || (kind != "content" && kind != "reasoning" && kind != "tool_call")) continue;
    if (before->second != 0) {
      gaps.push_back({chunk.request, before->second, chunk.time_ns});
      lengths.push_back(gaps.back().ns());
    }
    before->second = chunk.time_ns;
  }
  if (gaps.empty() || firsts.size() < 2) return std::nullopt;
  std::sort(firsts.begin(), firsts.end());
  PrefillStalls stalls;
  stalls.usual_gap_ns = stats::median(lengths);
  const double span = static_cast<double>(firsts.back().time_ns - firsts.front().time_ns);
  const double rate = span > 0 ? static_cast<double>(firsts.size() - 1) / span : 0;
  std::vector<double> slow;
  std::int64_t with = 0, others_with = 0;
  double expected = 0;
  for (const Gap& gap : gaps) {
    const bool prefill = has_prefill(gap, firsts);
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
  if (gaps.size() > slow.size())
    stalls.others_with_prefill_ratio = static_cast<double>(others_with) / static_cast<double>(gaps.size() - slow.size());
  return stalls;
}

}  // namespace aaco::analytics::llm
