#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rocprof_compute {

// The tables of a rocprof-compute (Omniperf) workload: pmc_perf.csv and the other passes, timestamps.csv, sysinfo.csv,
// roofline.csv.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::rocprof_compute
