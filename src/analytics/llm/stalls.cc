#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analytics/llm.h"
#include "analytics/llm/token_gaps.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

// The step that computes a prompt writes its first token and the next token of the others within the same moment.
constexpr double kSameStep = 0.1;        // of the gap
constexpr double kOverlap = 0.5;         // of the prefill, from which it is in a gap that it does not end
constexpr double kStretched = 1.5;       // times the usual gap
constexpr double kStretchedShare = 0.3;  // of the first tokens that end a step
constexpr double kWholePrefill = 0.7;    // of its time, from which a gap is as long as a prefill

using Requests = std::span<const trace::LlmRequestRow>;

bool counts(const trace::LlmRequestRow& row, const trace::NameTable& names, std::string_view load) {
  return names.text(row.phase) == "measure" && names.text(row.load) == load && row.first_token_ns;
}

// The shortest time from a send to the first token among the prompts of at least the median length.
double own_prefill_ns(Requests requests, const trace::NameTable& names, std::string_view load) {
  std::vector<double> lengths;
  for (const auto& row : requests)
    if (counts(row, names, load) && row.sent_ns) lengths.push_back(static_cast<double>(row.prompt_tokens_asked));
  if (lengths.empty()) return 0;
  const double median = stats::median(lengths);
  double shortest = INFINITY;
  for (const auto& row : requests)
    if (counts(row, names, load) && row.sent_ns && static_cast<double>(row.prompt_tokens_asked) >= median)
      shortest = std::min(shortest, static_cast<double>(*row.first_token_ns - *row.sent_ns));
  return shortest;
}

void add_prefills(Requests requests, const trace::NameTable& names, std::string_view load, TokenTimes& times) {
  times.own_prefill_ns = own_prefill_ns(requests, names, load);
  for (const auto& row : requests) {
    if (!counts(row, names, load)) continue;
    const std::int64_t first = *row.first_token_ns;
    const std::int64_t own = row.server_prompt_ns.value_or(static_cast<std::int64_t>(times.own_prefill_ns));
    const Prefill prefill{std::max(row.sent_ns.value_or(first), first - own), first, row.request};
    times.longest_prefill_ns = std::max(times.longest_prefill_ns, prefill.to_ns - prefill.from_ns);
    times.prefills.push_back(prefill);
    if (row.sent_ns) times.firsts.emplace(row.request, TokenGap{row.request, *row.sent_ns, first});
  }
  std::sort(times.prefills.begin(), times.prefills.end(), [](const auto& a, const auto& b) { return a.to_ns < b.to_ns; });
}

void add_gaps(std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names, TokenTimes& times) {
  std::unordered_map<std::int64_t, std::int64_t> last_time;
  std::unordered_map<std::int64_t, std::size_t> last_gap;
  for (const Prefill& prefill : times.prefills) last_time.emplace(prefill.request, 0);
  for (const auto& chunk : chunks) {
    const auto before = last_time.find(chunk.request);
    if (before == last_time.end() || !is_output_kind(names.text(chunk.kind))) continue;
    const auto first = times.firsts.find(chunk.request);
    if (before->second == chunk.time_ns && last_gap.contains(chunk.request)) ++times.gaps[last_gap[chunk.request]].read_with;
    if (before->second == chunk.time_ns && !last_gap.contains(chunk.request) && first != times.firsts.end())
      ++first->second.read_with;
    if (before->second != 0) {
      if (chunk.time_ns > before->second) last_gap[chunk.request] = times.gaps.size();
      times.gaps.push_back({chunk.request, before->second, chunk.time_ns});
    }
    before->second = chunk.time_ns;
  }
}

// Of the first tokens that come with the end of another request's gap: how many of these are longer than usual. A server that
// stalls for another reason, and computes a prompt after that, ends the stall before the first token.
bool stretch_steps(const TokenTimes& times) {
  std::vector<const TokenGap*> by_end;
  for (const TokenGap& gap : times.gaps)
    if (gap.ns() > 0) by_end.push_back(&gap);
  std::sort(by_end.begin(), by_end.end(), [](const auto* a, const auto* b) { return a->to_ns < b->to_ns; });
  const double usual = usual_gap_ns(times.gaps);
  double ends = 0, stretched = 0;
  for (const Prefill& prefill : times.prefills) {
    const auto slack = static_cast<std::int64_t>(kSameStep * std::max(usual, times.own_prefill_ns));
    const auto at = std::lower_bound(by_end.begin(), by_end.end(), prefill.to_ns - slack,
                                     [](const auto* gap, std::int64_t time) { return gap->to_ns < time; });
    double longest = 0;
    for (auto gap = at; gap != by_end.end() && (*gap)->to_ns <= prefill.to_ns + slack; ++gap)
      if ((*gap)->request != prefill.request && std::abs((*gap)->to_ns - prefill.to_ns) <= kSameStep * (*gap)->ns())
        longest = std::max(longest, (*gap)->ns());
    ends += longest > 0 ? 1 : 0;
    stretched += longest > kStretched * usual ? 1 : 0;
  }
  return ends > 0 && stretched >= kStretchedShare * ends;
}

