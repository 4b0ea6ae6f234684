#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analytics/llm.h"
#include "analytics/llm/drift.h"
#include "analytics/llm/rates.h"
#include "stats/robust.h"

namespace aaco::analytics::llm {
namespace {

constexpr double kSteadyShare = 1.0 / 3;
constexpr std::size_t kMaxGapValues = 10'000;  // of Load::gap_values

double span(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from); }

// What the chunks of a level say, by request.
struct Gaps {
  std::vector<double> between_chunks, between_tokens;
  std::unordered_map<std::int64_t, double> longest;  // by request, of a token's share where that is known
  std::unordered_set<std::int64_t> several;          // requests with chunks of several tokens, or of an unknown number
  std::int64_t tokens = 0, chunks = 0;
  bool tokens_known = true;
};

Gaps gaps_of(const std::unordered_map<std::int64_t, const trace::LlmRequestRow*>& complete,
             std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names) {
  Gaps gaps;
  std::unordered_map<std::int64_t, std::int64_t> last, counted;  // counted: chunks with a count of their tokens
  for (const trace::LlmChunkRow& chunk : chunks)
    if (chunk.tokens && is_output_kind(names.text(chunk.kind))) ++counted[chunk.request];
  for (const trace::LlmChunkRow& chunk : chunks) {
    const auto request = complete.find(chunk.request);
    if (request == complete.end() || !is_output_kind(names.text(chunk.kind))) continue;
    const auto& row = *request->second;
    const bool one_each = row.output_tokens && *row.output_tokens == row.content_chunks;
    // A count in some chunks only includes the tokens of those before it.
    const bool each_counted = chunk.tokens && counted[chunk.request] == row.content_chunks;
    std::int64_t tokens = each_counted ? *chunk.tokens : one_each ? 1 : 0;
    if (tokens > row.output_tokens.value_or(0)) tokens = 0;  // a count that is not believed
    gaps.tokens_known = gaps.tokens_known && tokens > 0;
    const auto [before, first] = last.try_emplace(chunk.request, chunk.time_ns);
    if (!first) {
      const double gap = span(before->second, chunk.time_ns);
      before->second = chunk.time_ns;
      gaps.between_chunks.push_back(gap);
      double& longest = gaps.longest[chunk.request];
      longest = std::max(longest, gap / static_cast<double>(std::max<std::int64_t>(1, tokens)));
      if (tokens == 0 && row.output_tokens) gaps.several.insert(chunk.request);
      for (std::int64_t i = 0; i < tokens; ++i) gaps.between_tokens.push_back(gap / static_cast<double>(tokens));
    }
  }
  return gaps;
}

// At most kMaxGapValues of them at equal steps, ascending.
std::vector<double> some_of(std::span<const double> values) {
  const std::size_t step = values.size() / kMaxGapValues + 1;
  std::vector<double> some;
  for (std::size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
  std::sort(some.begin(), some.end());
  return some;
}

enum class Kept { no, yes, unknown };

// A time of a response with several tokens.
struct TokenTime {
  std::optional<double> value;
  bool none = false;  // a response of one token has none, and keeps every limit on it
};

Kept kept(const TokenTime& time, const std::optional<std::int64_t>& limit) {
  if (!limit || time.none) return Kept::yes;
  if (!time.value) return Kept::unknown;
  return *time.value <= static_cast<double>(*limit) ? Kept::yes : Kept::no;
}

// Adds a complete request to the unknown, the judged and the good ones of the load.
void judge(const trace::LlmRequestRow& row, const RequestTimes& times, const Gaps& gaps, const Slo& slo, Load& load) {
  const bool one_token = row.output_tokens == 1, without_output = row.content_chunks == 0;
  TokenTime tpot{times.tpot_ns, one_token}, itl{{}, one_token};
  const auto longest = gaps.longest.find(row.request);
  if (longest != gaps.longest.end() && row.first_token_ns != row.last_token_ns) itl.value = longest->second;
  // A gap between chunks of several tokens bounds the gap between two of them from above only.
  if (itl.value && gaps.several.contains(row.request) && slo.itl_ns && *itl.value > static_cast<double>(*slo.itl_ns))
    itl.value.reset();
  load.tpot_unknown += !tpot.value && !one_token && !without_output ? 1 : 0;
  load.itl_unknown += !itl.value && !one_token && !without_output ? 1 : 0;
  if (slo.empty()) return;
  const auto within = [](const std::optional<double>& value, const std::optional<std::int64_t>& limit) {
    return !limit || (value && *value <= static_cast<double>(*limit));
  };
  const bool misses_tokens = without_output && (slo.tpot_ns || slo.itl_ns);
  const Kept by_tpot = kept(tpot, slo.tpot_ns), by_itl = kept(itl, slo.itl_ns);
  if (!without_output && (by_tpot == Kept::unknown || by_itl == Kept::unknown)) return;
  ++load.judged;
  load.good += !misses_tokens && within(times.ttft_ns, slo.ttft_ns) && within(times.e2el_ns, slo.e2el_ns) &&
                       by_tpot == Kept::yes && by_itl == Kept::yes
                   ? 1
                   : 0;
}

void add_shares(Load& load) {
  if (2 * load.judged < load.complete) return;
  const Rates& rates = rates_that_count(load);
  load.goodput_per_second =
      rates.requests_per_second * static_cast<double>(load.good) / static_cast<double>(std::max<std::int64_t>(1, load.judged));
  load.judged += load.requests - load.complete;
  load.good_ratio = static_cast<double>(load.good) / static_cast<double>(std::max<std::int64_t>(1, load.judged));
}

void add_steady(Load& load, const Flow& flow, Window whole, Window steady) {
  if (steady.to <= steady.from || steady.seconds() < kSteadyShare * whole.seconds()) return;
  load.steady_s = steady.seconds();
  load.steady = flow.over(steady);
}

struct Series {
  std::vector<double> ttft, ttft_sent, e2el, e2el_sent, tpot, queue;
  void add(const RequestTimes& times) {
    const auto keep = [](std::vector<double>& to, const std::optional<double>& value) {
      if (value) to.push_back(*value);
    };
    keep(ttft, times.ttft_ns);
    keep(ttft_sent, times.ttft_sent_ns);
    keep(e2el, times.e2el_ns);
    keep(e2el_sent, times.e2el_sent_ns);
    keep(tpot, times.tpot_ns);
    keep(queue, times.client_queue_ns);
  }
};

}  // namespace

bool is_output_kind(std::string_view kind) { return kind == "content" || kind == "reasoning" || kind == "tool_call"; }

bool is_buffered(const Load& load) {
  return load.at_once >= kFewestBuffered &&
         static_cast<double>(load.at_once) >= kBuffered * static_cast<double>(load.several_chunks);
}

RequestTimes times_of(const trace::LlmRequestRow& row) {
  RequestTimes times;
  // Before the last send of a request that was sent again lie the failed attempts: not the client's queue.
  if (row.sent_ns && row.retries == 0 && row.reconnects == 0) times.client_queue_ns = span(row.scheduled_ns, *row.sent_ns);
  if (row.first_token_ns) {
    times.ttft_ns = span(row.scheduled_ns, *row.first_token_ns);
    if (row.sent_ns) times.ttft_sent_ns = span(*row.sent_ns, *row.first_token_ns);
  }
  times.e2el_ns = span(row.scheduled_ns, row.end_ns);
  if (row.sent_ns) times.e2el_sent_ns = span(*row.sent_ns, row.end_ns);
  if (row.first_token_ns && row.last_token_ns && *row.last_token_ns > *row.first_token_ns && row.output_tokens.value_or(0) > 1 &&
      row.content_chunks > 1)
    times.tpot_ns = span(*row.first_token_ns, *row.last_token_ns) / static_cast<double>(*row.output_tokens - 1);
  return times;
}

Load measure_load(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                  const trace::NameTable& names, const Slo& slo, std::int64_t ramp_ns) {
  Load load;
  if (requests.empty()) return load;
  load.name = names.text(requests.front().load);
  load.requests = static_cast<std::int64_t>(requests.size());
  std::unordered_map<std::int64_t, const trace::LlmRequestRow*> complete;
  Window whole{requests.front().scheduled_ns, requests.front().end_ns};
  std::int64_t first_end = INT64_MAX, last_due = INT64_MIN, tokens = 0, token_chunks = 0;
  double open_ns = 0;
  std::vector<double> cancelled_after;
  std::int64_t all_chunks = 0, asked = 0;
  for (const auto& row : requests) {
    whole = {std::min(whole.from, row.scheduled_ns), std::max(whole.to, row.end_ns)};
    last_due = std::max(last_due, row.scheduled_ns);
    open_ns += span(row.scheduled_ns, row.end_ns);
    all_chunks += row.content_chunks;
    asked += row.output_tokens_asked;
    load.retries += row.retries;
    load.reconnects += row.reconnects;
    const std::string outcome(names.text(row.outcome));
    if (outcome == "cancelled") {
      ++load.cancelled;
      if (row.sent_ns) cancelled_after.push_back(span(*row.sent_ns, row.end_ns));
      continue;
    }
    if (outcome != "ok") {
      ++load.failures[outcome];
      load.examples.try_emplace(outcome, names.text(row.detail));
      continue;
    }
    first_end = std::min(first_end, row.end_ns);
    complete.emplace(row.request, &row);
    load.without_output += row.content_chunks == 0 ? 1 : 0;
    load.tokens_unknown += row.output_tokens ? 0 : 1;
    const bool several = row.content_chunks > 1 && row.first_token_ns;
    load.several_chunks += several ? 1 : 0;
    load.at_once += several && row.first_token_ns == row.last_token_ns ? 1 : 0;
    tokens += row.output_tokens.value_or(0);
    token_chunks += row.output_tokens ? row.content_chunks : 0;
    if (row.detail.value == 0) continue;
    if (row.output_tokens && names.text(row.token_source) == "usage")
      ++load.reasoning_unsent;
    else if (++load.usage_rejected == 1)
      load.usage_example = names.text(row.detail);
  }
  load.complete = static_cast<std::int64_t>(complete.size());
  if (!cancelled_after.empty()) load.cancelled_after_ns = stats::median(cancelled_after);
  load.requests -= load.cancelled;
  load.availability_ratio = static_cast<double>(load.complete) / static_cast<double>(std::max<std::int64_t>(1, load.requests));
  if (token_chunks > 0) load.tokens_per_chunk = static_cast<double>(tokens) / static_cast<double>(token_chunks);
  const Gaps gaps = gaps_of(complete, chunks, names);
  Series series;
  for (const auto& row : requests) {
    if (names.text(row.outcome) != "ok") continue;
    RequestTimes times = times_of(row);
    judge(row, times, gaps, slo, load);
    if (is_buffered(load)) times.tpot_ns.reset();
    series.add(times);
    if (times.client_queue_ns)
      load.sends.push_back({row.scheduled_ns,
                            std::max(0.0, *times.client_queue_ns - static_cast<double>(row.connect_ns.value_or(0))),
                            times.ttft_ns, *times.e2el_ns});
    if (times.ttft_ns && row.connect_ns)
      load.opened.push_back({*times.ttft_ns, static_cast<double>(*row.connect_ns),
                             row.tls_ns ? std::optional(static_cast<double>(*row.tls_ns)) : std::nullopt});
    else if (times.ttft_ns)
      load.ttft_of_open_connections.push_back(*times.ttft_ns);
  }
  load.drifts = drifts_of(requests, names);
  load.backlog = backlog_of(requests, names);
  if (!is_buffered(load)) load.groups = groups_of(requests, names);
  load.ttft = stats::summarize(series.ttft);
  load.ttft_values = series.ttft;
  std::sort(load.ttft_values.begin(), load.ttft_values.end());
  load.ttft_sent = stats::summarize(series.ttft_sent);
  load.e2el = stats::summarize(series.e2el);
  load.e2el_sent = stats::summarize(series.e2el_sent);
  load.tpot = stats::summarize(series.tpot);
  load.client_queue = stats::summarize(series.queue);
  load.inter_chunk = stats::summarize(gaps.between_chunks);
  load.gap_values = some_of(gaps.between_chunks);
  load.itl_known = gaps.tokens_known && !gaps.between_tokens.empty() && !is_buffered(load);
  if (load.itl_known) load.itl = stats::summarize(gaps.between_tokens);
  load.duration_s = whole.seconds();
  const Flow flow(requests, chunks, names, load.tokens_unknown == 0, load.tokens_per_chunk);
  load.rates = flow.over(whole);
  const std::int64_t ramp_end = ramp_ns > 0 ? whole.from + ramp_ns : whole.from;
  for (const auto& row : requests) load.in_ramp += row.scheduled_ns < ramp_end ? 1 : 0;
  if (load.complete > 0) add_steady(load, flow, whole, {std::max(first_end, ramp_end), last_due});
  const bool after_ramp = load.steady && load.in_ramp > 0;
  const std::int64_t due = load.requests + load.cancelled - (after_ramp ? load.in_ramp : 1),
                     due_from = after_ramp ? ramp_end : whole.from;
  if (last_due > due_from) load.offered_per_second = static_cast<double>(due) / (span(due_from, last_due) * 1e-9);
  load.chunks_per_second = static_cast<double>(all_chunks) / std::max(1e-9, load.duration_s);
  if (!load.name.starts_with("concurrency ") && load.offered_per_second > 0)
    load.offered_tokens_per_second = load.offered_per_second * static_cast<double>(asked) / static_cast<double>(requests.size());
  load.mean_open = open_ns / std::max(1.0, span(whole.from, whole.to));
  if (load.e2el.mean) load.little_open = load.rates.requests_per_second * *load.e2el.mean * 1e-9;
  if (!slo.empty()) add_shares(load);
  return load;
}

std::vector<Load> measure_loads(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                                const trace::NameTable& names, const Slo& slo, std::int64_t ramp_ns) {
  std::vector<std::vector<trace::LlmRequestRow>> levels;
  std::unordered_map<std::uint32_t, std::size_t> places;
  std::unordered_map<std::int64_t, std::size_t> level_of;
  for (const auto& row : requests) {
    if (names.text(row.phase) != "measure") continue;
    const auto [place, added] = places.try_emplace(row.load.value, levels.size());
    if (added) levels.emplace_back();
    levels[place->second].push_back(row);
    level_of.emplace(row.request, place->second);
  }
  std::vector<std::vector<trace::LlmChunkRow>> chunks_of(levels.size());
  for (const auto& chunk : chunks)
    if (const auto level = level_of.find(chunk.request); level != level_of.end()) chunks_of[level->second].push_back(chunk);
  std::vector<Load> loads;
  for (std::size_t i = 0; i < levels.size(); ++i) loads.push_back(measure_load(levels[i], chunks_of[i], names, slo, ramp_ns));
  return loads;
}

}  // namespace aaco::analytics::llm
