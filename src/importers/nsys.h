#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::nsys {

// SQLite exports of NVIDIA Nsight Systems ("nsys export --type sqlite"), 2020 to 2026: kernels, copies, memsets, whole graphs,
// API calls, NVTX ranges, library, MPI and operating-system calls, scheduling, creation of graph nodes, allocations, sampled GPU
// metrics. Tables and columns missing in a version are empty; rows of tables that are not imported count as dropped. Several
// processes with GPU work become ranks. Times are ns since the start of the capture.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::nsys
