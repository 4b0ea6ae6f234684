#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocpd {

// Databases of rocprofv3 (rocpd, schema 3): tables with a process's GUID behind their names, or without one. Kernels, copies,
// allocations, regions (API calls and ranges), samples and counters; names, agents and threads are joined as the file's own views
// do it, without running these views. Several processes become ranks. Times are ns on the traced machine's clock.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::rocpd
