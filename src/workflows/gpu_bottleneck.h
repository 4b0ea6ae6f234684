#pragma once

#include <optional>
#include <string>

#include "analytics/bottleneck.h"
#include "trace/metric.h"
#include "trace/session.h"

namespace aaco::workflows {

// What limits the least busy GPU of a session that has GPU work: the limit that outcome.gpu tells, and of compute whether the
// kernels are of those that compute or of those that move bytes. Empty for other sessions.
std::optional<analytics::bottleneck::Bottleneck> gpu_bottleneck(const std::string& path, const trace::SessionManifest& manifest,
                                                                const trace::Metrics& metrics);

}  // namespace aaco::workflows
