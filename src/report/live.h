#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

// What happens now on a machine and in the sessions that are being made: the values of `aaco top` and of the server's live
// stream.
namespace aaco::report {

struct LiveGpu {
  std::int64_t device = 0;
  std::optional<double> use_ratio, memory_used_bytes, memory_total_bytes, power_watts, power_cap_watts, temperature_celsius,
      clock_hz;
  std::vector<std::string> throttled;  // "power", "thermal", "current", "other"
};

struct LiveMachine {
  std::int64_t time_ns = 0;  // monotonic
  std::string name;          // of the host
  std::optional<double> cpu_use_ratio, cpu_user_ratio, cpu_system_ratio, cpu_iowait_ratio;
  std::vector<std::optional<double>> core_use_ratios;  // by CPU number
  std::optional<double> cpu_clock_hz;                  // mean of the cores
  std::optional<double> cpu_power_watts, cpu_temperature_celsius;
  std::optional<double> cpu_wait_ratio, memory_wait_ratio, io_wait_ratio;  // share of the time in which some task waited
  std::optional<double> memory_available_bytes, memory_total_bytes, load_1min;
  std::vector<LiveGpu> gpus;
};

struct LiveProcess {
  std::int64_t id = 0, parent = 0;
  int depth = 0;  // below the process of the session
  std::string name;
  std::optional<double> cpu_cores, wait_ratio;  // since the last look; run-queue wait of all threads over wall time
  double resident_bytes = 0;
  std::int64_t threads = 0;
};

// The calls of one block: nothing is left out, only summed up.
struct LiveBucket {
  std::int64_t number = 0;  // in its session, from 0
  std::int64_t time_ns = 0, count = 0;
  double min_ns = 0, p50_ns = 0, max_ns = 0;
  std::optional<double> p90_ns, p99_ns;
};

struct LiveSession {
  std::string id, kind, what, tag, phase, started;
  std::int64_t process_id = 0;
  std::int64_t started_ns = 0;  // monotonic
  std::vector<LiveBucket> buckets;
  std::int64_t iterations = 0;
  std::optional<double> median_ns, median_low_ns, median_high_ns;  // of all calls, with its 95 % interval
  std::optional<double> done_ratio, left_s;
};

struct LiveView {
  std::string title;  // empty: live; otherwise the session that is replayed
  LiveMachine machine;
  std::vector<LiveProcess> processes;  // in order of the tree
  std::vector<LiveSession> sessions;
};

core::Json to_json(const LiveMachine& machine);
core::Json to_json(const LiveProcess& process);
core::Json to_json(const LiveBucket& bucket);
// With the buckets from number `first` on.
core::Json to_json(const LiveSession& session, std::int64_t first);
core::Json to_json(const LiveView& view);
// Of to_json(); what another machine sent. Fails with invalid_input for another document; missing values are empty.
core::Result<LiveView> live_view_from_json(const core::Json& document);

enum class LiveOrder : std::uint8_t { cpu, memory, id };

struct ScreenOptions {
  int width = 100, height = 40;
  bool colour = false;
  bool unicode = true;
  bool tree = true;  // processes below their parents; otherwise in order
  LiveOrder order = LiveOrder::cpu;
  bool frozen = false;
  bool keys = true;       // show the keys in the last line
  std::string note = {};  // above the keys, such as what is being recorded; empty: no line
};
// At most `height` lines, each of at most `width` columns, without cursor movement. What does not fit is counted in a line.
std::vector<std::string> live_screen(const LiveView& view, const ScreenOptions& options);

}  // namespace aaco::report
