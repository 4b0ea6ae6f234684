#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocprofv3 {

// The CSV tables of rocprofv3 (ROCprofiler-SDK), 2024 to 2026 dialects: kernel, HIP, HSA, marker, RCCL, rocDecode and rocJPEG
// traces, memory copies, allocations and scratch memory, counter collection, sampled program counters, agents and statistics.
// Tables are identified by their headings, not by file name. Times are ns on the clock of the traced machine.
std::unique_ptr<Importer> make_csv_importer();

// rocprofv3's JSON ("rocprofiler-sdk-tool"): all of the above in one document, by process.
std::unique_ptr<Importer> make_json_importer();

}  // namespace aaco::importers::rocprofv3
