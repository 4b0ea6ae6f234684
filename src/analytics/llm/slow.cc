#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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
constexpr double kSameTime = 0.15;   // of a pause, by which a sleep may begin earlier or end later
constexpr double kLongPrompt = 1.5;  // times the median

// In the order in which they are tried: what was measured as a duration before what only coincides.
constexpr std::array<CauseText, 11> kCauseTexts = {{{"client", "client lag"},
                                                    {"throttled", "throttling by the server's CPU limit"},
                                                    {"cpu_wait", "wait for a CPU at the server"},
                                                    {"io_wait", "wait for storage at the server"},
                                                    {"kv_cache", "eviction from the KV cache"},
                                                    {"clock", "lowered clock"},
                                                    {"prefill", "prefill of other requests"},
                                                    {"pause", "pause of the whole server"},
                                                    {"queue", "wait in the server's queue"},
                                                    {"machine", "client and server late at once"},
                                                    {"", "unexplained"}}};

// Causes that only coincide with slow times, where they do so more often than with the others.
struct Coincidences {
  bool kv_cache = false, clock = false, prefill = false;
};

// What the level itself shows beside a slow time.
struct Beside {
  const TokenTimes& times;
  double usual_gap_ns = 0;
  Coincidences coincide;
  Windows paused;
  std::vector<std::int64_t> chunks_ns;  // ends of all gaps, ascending

  // While the time passed, the server wrote tokens of other requests at least as fast as for one of them.
  [[nodiscard]] bool others_went_on(std::int64_t from, std::int64_t to) const {
    const auto begin = std::upper_bound(chunks_ns.begin(), chunks_ns.end(), from);
    const auto end = std::lower_bound(begin, chunks_ns.end(), to);
    return usual_gap_ns > 0 && static_cast<double>(end - begin) * usual_gap_ns >= kExplains * static_cast<double>(to - from);
  }
};

struct Candidate {
  TokenGap wait;
  bool first_token = false;
  double usual_ns = 0;
  std::optional<std::int64_t> own_prefill_ns;  // of a first token, as the server states it
  double prompt_tokens = 0;                    // of a first token
  bool long_prompt = false;                    // longer than others
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

  // By how much the client read the end of the wait late. Of bytes that were read together the kernel tells the arrival of the
  // last: then the loop was late for the others, by at most the tokens that came with it.
  [[nodiscard]] double read_late(const TokenGap& wait, double usual_gap) const {
    const double lag = client_lag.largest(wait.to_ns, wait.to_ns + 1);
    if (!wait.read_lag_ns) return lag;
    const double waited = *wait.read_lag_ns;
    if (wait.read_with == 0) return waited;
    return std::max(waited, std::min(lag, waited + static_cast<double>(wait.read_with) * usual_gap));
  }

  // What covers the time above the usual one, and how much of it.
  [[nodiscard]] std::pair<std::string_view, double> explain(const Candidate& slow, const Beside& beside) const {
    const double needed = kExplains * slow.excess();
    const std::int64_t from = slow.wait.from_ns, to = slow.wait.to_ns;
    if (const double late = read_late(slow.wait, beside.usual_gap_ns); late >= needed) return {"client", late};
    if (2 * clock_error_ns <= to - from) {
      if (const double ns = throttled.covered(from, to); ns >= needed) return {"throttled", ns};
      if (const double ns = cpu_wait.covered(from, to); ns >= needed) return {"cpu_wait", ns};
      if (const double ns = io_wait.covered(from, to); ns >= needed) return {"io_wait", ns};
      if (beside.coincide.clock && low_clock.any(from, to)) return {"clock", slow.excess()};
    }
    if (!slow.first_token && beside.coincide.kv_cache && evictions.any(from, to)) return {"kv_cache", slow.excess()};
    if (const double ns = beside.paused.covered(from, to); ns >= needed) return {"pause", ns};
    if (!slow.first_token && beside.coincide.prefill && has_prefill(slow.wait, beside.times)) return {"prefill", slow.excess()};
    if (slow.first_token)
      if (const double ns = queue_of(slow, beside); ns >= needed) return {"queue", std::min(ns, slow.excess())};
    // Both stood still, and the bytes came in time: the machine did, or each for itself.
    if (const double lag = client_lag.largest(from, to + 1); lag >= needed) return {"machine", lag};
    return {};
  }

