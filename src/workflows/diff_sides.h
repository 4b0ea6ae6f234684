#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/between_runs.h"
#include "core/result.h"
#include "governance/baseline.h"
#include "hardware/fingerprint.h"
#include "trace/metric.h"
#include "workflows/services.h"
#include "workflows/trace_work.h"

namespace aaco::workflows {

// One session of a side.
struct ComparedSession {
  std::string id, path, kind, tag;  // path: empty where only a baseline file tells of it
  std::string model;                // its name; empty: unknown
  hardware::Fingerprint fingerprint;
  std::string fingerprint_hash;
  std::vector<double> iterations;                // measured ones in order, ns; of an imported trace its steps
  std::string scope;                             // iteration or step
  std::int64_t disturbed = 0;                    // of the measured ones, by the noise sentinel
  bool dropped_disturbed = false;                // they are not among `iterations`
  bool interrupted = false;                      // it ended before it had measured what was asked for
  std::string changed;                           // documents that are not what was written, with commas between
  std::int64_t responses = 0, in_one_piece = 0;  // of a load on a language-model server (LlmSeries)
  bool without_tpot = false;                     // TPOT is unknown for all of them
  std::optional<double> items_per_iteration;
  std::optional<std::int64_t> exit_code;  // of a recorded command
  std::string no_run_time;                // why a recording has none; empty: it has one, or it is no recording
  trace::Metrics metrics;
  std::map<std::string, std::vector<double>> series;  // metric id -> a value a step, as a baseline file keeps them
  analytics::regression::RunScatter scatter;          // from its loop blocks
  std::shared_ptr<const TraceWork> work;              // null without device work
};

inline constexpr std::size_t kFewestSteps = 6;  // below, a series has no interval of its median

// Metrics that a session without_tpot does not have.
inline constexpr std::string_view kTpotMetrics = "llm.tpot_";

struct ComparedSide {
  std::string name;  // as asked
  std::vector<ComparedSession> sessions;
  std::shared_ptr<const governance::Baseline> baseline;  // where the side is a baseline file
  bool tpot_unknown = false;                             // for most responses of its sessions: it is not compared
  [[nodiscard]] std::vector<std::string> ids() const;
};

// The sessions named: ids, paths, latest; tag:NAME is every whole session with the tag; a lone .yaml file is a baseline. Fails
// with a clear answer on a session of another schema version, one that is incomplete, lacks a table that it lists, or holds
// impossible times. `drop_disturbed` leaves disturbed iterations out of each session that has enough without them.
core::Result<ComparedSide> load_side(const std::vector<std::string>& names, const Services& services,
                                     bool drop_disturbed = false);

// Sessions of a side that ended early: "A: 1 of 3 sessions was interrupted and measured less than was asked for"; empty: none.
std::string interruption_note(const ComparedSide& side, std::string_view letter);
// What was disturbed on a side, and whether it counts: "A: 12 of 400 iterations were disturbed and are left out"; empty: nothing.
std::string disturbance_note(const ComparedSide& side, std::string_view letter);

// Of recordings: "A has no run time (--duration ended its command)", or that commands failed; empty: nothing to say.
std::string recording_note(const ComparedSide& side, std::string_view letter);

// Judges TPOT by all sessions of a side together: where it is unknown for most of their responses, none of them has it; otherwise
// those without a known one are marked to be left out.
void judge_tpot(ComparedSide& side);
// "A: TPOT is not compared: it is unknown for 50 of 80 responses, which arrived in one piece"; empty: nothing is left out.
std::string tpot_note(const ComparedSide& side, std::string_view letter);
// "A: quantiles are the geometric mean of 7 sessions' quantiles, not those of all requests"; empty: one session, or no load.
std::string quantile_note(const ComparedSide& side, std::string_view letter);

// Every difference between the sessions of one side and between the sides, each key once, hard first, then what changed from A to
// B (which forbids a comparison only where it differs within one side); traces whose kernels of one name ran on other grids
// differ in "grid": hard if most kernels did, soft if most kept theirs.
std::vector<hardware::Difference> side_differences(const ComparedSide& a, const ComparedSide& b);

// Deviation of latency between equal sessions of the lake, those of both sides left out: sessions whose facts all equal those of
// A's first session, and those whose facts equal B's, each group for itself.
struct BetweenHistory {
  double deviation_ratio = 0;
  std::int64_t sessions = 0;
};
core::Result<std::optional<BetweenHistory>> history_between(const ComparedSide& a, const ComparedSide& b,
                                                            const Services& services);

// Standard deviation between two runs of one kind on B's machine, as a share: what its sessions show of external load and drift,
// and, with `use_history`, how far equal stored sessions of any model differ on the same host (analytics/between_runs.h).
core::Result<double> between_runs(const ComparedSide& a, const ComparedSide& b, bool use_history, const Services& services);

}  // namespace aaco::workflows
