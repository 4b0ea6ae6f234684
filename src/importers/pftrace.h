#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::pftrace {

// Perfetto traces (protobuf) of rocprofv3 (--output-format pftrace): kernels, copies, API calls and markers as track events. Of
// other Perfetto traces slices are ranges of their threads. Memory: names and open slices, not the file.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::pftrace
