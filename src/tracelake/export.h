#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "trace/account.h"

namespace aaco::tracelake {

enum class TimelineFormat {
  perfetto,  // for ui.perfetto.dev and trace_processor
  chrome,    // JSON for chrome://tracing and the tools that read it
};

// Writes a session's timeline in bounded memory: iterations with their node executions under them, API calls by thread, kernels,
// copies and collectives by stream with arrows from their launches, scheduler events, telemetry as counters. The account counts
// the exported rows and those a timeline cannot show (end before start, start before time zero, or overlap
// in more than 64 layers).
core::Result<trace::Account> export_timeline(const std::string& session_path, TimelineFormat format, const std::string& file);

// Writes every table of the session to <folder>/<table>.csv; returns the files. Creates the folder if needed.
core::Result<std::vector<std::string>> export_csv(const std::string& session_path, const std::string& folder);

}  // namespace aaco::tracelake
