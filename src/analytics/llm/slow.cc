#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analytics/llm/recorded.h"
#include "analytics/llm/token_gaps.h"
#include "analytics/llm_slow.h"
#include "core/numbers.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

struct CauseText {
  std::string_view id, text;
};
// In the order in which they are tried: what was measured as a duration before what only coincides.
constexpr std::array<CauseText, 9> kCauseTexts = {{{"client", "client lag"},
                                                   {"throttled", "throttling by the server's CPU limit"},
                                                   {"cpu_wait", "wait for a CPU at the server"},
                                                   {"io_wait", "wait for storage at the server"},
                                                   {"kv_cache", "eviction from the KV cache"},
                                                   {"clock", "lowered clock"},
                                                   {"prefill", "prefill of other requests"},
                                                   {"queue", "wait in the server's queue"},
                                                   {"", "unexplained"}}};

// Causes that only coincide with slow times, where they do so more often than with the others.
struct Coincidences {
  bool kv_cache = false, clock = false, prefill = false;
};

struct Candidate {
  TokenGap wait;
  bool first_token = false;
  double usual_ns = 0;
  std::optional<std::int64_t> own_prefill_ns;  // of a first token, as the server states it
  [[nodiscard]] double excess() const { return wait.ns() - usual_ns; }
};

bool is_slow(double ns, double usual_ns) { return ns > kSlowGap * usual_ns && ns - usual_ns >= kSlowFloorNs; }

bool more_often(double with_slow, double slow, double with_others, double others) {
  if (with_slow == 0) return false;
  return others == 0 || with_slow / slow >= kCoincides * with_others / others;
}

}  // namespace

struct SlowTokens::Recorded : RecordedBeside {
  using RecordedBeside::RecordedBeside;

  [[nodiscard]] Coincidences coincidences(const TokenTimes& times, double usual_ns) const {
    double slow = 0, others = 0;
    std::array<double, 2> with_slow{}, with_others{};
    for (const TokenGap& gap : times.gaps) {
      const bool is = is_slow(gap.ns(), usual_ns);
      ++(is ? slow : others);
      auto& with = is ? with_slow : with_others;
      if (evictions.any(gap.from_ns, gap.to_ns)) ++with[0];
      if (low_clock.any(gap.from_ns, gap.to_ns)) ++with[1];
    }
    return {more_often(with_slow[0], slow, with_others[0], others), more_often(with_slow[1], slow, with_others[1], others),
            false};
  }

  // What covers the time above the usual one, and how much of it.
  [[nodiscard]] std::pair<std::string_view, double> explain(const Candidate& slow, const Coincidences& coincide,
                                                            const std::vector<FirstToken>& firsts) const {
    const double needed = kExplains * slow.excess();
    const std::int64_t from = slow.wait.from_ns, to = slow.wait.to_ns;
    if (const double late = client_late.largest(to, to + kClientWindowNs); late >= needed) return {"client", late};
    if (2 * clock_error_ns <= to - from) {
      if (const double ns = throttled.covered(from, to); ns >= needed) return {"throttled", ns};
      if (const double ns = cpu_wait.covered(from, to); ns >= needed) return {"cpu_wait", ns};
      if (const double ns = io_wait.covered(from, to); ns >= needed) return {"io_wait", ns};
      if (coincide.clock && low_clock.any(from, to)) return {"clock", slow.excess()};
    }
    if (!slow.first_token && coincide.kv_cache && evictions.any(from, to)) return {"kv_cache", slow.excess()};
    if (!slow.first_token && coincide.prefill && has_prefill(slow.wait, firsts)) return {"prefill", slow.excess()};
    if (!slow.first_token) return {};
    // What the server did not spend on this prompt, it spent before it began.
    if (slow.own_prefill_ns) {
      const double before = slow.wait.ns() - static_cast<double>(*slow.own_prefill_ns);
      if (before >= needed && !never_queued) return {"queue", std::min(before, slow.excess())};
      return {};
    }
    if (const double ns = queued.covered(from, to); ns >= needed) return {"queue", ns};
    return {};
  }
};

SlowTokens::SlowTokens(const BesideLoad& beside, const trace::NameTable& names)
    : recorded_(std::make_unique<Recorded>(beside, names)) {}
SlowTokens::~SlowTokens() = default;

