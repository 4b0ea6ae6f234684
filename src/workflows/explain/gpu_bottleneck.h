#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/bottleneck.h"
#include "analytics/confidence.h"
#include "analytics/gpu_advice.h"
#include "core/environment.h"
#include "core/json.h"
#include "trace/metric.h"
#include "trace/session.h"
#include "workflows/session/loaded_session.h"

namespace aaco::workflows {

struct GpuJudgement {
  analytics::bottleneck::Bottleneck bottleneck;
  std::vector<analytics::advice::Recommendation> recommendations;
  core::Json
      cause;  // what the host did while the device was idle, or why the trace cannot tell: id, title, remedy; null: neither
};

// What limits the least busy GPU of a session, and what to do first about it: analytics/gpu_bottleneck.h decides over the rows
// and outcome.gpu. Empty for sessions without GPU work.
std::optional<GpuJudgement> judge_gpu(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                      const trace::Metrics& metrics, const analytics::confidence::Table& confidences,
                                      const core::Paths& paths);

}  // namespace aaco::workflows