// Of the time between the first and the last first token, the share in which a prompt is computed.
double prefill_share(const TokenTimes& times, double span) {
  std::vector<Prefill> by_start(times.prefills.begin(), times.prefills.end());
  std::sort(by_start.begin(), by_start.end(), [](const auto& a, const auto& b) { return a.from_ns < b.from_ns; });
  std::int64_t covered = 0, until = INT64_MIN;
  for (const Prefill& one : by_start) {
    covered += std::max<std::int64_t>(0, one.to_ns - std::max(until, one.from_ns));
    until = std::max(until, one.to_ns);
  }
  return span > 0 ? std::min(1.0, static_cast<double>(covered) / span) : 0;
}

}  // namespace

bool has_prefill(const TokenGap& gap, const TokenTimes& times) {
  const auto end = gap.to_ns + static_cast<std::int64_t>(kSameStep * gap.ns());
  auto one = std::lower_bound(times.prefills.begin(), times.prefills.end(), gap.from_ns + 1,
                              [](const Prefill& prefill, std::int64_t time) { return prefill.to_ns < time; });
  for (; one != times.prefills.end() && one->to_ns <= gap.to_ns + times.longest_prefill_ns + (end - gap.to_ns); ++one) {
    if (one->request == gap.request) continue;
    if (one->to_ns <= end) return true;
    const double overlap = static_cast<double>(gap.to_ns - std::max(gap.from_ns, one->from_ns));
    if (overlap >= kOverlap * std::min(gap.ns(), static_cast<double>(one->to_ns - one->from_ns))) return true;
  }
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
  TokenTimes times;
  add_prefills(requests, names, load, times);
  add_gaps(chunks, names, times);
  times.prefills_stretch_steps = stretch_steps(times);
  return times;
}

std::optional<PrefillStalls> prefill_stalls(std::span<const trace::LlmRequestRow> requests,
                                            std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                            std::string_view load) {
  const TokenTimes times = token_times(requests, chunks, names, load);
  if (times.gaps.empty() || times.prefills.size() < 2) return std::nullopt;
  PrefillStalls stalls;
  stalls.usual_gap_ns = usual_gap_ns(times.gaps);
  const double span = static_cast<double>(times.prefills.back().to_ns - times.prefills.front().to_ns);
  const double rate = span > 0 ? static_cast<double>(times.prefills.size() - 1) / span : 0;
  const double busy = prefill_share(times, span);
  std::vector<double> slow;
  std::int64_t with = 0, others_with = 0;
  double expected = 0;
  for (const TokenGap& gap : times.gaps) {
    const bool prefill = has_prefill(gap, times);
    if (gap.ns() <= kSlowGap * stalls.usual_gap_ns) {
      others_with += prefill ? 1 : 0;
      continue;
    }
    slow.push_back(gap.ns());
    with += prefill ? 1 : 0;
    expected += 1 - (1 - busy) * std::exp(-rate * gap.ns() * (1 + kSameStep));
  }
  if (slow.empty()) return std::nullopt;
  stalls.slow_gaps = static_cast<std::int64_t>(slow.size());
  stalls.slow_gap_ns = stats::median(slow);
  stalls.with_prefill = with;
  stalls.with_prefill_ratio = static_cast<double>(with) / static_cast<double>(slow.size());
  stalls.expected_ratio = expected / static_cast<double>(slow.size());
  stalls.stretched = times.prefills_stretch_steps;
  stalls.whole_prefill = stalls.slow_gap_ns >= kWholePrefill * times.own_prefill_ns;
  if (times.gaps.size() > slow.size())
    stalls.others_with_prefill_ratio = static_cast<double>(others_with) / static_cast<double>(times.gaps.size() - slow.size());
  return stalls;
}

bool stalls_tokens(const PrefillStalls& stalls) {
  // Where prompts are computed most of the time, chance alone gives a high share: then hardly a slow gap may be without one.
  const double beyond_chance = std::min(kStalledMore * stalls.expected_ratio, (1 + stalls.expected_ratio) / 2);
  const double others = stalls.others_with_prefill_ratio;
  const bool more_than_others =
      stalls.with_prefill_ratio >= kStalledOthers * others || kStalledOthers * (1 - stalls.with_prefill_ratio) <= 1 - others;
  return stalls.slow_gaps >= kFewestSlowGaps && stalls.stretched && stalls.with_prefill_ratio >= kStalledShare &&
         stalls.with_prefill_ratio >= beyond_chance && more_than_others;
}

}  // namespace aaco::analytics::llm