SlowTimes SlowTokens::find(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                           const trace::NameTable& names, std::string_view load,
                           const std::optional<double>& usual_first_token_ns) const {
  const TokenTimes times = token_times(requests, chunks, names, load);
  SlowTimes found;
  std::vector<Candidate> firsts, slow;
  std::vector<double> lengths;
  for (const auto& row : requests) {
    if (names.text(row.phase) != "measure" || names.text(row.load) != load || !row.first_token_ns || !row.sent_ns) continue;
    firsts.push_back({{row.request, *row.sent_ns, *row.first_token_ns}, true, 0, row.server_prompt_ns});
    lengths.push_back(firsts.back().wait.ns());
  }
  if (firsts.empty()) return found;
  found.first_tokens = static_cast<std::int64_t>(firsts.size());
  found.gaps = static_cast<std::int64_t>(times.gaps.size());
  found.usual_first_token_ns = usual_first_token_ns ? *usual_first_token_ns : stats::median(lengths);
  found.usual_gap_ns = usual_gap_ns(times.gaps);
  for (Candidate& first : firsts) {
    first.usual_ns = found.usual_first_token_ns;
    if (is_slow(first.wait.ns(), first.usual_ns)) slow.push_back(first);
  }
  found.slow_first_tokens = static_cast<std::int64_t>(slow.size());
  for (const TokenGap& gap : times.gaps)
    if (is_slow(gap.ns(), found.usual_gap_ns)) slow.push_back({gap, false, found.usual_gap_ns, {}});
  found.slow_gaps = static_cast<std::int64_t>(slow.size()) - found.slow_first_tokens;
  Coincidences coincide = recorded_->coincidences(times, found.usual_gap_ns);
  if (const auto stalls = prefill_stalls(requests, chunks, names, load)) coincide.prefill = stalls_tokens(*stalls);
  std::stable_sort(slow.begin(), slow.end(), [](const auto& a, const auto& b) { return a.excess() > b.excess(); });
  for (const Candidate& one : slow) {
    const auto [cause, explained] = recorded_->explain(one, coincide, times.firsts);
    ++found.causes[cause];
    if (found.longest.size() < kMaxSlowTimes)
      found.longest.push_back(
          {one.wait.request, one.first_token, one.wait.from_ns, one.wait.to_ns, one.usual_ns, cause, explained});
  }
  return found;
}

std::string_view text_of_cause(std::string_view id) {
  for (const CauseText& cause : kCauseTexts)
    if (cause.id == id) return cause.text;
  return id;
}

core::Json to_json(const SlowTimes& times) {
  core::Json causes = core::Json::object(), longest = core::Json::array();
  for (const auto& [id, count] : times.causes) causes.set(id.empty() ? "unexplained" : std::string(id), count);
  for (const SlowTime& one : times.longest) {
    core::Json item = core::Json::object({{"request", one.request},
                                          {"kind", one.first_token ? "first_token" : "gap"},
                                          {"from_ns", one.from_ns},
                                          {"duration_ns", one.to_ns - one.from_ns},
                                          {"usual_ns", one.usual_ns}});
    if (!one.cause.empty()) item.set("cause", std::string(one.cause)).set("explained_ns", one.explained_ns);
    longest.push(std::move(item));
  }
  return core::Json::object({{"first_tokens", times.first_tokens},
                             {"slow_first_tokens", times.slow_first_tokens},
                             {"usual_first_token_ns", times.usual_first_token_ns},
                             {"gaps", times.gaps},
                             {"slow_gaps", times.slow_gaps},
                             {"usual_gap_ns", times.usual_gap_ns},
                             {"causes", std::move(causes)},
                             {"longest", std::move(longest)}});
}

std::string sentence_of(const SlowTimes& times) {
  if (times.slow_first_tokens + times.slow_gaps == 0) return {};
  std::string text =
      fmt::format("{} of {} first tokens and {} of {} gaps between tokens were more than {} times the usual ({} and {})",
                  core::format_count(static_cast<double>(times.slow_first_tokens)),
                  core::format_count(static_cast<double>(times.first_tokens)),
                  core::format_count(static_cast<double>(times.slow_gaps)), core::format_count(static_cast<double>(times.gaps)),
                  kSlowGap, core::format_duration(times.usual_first_token_ns), core::format_duration(times.usual_gap_ns));
  std::vector<std::pair<std::int64_t, std::string_view>> causes;
  for (const auto& [id, count] : times.causes) causes.emplace_back(count, id);
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < causes.size(); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? ": " : ", ", text_of_cause(causes[i].second), causes[i].first);
  return text;
}

}  // namespace aaco::analytics::llm
