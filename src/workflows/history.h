#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/trend.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/account.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct HistoryRequest {
  std::string metric;              // an id, "p99" and the like, a series of the files, or "beginning*"; empty: all of a file
  std::vector<std::string> files;  // empty: the sessions of the lake, or of `on`
  std::string on;                  // fleet: clickhouse://... or a name in fleet.yaml; empty: the local lake
  std::map<std::string, std::string> where;  // sessions: model, backend, kind, tag, fingerprint; tables: a column
  std::optional<std::size_t> last;           // only this many of the newest
  std::optional<bool> lower_is_better;       // empty: as the metric or the file says
  analytics::trend::Options options;         // direction left out
};

struct HistoryPoint {
  std::string label;  // commit, version, session
  std::optional<std::int64_t> time_ns;
  double value = 0;
};

struct HistorySeries {
  std::string name, unit;
  std::string of;  // what it was measured on: model, backend, batch; empty for a file
  std::optional<bool> lower_is_better;
  std::vector<HistoryPoint> points;       // oldest first
  std::vector<HistoryPoint> interrupted;  // values of sessions that were stopped early: shown, and no part of the trend
  std::optional<analytics::trend::Trend> trend;
  std::string reason;  // why there is none, or why it cannot tell a step
};

struct HistoryOutcome {
  std::vector<HistorySeries> series;
  trace::Account account;
  std::vector<std::string> notes;
  [[nodiscard]] bool alarmed() const;
  [[nodiscard]] bool worsened() const;  // an alarm that is no improvement
};

// The series of a metric over the lake's sessions (those of one fingerprint make one series: others measure another thing; of
// sessions that were stopped early the values stand apart), or of
// files of benchmark tools, with what changed and where it goes. Fails with not_found where no session or no series of that name
// is there, naming the nearest.
core::Result<HistoryOutcome> history(const HistoryRequest& request, const Services& services);

}  // namespace aaco::workflows
