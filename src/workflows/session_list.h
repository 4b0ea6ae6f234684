#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/store.h"

namespace aaco::workflows {

// Which sessions of the lake; an empty text means any.
struct SessionFilter {
  std::string tag, kind, state;
  std::string search;      // part of the id, the tag or what was measured, in any case
  std::size_t offset = 0;  // from the newest
  std::size_t limit = 100;
};

struct SessionPage {
  std::vector<SessionLine> sessions;        // newest first
  std::size_t found = 0;                    // that the filter lets through
  std::map<std::string, std::size_t> tags;  // of all sessions, with their number
};

SessionPage select_sessions(const std::vector<SessionLine>& lines, const SessionFilter& filter);
core::Result<SessionPage> list_page(const SessionFilter& filter, const core::Paths& paths);

// As `aaco ls --json` prints a session.
core::Json to_json(const SessionLine& line);

// The folder of a session that a client of the server names: an id, its beginning, latest or tag:NAME, no path. Fails with
// not_found for what lies outside the lake.
core::Result<std::string> find_in_lake(const std::string& name, const core::Paths& paths);

}  // namespace aaco::workflows
