#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocpd {

// Databases of rocprofv3 (rocpd, schema 3): tables with or without a process GUID as name suffix. Kernels, copies,
// allocations, regions (API calls and ranges), samples and counters; names, agents and threads are joined as in the file's views,
// without running these views. Several processes become ranks. Times are ns on the traced machine's clock.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::rocpd
