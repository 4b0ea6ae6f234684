#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/bottleneck.h"
#include "analytics/gpu_advice.h"
#include "trace/metric.h"
#include "trace/session.h"

namespace aaco::workflows {

// What limits the least busy GPU of a session that has GPU work: what takes the largest share of its span, as outcome.gpu divides
// it, time in kernels divided by whether they are of those that compute or of those that move bytes. Empty for other sessions.
std::optional<analytics::bottleneck::Bottleneck> gpu_bottleneck(const std::string& path, const trace::SessionManifest& manifest,
                                                                const trace::Metrics& metrics);

// What to do first about that GPU; nothing without GPU work.
std::vector<analytics::advice::Recommendation> gpu_advice(const std::string& path, const trace::SessionManifest& manifest,
                                                          const trace::Metrics& metrics);

}  // namespace aaco::workflows
