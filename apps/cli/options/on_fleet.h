#pragma once

#include <string>

#include "core/result.h"
#include "workflows/fleet_lake.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// --on of the verbs that read sessions.
void add_on_fleet(CLI::App& verb, std::string& on);
// The services of the lake that has these sessions: the local one, or with --on a copy of the fleet's.
core::Result<workflows::Services> services_on(const std::string& on, const workflows::FleetChoice& choice, Context& context);

}  // namespace aaco::cli
