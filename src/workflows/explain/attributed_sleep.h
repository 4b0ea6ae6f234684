#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/advice.h"
#include "analytics/signals.h"
#include "core/json.h"
#include "trace/metric.h"

namespace aaco::workflows {

// What the caller slept for, where the scheduler was watched: "lock 62.0 %, io 30.1 % of the caller's sleep". Empty where that is
// not recorded for most of the sleep.
std::optional<std::string> attributed_sleep(const trace::Metrics& metrics);

// Advice to find out what is known already becomes advice on what was found.
void follow_sleep(const std::string& attributed, std::vector<analytics::advice::Recommendation>& list);

// The first thing to look for in a process that sleeps and was stopped by a signal, or frozen, is who does so. Unchanged without
// stops and freezes.
void follow_stops(const std::optional<analytics::signals::CallAccount>& account,
                  std::vector<analytics::advice::Recommendation>& list);

// Names stops (SIGSTOP) and freezes (cgroup freezer) of the measured process in a bottleneck document: the kernel counts them as
// sleep. Unchanged without any.
core::Json with_stops(core::Json document, const std::optional<analytics::signals::CallAccount>& account);

}  // namespace aaco::workflows
