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

// What does not fit the rest: in a session (iterations, what the kernel counted, kernels and nodes) and among sessions.
namespace aaco::analytics::anomaly {

enum class Kind : std::uint8_t { spike, level_shift, counter, execution, session };
std::string_view to_string(Kind kind);

struct Anomaly {
  Kind kind = Kind::spike;
  std::string subject;                    // "iterations 120 to 131", "process_wait_ns", "MatMul_4"
  double value = 0;                       // what was seen
  double expected = 0;                    // the median of what it is laid beside
  double deviations = 0;                  // from it, in robust standard deviations
  std::int64_t start_ns = 0, end_ns = 0;  // where it is in time; 0: not in time
  std::string text;                       // one sentence
  bool operator==(const Anomaly&) const = default;
};

// A value is one where it lies this many robust standard deviations (1.4826 x median distance from the median) and by this share
// away from the median. Of a normal series of a million values about one would.
struct Thresholds {
  double deviations = 5;
  double least_ratio = 0.2;
};

// Slow iterations, neighbours joined to one spike, and changes of level. Rows of one phase in time order.
std::vector<Anomaly> of_iterations(std::span<const trace::IterationRow> rows, const Thresholds& thresholds = {});

// Blocks of the measuring loop in which a counter of the kernel (waits, faults, switches, interrupts ...) stands out from the
// other blocks; needs five.
std::vector<Anomaly> of_blocks(std::span<const trace::LoopBlockRow> rows, const trace::NameTable& names,
                               const Thresholds& thresholds = {});

// One execution of something that has a name: a kernel, a node.
struct Execution {
  trace::NameId name;
  std::int64_t start_ns = 0, duration_ns = 0;
};
// Executions far slower than others of the same name, the costliest first, at most `most`.
std::vector<Anomaly> of_executions(std::span<const Execution> executions, const trace::NameTable& names, std::size_t most,
                                   const Thresholds& thresholds = {});

// A session against the values of a metric in earlier ones of the same fingerprint; empty with fewer than five, or where it fits.
std::optional<Anomaly> of_session(std::string_view metric, double value, std::span<const double> earlier,
                                  const Thresholds& thresholds = {});

// Joins spikes to counters of the same time: the text of each spike then names what stood out meanwhile.
void join_causes(std::vector<Anomaly>& spikes, std::span<const Anomaly> counters);

core::Json to_json(const Anomaly& anomaly);

}  // namespace aaco::analytics::anomaly
