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
// the rows that went into the file and those a timeline cannot show (they end before they begin, lie before time zero, or overlap
// in more than 64 layers).
core::Result<trace::Account> export_timeline(const std::string& session_path, TimelineFormat format, const std::string& file);

// Every table the session has as <folder>/<table>.csv; answers the files. The folder is made where it does not exist.
core::Result<std::vector<std::string>> export_csv(const std::string& session_path, const std::string& folder);

}  // namespace aaco::tracelake
