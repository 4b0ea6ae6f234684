#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocprof_db {

// The database that rocprof (v1) writes next to its tables: KERN (dispatches, with one column per counter), OPS and COPY
// (work that the traced calls caused), HIP, HSA, KFD and roctx (calls and ranges). Times are ns.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::rocprof_db
