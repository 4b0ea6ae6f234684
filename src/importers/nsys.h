#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::nsys {

// SQLite exports of NVIDIA Nsight Systems ("nsys export --type sqlite"), 2020 to 2026: kernels, copies, memsets, whole graphs,
// API calls, NVTX ranges, library and operating-system calls, scheduling, creation of graph nodes. Tables and columns that a
// version lacks are empty. Several processes with GPU work become ranks. Times are ns since the start of the capture.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::nsys
