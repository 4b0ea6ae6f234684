#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/signals.h"
#include "core/json.h"
#include "trace/names.h"
#include "trace/rows.h"

// Anomalies within a session (iterations, kernel counters, kernels and nodes) and among sessions.
namespace aaco::analytics::anomaly {

enum class Kind : std::uint8_t { spike, level_shift, counter, execution, session };
std::string_view to_string(Kind kind);

struct Anomaly {
  Kind kind = Kind::spike;
  std::string subject;                    // "iterations 120 to 131", "process_wait_ns", "MatMul_4"
  double value = 0;                       // the observed value
  double expected = 0;                    // the median of the reference values
  double deviations = 0;                  // from it, in robust standard deviations
  std::int64_t start_ns = 0, end_ns = 0;  // time range; 0: none
  std::string text;                       // one sentence
  std::int64_t count = 1;                 // of alike anomalies that it stands for
  bool operator==(const Anomaly&) const = default;
};

// An anomaly deviates by this many robust standard deviations (1.4826 x median absolute deviation) and by this share
// from the median. About one in a million values of a normal series would.
struct Thresholds {
  double deviations = 5;
  double least_ratio = 0.2;
};

// Slow iterations, adjacent ones merged into one spike, and level shifts. Rows of one phase in time order.
std::vector<Anomaly> of_iterations(std::span<const trace::IterationRow> rows, const Thresholds& thresholds = {},
                                   std::string_view unit = "iteration");

// Requests of a load, by when they were due: those that were due after the first of all ended. The ones before found a server
// that others did not load yet, so that a closed loop beyond the server's capacity begins with a level of its own.
std::vector<trace::IterationRow> after_filling(std::vector<trace::IterationRow> requests);

// Blocks of the measuring loop in which a kernel counter (waits, faults, switches, interrupts ...) stands out from the
// other blocks; needs five.
std::vector<Anomaly> of_blocks(std::span<const trace::LoopBlockRow> rows, const trace::NameTable& names,
                               const Thresholds& thresholds = {});

// One execution of a named kernel or node.
struct Execution {
  trace::NameId name;
  std::int64_t start_ns = 0, duration_ns = 0;
};
// Executions far slower than others of the same name, the costliest first, at most `most`. Slow ones that come back at one
// distance are another problem size, and those of a kernel that cost less than a ten thousandth of all executions are too small
// to matter: none. Of fewer than twelve only the first, where it takes ten times as long as each later one and 1 ms more.
// Executions in order of start.
std::vector<Anomaly> of_executions(std::span<const Execution> executions, const trace::NameTable& names, std::size_t most,
                                   const Thresholds& thresholds = {});

// Compares a session with earlier ones of the same fingerprint; empty with fewer than five, or if it is within the normal range.
std::optional<Anomaly> of_session(std::string_view metric, double value, std::span<const double> earlier,
                                  const Thresholds& thresholds = {});

// Matches spikes with concurrent counter anomalies: the text of each spike then lists them.
void join_causes(std::vector<Anomaly>& spikes, std::span<const Anomaly> counters);

// Anomalies of one kind that are nearly equal (spikes; counters of one name; level shifts: observed and expected values within a
// quarter of each other) as one, the largest of them, with their number and the time from the first to the last. Up to
// kMaxUngrouped alike stay as they are. Keeps the order of the first of each group.
inline constexpr std::size_t kMaxUngrouped = 3;
std::vector<Anomaly> grouped(std::vector<Anomaly> anomalies);

core::Json to_json(const Anomaly& anomaly);

}  // namespace aaco::analytics::anomaly
