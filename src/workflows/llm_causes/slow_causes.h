#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analytics/llm_slow.h"
#include "core/result.h"
#include "trace/clock_graph.h"
#include "trace/session.h"
#include "workflows/llm_causes/observed.h"

namespace aaco::workflows {

// The load of an llm session: from the first request due to the last end.
core::Result<LoadSpan> load_span(const std::string& session_path, const trace::SessionManifest& manifest);

// Joins a stored llm session with a recording of the server's machine: the slow tokens of each level, by its name.
struct ObservedCauses {
  ObservedServer server;
  std::vector<std::pair<std::string, analytics::llm::SlowTimes>> levels;
  std::vector<std::string> causes;  // of the whole levels, a sentence each
};
core::Result<ObservedCauses> observed_causes(const std::string& session_path, const std::string& observed_path);

// "recording ID on HOST, same clock" or with the error of its times.
std::string describe(const ObservedServer& server);

}  // namespace aaco::workflows
