#pragma once

#include "importers/grouping.h"

namespace aaco::importers::grouping {

// Files that hold what another of the inputs holds become passed files with the reason, so that nothing is counted twice:
// - the same content (a trace beside its compressed form, a copy of a folder), unless the names claim different ranks;
// - the JSON that was written from one of the rocmProfileData databases: it has the same run in whole microseconds.
void leave_out_copies(Inputs& inputs);

}  // namespace aaco::importers::grouping