  // How long a first token waited before its prompt was computed.
  [[nodiscard]] double queue_of(const Candidate& slow, const Beside& beside) const {
    const std::int64_t from = slow.wait.from_ns, to = slow.wait.to_ns;
    // What the server did not spend on this prompt, it spent before it began.
    if (slow.own_prefill_ns) return never_queued ? 0 : slow.wait.ns() - static_cast<double>(*slow.own_prefill_ns);
    if (const double ns = queued.covered(from, to); ns > 0) return ns;
    if (never_queued || slow.long_prompt) return 0;
    const double waited = slow.wait.ns() - beside.times.own_prefill_ns;
    return waited > 0 && beside.others_went_on(from, from + static_cast<std::int64_t>(waited)) ? waited : 0;
  }

  // "; in 3 of them a thread of the server slept in clock_nanosleep, 300 ms each".
  [[nodiscard]] std::string slept(std::span<const Pause> pauses) const {
    std::map<std::string_view, std::vector<double>> calls;
    for (const Pause& pause : pauses) {
      const auto slack = static_cast<std::int64_t>(kSameTime * static_cast<double>(pause.to_ns - pause.from_ns));
      auto one = std::lower_bound(sleeps.begin(), sleeps.end(), pause.from_ns - slack,
                                  [](const ServerSleep& sleep, std::int64_t time) { return sleep.from_ns < time; });
      const ServerSleep* longest = nullptr;
      for (; one != sleeps.end() && one->from_ns < pause.to_ns; ++one)
        if (one->to_ns <= pause.to_ns + slack &&
            (longest == nullptr || one->to_ns - one->from_ns > longest->to_ns - longest->from_ns))
          longest = &*one;
      if (longest != nullptr && static_cast<double>(longest->to_ns - longest->from_ns) >= kExplains * pause.lost_ns)
        calls[longest->call].push_back(static_cast<double>(longest->to_ns - longest->from_ns));
    }
    std::string text;
    for (const auto& [call, lengths] : calls)
      text += fmt::format("; in {} of them a thread of the server slept{}{} for about {}", lengths.size(),
                          call.empty() ? "" : " in ", call, core::format_duration(stats::median(lengths)));
    return text;
  }
};

SlowTokens::SlowTokens(const BesideLoad& beside, const trace::NameTable& names)
    : recorded_(std::make_unique<Recorded>(beside, names)) {}
SlowTokens::~SlowTokens() = default;

