#pragma once

#include "core/json.h"
#include "core/result.h"
#include "workflows/ab_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Measures two configurations in turn: short blocks of both, in processes that are started anew again and again, since what a
// process has by chance (addresses, alignment, memory) moves its median by more than most changes do. Both sides share a process
// unless they need another runtime library, so that they share that chance too. Ends when the change is decided and the
// smallest detectable change is small enough, or at the bound. Each side is stored as a session.
core::Result<AbOutcome> ab(const AbRequest& request, const Services& services);

}  // namespace aaco::workflows
