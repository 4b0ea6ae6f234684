#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/metric.h"

// Policy over time: baselines, service levels, gates.
namespace aaco::governance {

inline constexpr int kBaselineSchemaVersion = 1;

// How far a metric may fall behind the baseline before it counts as a regression.
struct Budget {
  double loss_ratio = 0.05;
  bool lower_is_better = true;
  bool operator==(const Budget&) const = default;
};

// The data of one baseline session, so that comparisons do not need the session itself.
struct BaselineSession {
  std::string id, kind, tag;
  std::string scope = "iteration";
  std::string fingerprint_hash;
  std::optional<double> items_per_iteration;
  std::int64_t measured_count = 0;                    // number of iterations
  std::vector<double> iterations_ns;                  // the kept ones, in measurement order (thin_series())
  std::map<std::string, std::vector<double>> series;  // metric id -> one value per step (traces)
  trace::Metrics metrics;
  bool operator==(const BaselineSession&) const = default;
};

struct Approval {
  std::string by;
  std::int64_t at_realtime_ns = 0;
  std::string content;  // content_hash() of the approved content
  bool operator==(const Approval&) const = default;
};

// The approved state that changes are compared with. Stored as a file for review.
struct Baseline {
  std::string name, owner, reason;
  std::int64_t created_realtime_ns = 0;
  std::optional<std::int64_t> expires_realtime_ns;
  std::optional<Approval> approval;
  std::map<std::string, Budget> budgets;           // by metric id
  std::string decides;                             // the metric that decides: one of the budgets
  std::string tool_version, request;               // provenance; request: that of the run, as JSON, or empty
  std::map<std::string, std::string> fingerprint;  // facts that must match
  std::vector<BaselineSession> sessions;
  bool operator==(const Baseline&) const = default;
};

// 1 to 100 letters, digits, '.', '_' and '-', not starting with '.': used as a file name.
core::Status check_baseline_name(std::string_view name);

// The human-readable file. parse refuses, with file and line: another schema version, unknown keys, no session,
// non-positive values where positive ones are required, a budget outside 0..1 and a deciding metric without a budget.
std::string to_yaml(const Baseline& baseline);
core::Result<Baseline> parse_baseline(std::string_view text, const std::string& file);

// SHA-256 of everything except the approval: changing an approved baseline invalidates its approval.
std::string content_hash(const Baseline& baseline);

enum class Approved { yes, no, changed_since };
Approved approval_state(const Baseline& baseline);
// Whether it is valid at this time.
bool expired(const Baseline& baseline, std::int64_t now_realtime_ns);

// At most `most` of the values, evenly spaced and in order: the part of a long series that a baseline keeps.
inline constexpr std::size_t kKeptIterations = 1000;
std::vector<double> thin_series(const std::vector<double>& series, std::size_t most = kKeptIterations);

}  // namespace aaco::governance
