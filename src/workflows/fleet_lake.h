#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/services.h"
#include "workflows/session_choice.h"

namespace aaco::workflows {

// Which sessions of a fleet a workflow reads.
struct FleetChoice {
  std::vector<std::string> names;  // ids and their beginnings, latest, tag:NAME (all with the tag); local paths are left alone
  bool all = false;                // no names: every session that `where` means, the newest `last` of them
  SessionWhere where;
  std::optional<std::size_t> last;
  bool history = false;  // also sessions that the named ones may be compared with, up to kMaxFleetHistory
};
inline constexpr std::size_t kMaxFleetHistory = 100;

struct FleetLake {
  Services services;                 // the caller's, with a lake that has these sessions
  std::vector<std::string> missing;  // servers that could not be reached
  std::vector<std::string> notes;
};

// Copies the bundles of these sessions into a lake in the cache, one lake per fleet, so that every workflow over sessions reads
// them as it reads local ones. Each bundle is verified against its hashes. Sessions that are there already are not read again,
// those that the fleet no longer has are removed. Fails with not_found on a name that the fleet does not have.
core::Result<FleetLake> copy_from_fleet(const std::string& fleet, const FleetChoice& choice, const Services& services);

}  // namespace aaco::workflows
