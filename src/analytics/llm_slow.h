#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/llm.h"
#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

// Which tokens of a load were slow, and what the client and the server's machine recorded while each was awaited.
namespace aaco::analytics::llm {

// What was recorded beside the load, on the clock of the requests. The rows outlive it.
struct BesideLoad {
  std::span<const trace::SystemEventRow> events;
  std::span<const trace::GpuEventRow> gpu;
  std::span<const trace::SchedEventRow> sched;
  std::int32_t machine = 0;         // rank of the rows of the server's machine
  bool server_process = false;      // the processes of that rank are the server's
  std::int64_t clock_error_ns = 0;  // of the server's machine against the client: shorter waits are not explained by its rows
};

// The time of a first token from its send, or between two chunks, that was longer than kSlowGap times the usual one and longer
// by at least kSlowFloorNs.
struct SlowTime {
  std::int64_t request = 0;
  bool first_token = false;
  std::int64_t from_ns = 0, to_ns = 0;
  double usual_ns = 0;
  std::string_view cause;   // empty: unexplained
  double explained_ns = 0;  // of the time above the usual one
};
inline constexpr double kSlowFloorNs = 1'000'000;
inline constexpr double kExplains = 0.5;          // share of the time above the usual one that a cause must cover
inline constexpr double kCoincides = 1.5;         // times as often as in the other gaps, where a cause has no duration
inline constexpr std::size_t kMaxSlowTimes = 20;  // kept one by one

struct SlowTimes {
  std::int64_t first_tokens = 0, slow_first_tokens = 0, gaps = 0, slow_gaps = 0;
  double usual_first_token_ns = 0, usual_gap_ns = 0;
  std::map<std::string_view, std::int64_t> causes;  // of all slow times; "" unexplained
  std::vector<SlowTime> longest;                    // the largest above the usual first
  std::int64_t pauses = 0;                          // of the whole server
  std::string paused;                               // a sentence about them, with what it slept in where that was recorded
  double paused_share = 0;                          // slow times that are theirs, per request
};

// "client", "throttled", "cpu_wait", "io_wait", "clock", "kv_cache", "pause", "prefill", "queue", "machine": the first of these
// that covers kExplains of a slow time. "client": bytes that had arrived were read so much later. "machine": the client's loop
// stood still as long, but what came after that was read in time. Durations are taken from scheduler events where there are any,
// otherwise from samples.
std::string_view text_of_cause(std::string_view id);

class SlowTokens {
 public:
  SlowTokens(const BesideLoad& beside, const trace::NameTable& names);
  ~SlowTokens();
  // Of the measured requests of a level, whose medians are the usual times.
  [[nodiscard]] SlowTimes find(std::span<const trace::LlmRequestRow> requests, std::span<const trace::LlmChunkRow> chunks,
                               const trace::NameTable& names, std::string_view load) const;

 private:
  struct Recorded;
  std::unique_ptr<Recorded> recorded_;
};

core::Json to_json(const SlowTimes& times);
// "12 of 340 first tokens and 31 of 4,012 gaps between chunks ... : wait for a CPU at the server (30), unexplained (13)"; empty:
// none.
std::string sentence_of(const SlowTimes& times);

}  // namespace aaco::analytics::llm