SlowTimes SlowTokens::find(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                           const trace::NameTable& names, std::string_view load) const {
  TokenTimes times = token_times(requests, chunks, names, load);
  for (TokenGap& gap : times.gaps) gap.read_lag_ns = recorded_->read_lag_ns(gap.to_ns);
  for (auto& [request, first] : times.firsts) first.read_lag_ns = recorded_->read_lag_ns(first.to_ns);
  SlowTimes found;
  std::vector<Candidate> firsts, slow;
  std::vector<double> lengths, prompts;
  for (const auto& row : requests) {
    const auto first = times.firsts.find(row.request);
    if (names.text(row.phase) != "measure" || names.text(row.load) != load || first == times.firsts.end()) continue;
    firsts.push_back({first->second, true, 0, row.server_prompt_ns, static_cast<double>(row.prompt_tokens_asked)});
    lengths.push_back(first->second.ns());
    prompts.push_back(static_cast<double>(row.prompt_tokens_asked));
  }
  if (firsts.empty()) return found;
  found.first_tokens = static_cast<std::int64_t>(firsts.size());
  found.gaps = static_cast<std::int64_t>(times.gaps.size());
  found.usual_first_token_ns = stats::median(lengths);
  found.usual_gap_ns = usual_gap_ns(times.gaps);
  const double usual_prompt = stats::median(prompts);
  for (Candidate& first : firsts) {
    first.usual_ns = found.usual_first_token_ns;
    first.long_prompt = first.prompt_tokens > kLongPrompt * usual_prompt;
    if (is_slow(first.wait.ns(), first.usual_ns)) slow.push_back(first);
  }
  found.slow_first_tokens = static_cast<std::int64_t>(slow.size());
  for (const TokenGap& gap : times.gaps)
    if (is_slow(gap.ns(), found.usual_gap_ns)) slow.push_back({gap, false, found.usual_gap_ns, {}, 0});
  found.slow_gaps = static_cast<std::int64_t>(slow.size()) - found.slow_first_tokens;
  Beside beside{times, found.usual_gap_ns, recorded_->coincidences(times, found.usual_gap_ns), {}, {}};
  const auto stalls = prefill_stalls(requests, chunks, names, load);
  beside.coincide.prefill = stalls && stalls_tokens(*stalls);
  const auto pauses = pauses_of(times, requests, names, load, beside.coincide.prefill);
  for (const Pause& pause : pauses) beside.paused.add(pause.from_ns, pause.to_ns, 1);
  beside.paused.unite();
  for (const TokenGap& gap : times.gaps) beside.chunks_ns.push_back(gap.to_ns);
  std::sort(beside.chunks_ns.begin(), beside.chunks_ns.end());
  std::stable_sort(slow.begin(), slow.end(), [](const auto& a, const auto& b) { return a.excess() > b.excess(); });
  for (const Candidate& one : slow) {
    const auto [cause, explained] = recorded_->explain(one, beside);
    ++found.causes[cause];
    if (found.longest.size() < kMaxSlowTimes)
      found.longest.push_back(
          {one.wait.request, one.first_token, one.wait.from_ns, one.wait.to_ns, one.usual_ns, cause, explained});
  }
  // Where the server waited for a CPU or for storage within its pauses, these are told as that.
  if (const auto own = found.causes.find("pause"); own != found.causes.end()) {
    found.pauses = static_cast<std::int64_t>(pauses.size());
    found.paused = sentence_of(pauses) + recorded_->slept(pauses);
    found.paused_share = static_cast<double>(own->second) / static_cast<double>(found.first_tokens);
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
  core::Json out = core::Json::object({{"first_tokens", times.first_tokens},
                                       {"slow_first_tokens", times.slow_first_tokens},
                                       {"usual_first_token_ns", times.usual_first_token_ns},
                                       {"gaps", times.gaps},
                                       {"slow_gaps", times.slow_gaps},
                                       {"usual_gap_ns", times.usual_gap_ns},
                                       {"causes", std::move(causes)},
                                       {"longest", std::move(longest)}});
  if (times.pauses > 0) out.set("pauses", times.pauses).set("paused", times.paused);
  return out;
}

std::string sentence_of(const SlowTimes& times) {
  if (times.slow_first_tokens + times.slow_gaps == 0) return {};
  std::string text = fmt::format(
      "{} of {} first tokens and {} of {} gaps between chunks were more than {} times the usual of this level ({} and {})",
      core::format_count(static_cast<double>(times.slow_first_tokens)),
      core::format_count(static_cast<double>(times.first_tokens)), core::format_count(static_cast<double>(times.slow_gaps)),
      core::format_count(static_cast<double>(times.gaps)), kSlowGap, core::format_duration(times.usual_first_token_ns),
      core::format_duration(times.usual_gap_ns));
  std::vector<std::pair<std::int64_t, std::string_view>> causes;
  for (const auto& [id, count] : times.causes) causes.emplace_back(count, id);
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < causes.size(); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? ": " : ", ", text_of_cause(causes[i].second), causes[i].first);
  return text;
}

}  // namespace aaco::analytics::llm
