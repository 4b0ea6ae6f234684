#pragma once

#include "importers/grouping.h"

namespace aaco::importers::grouping {

// Leaves out files that say less of a run than others of `inputs` do: rocprofv3's Perfetto trace beside its tables, document or
// database, and the XLA profiler's trace.json beside its XSpace in one folder. Before ranks are assigned, and
// again after ROCm's files are placed.
void leave_out_lesser_forms(Inputs& inputs);

}  // namespace aaco::importers::grouping
