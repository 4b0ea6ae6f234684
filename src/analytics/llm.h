#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "stats/summary.h"
#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

// What a load on a language-model server measured, from the rows of llm_requests and llm_chunks; and whether the client itself
// was the limit.
namespace aaco::analytics::llm {

// Limits that a good request keeps, each of them.
struct Slo {
  std::optional<std::int64_t> ttft_ns, tpot_ns, itl_ns, e2el_ns;  // itl: the longest gap between two chunks
  [[nodiscard]] bool empty() const { return !ttft_ns && !tpot_ns && !itl_ns && !e2el_ns; }
  bool operator==(const Slo&) const = default;
};
// "ttft=200ms,tpot=50ms". Fails with invalid_argument.
core::Result<Slo> parse_slo(std::string_view text);
std::string to_string(const Slo& slo);

// Times of a request. "scheduled" counts from when it was due, "sent" from when it was sent.
struct RequestTimes {
  std::optional<double> ttft_ns, ttft_sent_ns;
  std::optional<double> e2el_ns, e2el_sent_ns;  // of complete answers
  // (last token - first token) / (tokens - 1); empty without a token count, for one token, for one chunk and for chunks that were
  // read in one piece.
  std::optional<double> tpot_ns;
  std::optional<double> client_queue_ns;  // sent - scheduled
};
RequestTimes times_of(const trace::LlmRequestRow& row);

// Chunks of a response's output: content, reasoning, tool_call.
bool is_output_kind(std::string_view kind);

// What flowed within a window, per second: tokens by when they arrived, of all requests, ended or not; requests by the share of
// their output that arrived in it, so that a batch that still grows counts what it computes and not only what it has completed.
struct Rates {
  double requests_per_second = 0, failures_per_second = 0;
  std::optional<double> output_tokens_per_second, prompt_tokens_per_second;
};

// One load level: a concurrency, a rate.
struct Load {
  std::string name;
  std::int64_t requests = 0, complete = 0;  // without those that the client cancelled (as planned, or as it was stopped)
  std::int64_t cancelled = 0;
  std::optional<double> cancelled_after_ns;      // from their sending, median
  std::map<std::string, std::int64_t> failures;  // by kind
  std::map<std::string, std::string> examples;   // a message of each kind
  std::int64_t without_output = 0;               // complete, and not one token
  std::int64_t several_chunks = 0, at_once = 0;  // complete with several chunks, and all of them in one read of these
  std::vector<double> ttft_values;               // ascending, ns
  // Of the complete requests with a first token: those that opened a connection, and TTFT of the others.
  struct Opened {
    double ttft_ns = 0, connect_ns = 0;  // connect: with the TLS handshake
    std::optional<double> tls_ns;
  };
  std::vector<Opened> opened;
  std::vector<double> ttft_of_open_connections;
  std::vector<double> gap_values;  // between chunks, ascending, ns; some of them, evenly over the load
  stats::Summary ttft, ttft_sent, e2el, e2el_sent, tpot, inter_chunk, client_queue;
  // The gap between two tokens. Where a chunk has several tokens (continuous usage) each has its share of the gap; where every
  // chunk has one token it is the gap between chunks; otherwise unknown.
  stats::Summary itl;
  bool itl_known = false;
  std::optional<double> tokens_per_chunk;
  std::int64_t tokens_unknown = 0;    // complete requests without a token count
  std::int64_t reasoning_unsent = 0;  // complete requests with tokens of a reasoning that was not sent, which do not count
  std::int64_t usage_rejected = 0;    // complete requests whose usage contradicts max_tokens, the content or the chunks
  std::string usage_example;          // how, of the first of them
  std::int64_t retries = 0;           // of all requests
  std::int64_t reconnects = 0;        // sent again as the server closed a kept connection before it answered
  std::vector<std::string> drifts;    // times that changed over the load, a sentence each
  std::string backlog;                // open loop: that more was due than served; empty: it was not
  std::string groups;                 // that the requests are of two groups by their TPOT; empty: they are not known to be
  // The whole load: from the first request due to the last end.
  double duration_s = 0;
  Rates rates;
  std::int64_t in_ramp = 0;  // requests that were due within the ramp
  // The steady state: from the first end and the end of the ramp to the last time that a request was due (the drain begins).
  // Empty where less than a third of the load is steady.
  std::optional<double> steady_s;
  std::optional<Rates> steady;
  double offered_per_second = 0;
  double chunks_per_second = 0;                     // content chunks of all requests over the whole load
  std::optional<double> offered_tokens_per_second;  // open loop: requests due per second times the tokens asked for
  double mean_open = 0;                             // requests open at once, averaged over time, by their own intervals
  std::optional<double> little_open;                // throughput times mean latency (Little, Operations Research 9, 1961)
  double availability_ratio = 0;                    // complete / all
  // Complete with several tokens, and TPOT or ITL is unknown (no token count, one read of all chunks, chunks that were lost).
  std::int64_t tpot_unknown = 0, itl_unknown = 0;
  // Requests that keep the SLO, of those that are judged: failures, which keep none, and complete ones of which each limited time
  // is known. The others are neither good nor bad. Where fewer than half of the complete ones are judged, there is no share.
  std::int64_t good = 0, judged = 0;
  std::optional<double> goodput_per_second, good_ratio;
  // Complete requests that were sent once, by when they were due. late_ns: from then to the send, less opening the connection.
  struct Send {
    std::int64_t due_ns = 0;
    double late_ns = 0;
    std::optional<double> ttft_ns;  // from when it was due, as e2el_ns
    double e2el_ns = 0;
  };
  std::vector<Send> sends;
};

// Of the steady state, otherwise of the whole load: what the metrics state.
inline const Rates& rates_that_count(const Load& load) { return load.steady ? *load.steady : load.rates; }

// Most answers of several chunks were read in one piece: they were held back, by the server or by something before it, until they
// were whole, or their tokens followed each other faster than reads do. No time per token is known.
bool is_buffered(const Load& load);
inline constexpr double kBuffered = 0.5;  // of the responses with several chunks: the median time per token would be 0
inline constexpr std::int64_t kFewestBuffered = 5;

// Rows of one load level, of phase measure. `ramp_ns`: within it the rate rose on purpose; the steady state begins after it, and
// the rate that was due is the one after it.
Load measure_load(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                  const trace::NameTable& names, const Slo& slo, std::int64_t ramp_ns = 0);

// The levels in the order in which they ran. Chunks belong to the level of their request.
std::vector<Load> measure_loads(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                                const trace::NameTable& names, const Slo& slo, std::int64_t ramp_ns = 0);

// The client's own state within a level.
struct OwnState {
  std::vector<double> loop_lag_ns, cpu_ratio, run_queue_ratio;
  std::vector<double> write_wait_ns, tls_record_wait_ns, tls_own_ns;  // of sockets (serving::SocketWaits)
  // Of events that the client read and parsed, until the first token and after it: every one of kLagFloorNs or longer, and the
  // longest of windows without one.
  std::vector<double> event_own_ns, gap_own_ns;
  // Lags of kStallNs or longer: each is a sample of its own, at its end.
  struct Stall {
    std::int64_t from_ns = 0, to_ns = 0;
  };
  std::vector<Stall> stalls;
};
inline constexpr std::int64_t kStallNs = 20'000'000;     // serving::OwnState::kSampleWindowNs
inline constexpr std::int64_t kStallTurnNs = 5'000'000;  // serving::OwnState::kTickNs: the client is back at work so long after
OwnState own_state(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, std::int64_t from_ns,
                   std::int64_t to_ns);

// Whether the client could have moved a result by more than its interval.
struct OwnLimit {
  bool limited = false;
  bool saturated = false;            // it had no CPU time left, or the load was above its ceiling; otherwise it was only late
  std::vector<std::string> reasons;  // a sentence each
  std::optional<double> cpu_ratio, run_queue_ratio, loop_lag_p50_ns, loop_lag_p99_ns;
  std::optional<double> event_own_max_ns;    // the longest that it read and parsed one event
  std::optional<double> vouched_per_second;  // requests per second for which the client had room; empty: it lacked a CPU
};
inline constexpr double kBusyClient = 0.9;      // share of time on or waiting for a CPU above which the loop has no room left
inline constexpr double kVouchedClient = 0.7;   // and up to which it has
inline constexpr double kStarvedClient = 0.05;  // share of time waiting for a CPU from which a client that waits longer than it
                                                // runs is starved: what its lag added to the gaps between chunks counts too
OwnLimit judge_client(const Load& load, const OwnState& state);
// "the client was the bottleneck", or that its own delay may have moved results. Of one that was limited.
std::string_view verdict_of(const OwnLimit& client);

// The server within a level: its process, where it runs on this machine and was sampled, and what it says of itself at /metrics.
struct ServerState {
  std::optional<double> cpu_cores,
      run_queue_ratio;                    // CPUs used; time its threads were runnable but not running, per time, summed
  std::optional<double> throttled_ratio;  // of the time, by the CPU limit of its control group
  std::int64_t readings = 0;              // of its metrics
  std::optional<double> running_mean, waiting_mean, waiting_max;  // requests in its batch and in its queue
  std::optional<double> queued_share;                             // of the readings in which a request waited
  std::optional<double> kv_cache_max_ratio, kv_cache_full_share;  // the latter: of the readings above kKvCacheFull
  std::optional<double> preemptions;                              // requests that lost their place in the KV cache
};
// `machine` is the rank of the rows about its process: kObservedRank where another session recorded it.
inline constexpr std::int32_t kObservedRank = 1;
ServerState server_state(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, std::int64_t from_ns,
                         std::int64_t to_ns, std::int32_t machine = 0);

// Gaps between two chunks of a request that are much longer than the usual one, and how often the server computed a prompt of
// another request within them: a prefill that held up the batch.
struct PrefillStalls {
  std::int64_t slow_gaps = 0, with_prefill = 0;
  double usual_gap_ns = 0, slow_gap_ns = 0;  // medians
  double with_prefill_ratio = 0;             // of the slow gaps
  double others_with_prefill_ratio = 0;      // of all other gaps
  double expected_ratio = 0;                 // of the slow gaps, were prefills independent of them (Poisson, by their length)
  bool stretched = true;                     // steps that end with a first token are longer than others
  bool whole_prefill = true;                 // the slow gaps are as long as the prefill of a prompt, not parts of it
};
inline constexpr double kSlowGap = 3;  // times the median
std::optional<PrefillStalls> prefill_stalls(std::span<const trace::LlmRequestRow> requests,
                                            std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                            std::string_view load);

// Prefills of other requests made tokens slow: the slow gaps have one far more often than chance and the other gaps.
bool stalls_tokens(const PrefillStalls& stalls);

// Why the server was slow, a sentence each, and only with evidence. Where the client was the bottleneck, none; where it was only
// late, what that cannot have caused: what the server says of itself, and stalls of kFarBeyondLag times the client's lag.
struct ServerCause {
  std::string id, text, remedy;  // cpu_wait, throttled, queue, kv_cache, prefill
};
std::vector<ServerCause> server_causes(const ServerState& server, const std::optional<PrefillStalls>& stalls,
                                       const OwnLimit& client);
// Beside a client that was the bottleneck: that the server waited for a CPU or was throttled too. Empty: it was not, or the
// client was not.
std::string undecided_of(const ServerState& server, const OwnLimit& client);
inline constexpr double kFarBeyondLag = 3;
inline constexpr double kServerWaits = 0.4;       // waiting for a CPU per waiting and running
inline constexpr double kServerWaitFloor = 0.15;  // and per time
inline constexpr double kServerThrottled = 0.05;
inline constexpr double kServerQueues = 0.5;        // share of readings with a queue from which it is a cause
inline constexpr double kKvCacheFull = 0.95;        // use of the KV cache
inline constexpr double kKvCacheFullShare = 0.2;    // share of readings above it
inline constexpr std::int64_t kFewestReadings = 4;  // of the server's metrics
inline constexpr std::int64_t kFewestSlowGaps = 20;
inline constexpr double kStalledShare = 0.5;  // of the slow gaps with a prefill in them
inline constexpr double kStalledMore = 1.5;   // times what chance gives
inline constexpr double kStalledOthers = 3;   // times the share among the other gaps

// The published metrics (data/metrics/serving.yaml) of a level.
trace::Metrics metrics_of(const Load& load, const OwnLimit& client);

// "holds 12.0 requests/s at TTFT P99 180 ms", for a person.
std::string sentence_of(const Load& load, const Slo& slo);
// Where not every request is judged: "40 of 40 requests whose TPOT is known within TPOT <= 30.0 ms", or that too few are for a
// share. Otherwise empty.
std::string partly_judged(const Load& load, const Slo& slo);
inline constexpr double kBehindSchedule = 0.05;  // of the rate due; a throughput less than that is told beside it

// Failures above this share: the level is none to state as what the server holds, and no knee.
inline constexpr double kFewFailures = 0.05;
inline constexpr double kSweepFailures = 0.5;  // and above this one a sweep ends
inline double failed_share(const Load& load) {
  return load.requests == 0 ? 0 : static_cast<double>(load.requests - load.complete) / static_cast<double>(load.requests);
}
inline bool fails_often(const Load& load) { return failed_share(load) > kFewFailures; }

// Among levels in rising order of load, as indices that are empty where there is none: the last level that keeps the SLO, and the
// knee. Levels that fail often are no candidates. The knee is the last level before requests queue: the median TTFT is longer
// than at the lowest level by more than `kQueueShare` of the time that an answer takes; where a part of its requests waits so
// long (waits_at()), the first level before it whose throughput no later one exceeds. Without a queue it is the level after which
// throughput grows by less than `kKneeGain` of the load's growth (a server that computes all requests at once slows them down
// instead), otherwise the last level before requests fail often. Throughput is in output tokens where both levels know them.
inline constexpr double kKneeGain = 0.3;
inline constexpr double kQueueShare = 0.5;
inline constexpr double kNoGain = 0.02;       // growth below which throughput no longer grows
inline constexpr double kWaitingShare = 0.1;  // of the requests of a level, and at least kFewestWaiting: it queues
inline constexpr std::int64_t kFewestWaiting = 5;
struct Curve {
  std::optional<std::size_t> knee, last_within_slo;
  bool queues = false;               // beyond the knee
  bool queues_at_knee = false;       // already, by its own requests or by what the server states
  std::optional<std::size_t> fails;  // the first level beyond those that hold
  std::size_t flat_steps = 0;        // steps up to the last level in which throughput grew by less than kKneeGain
  bool stopped_growing = false;      // at the last level, by kNoGain
};
// `server_queued`: of each level, that the server's own metrics state a queue; empty: unknown.
Curve judge_curve(std::span<const Load> loads, const Slo& slo, const std::vector<bool>& server_queued = {});
// Requests whose TTFT is longer than the usual one of the lowest level by kQueueShare of the time that an answer takes.
std::int64_t waiting_requests(const Load& lowest, const Load& load);
// The level that a headline is about: the last that keeps the SLO, the knee where requests queue beyond it, otherwise the one
// with the most throughput among those that hold; where none does, the one with the fewest failures.
std::size_t level_that_counts(std::span<const Load> loads, const Curve& curve);
// What follows the sentence of that level: "; knee at rate 28/s: beyond it throughput hardly grows". Empty for a single level.
std::string curve_sentence(std::span<const Load> loads, const Curve& curve, const Slo& slo);
bool keeps(const Load& load, const Slo& slo);
// A limited time of most responses of the level is unknown: it neither keeps nor breaks the SLO.
bool is_unjudged(const Load& load, const Slo& slo);

}  // namespace aaco::analytics::llm
