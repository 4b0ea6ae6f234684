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

// What a metric may lose against the baseline before it is a regression.
struct Budget {
  double loss_ratio = 0.05;
  bool lower_is_better = true;
  bool operator==(const Budget&) const = default;
};

// What one session of the baseline said, so that the comparison needs the session itself no more.
struct BaselineSession {
  std::string id, kind, tag;
  std::string scope = "iteration";
  std::string fingerprint_hash;
  std::optional<double> items_per_iteration;
  std::int64_t measured_count = 0;                    // iterations there were
  std::vector<double> iterations_ns;                  // kept of them, in the order measured (thin_series())
  std::map<std::string, std::vector<double>> series;  // metric id -> a value a step, of traces
  trace::Metrics metrics;
  bool operator==(const BaselineSession&) const = default;
};

struct Approval {
  std::string by;
  std::int64_t at_realtime_ns = 0;
  std::string content;  // content_hash() of what was approved
  bool operator==(const Approval&) const = default;
};

// The agreed state that changes are judged against. A file that people review.
struct Baseline {
  std::string name, owner, reason;
  std::int64_t created_realtime_ns = 0;
  std::optional<std::int64_t> expires_realtime_ns;
  std::optional<Approval> approval;
  std::map<std::string, Budget> budgets;           // by metric id
  std::string decides;                             // the metric that decides: one of the budgets
  std::string tool_version, request;               // provenance; request: the run's own, as JSON, or empty
  std::map<std::string, std::string> fingerprint;  // facts that must be equal
  std::vector<BaselineSession> sessions;
  bool operator==(const Baseline&) const = default;
};

// A name is letters, digits, '.', '_' and '-', not beginning with '.', at most 100 characters: it becomes a file name.
core::Status check_baseline_name(std::string_view name);

// The file, as people read and change it. parse refuses, with file and line: another schema version, unknown keys, no session,
// values that are no positive numbers where they must be, a budget outside 0..1 and a deciding metric without a budget.
std::string to_yaml(const Baseline& baseline);
core::Result<Baseline> parse_baseline(std::string_view text, const std::string& file);

// SHA-256 over everything but the approval: an approved baseline that is changed afterwards is not approved any more.
std::string content_hash(const Baseline& baseline);

enum class Approved { yes, no, changed_since };
Approved approval_state(const Baseline& baseline);
// Whether it may be judged by at this time.
bool expired(const Baseline& baseline, std::int64_t now_realtime_ns);

// At most `most` of the values, evenly spread and in their order: what a baseline keeps of a long series.
inline constexpr std::size_t kKeptIterations = 1000;
std::vector<double> thin_series(const std::vector<double>& series, std::size_t most = kKeptIterations);

}  // namespace aaco::governance
