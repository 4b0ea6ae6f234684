#pragma once

#include <optional>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "runner/loop.h"
#include "trace/metric.h"
#include "workflows/run/loaded_model.h"
#include "workflows/run/run_plan.h"
#include "workflows/session/loaded_session.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What a run knows besides its tables.
struct RunFacts {
  std::int64_t batch = 1;
  std::int64_t rss_load_bytes = 0;  // resident when the model was loaded and its inputs bound
  std::int64_t rss_peak_bytes = 0;  // largest up to the end of the measurement
  std::optional<double> profile_slowdown_ratio;
  trace::Metrics sleep;    // what the caller slept for, where it was watched
  trace::Metrics freezes;  // of its control group, where they would be noticed
};

// Every metric of a run, computed from the open bundle (flush() first), `loaded` from its path.
core::Result<trace::Metrics> run_metrics(const RunFacts& facts, SessionDraft& draft, LoadedSession& loaded);

double median_of(const std::vector<runner::TimedCall>& calls);

// A warning where nodes landed on another provider than the one asked for.
void warn_of_placement(SessionDraft& draft, const RunPlan& plan, const core::Json& runtime);

}  // namespace aaco::workflows
