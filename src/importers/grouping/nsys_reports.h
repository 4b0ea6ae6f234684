#pragma once

#include "importers/grouping.h"

namespace aaco::importers::grouping {

// The CSV reports of "nsys stats" among the inputs: those of one profile (by the name before the report's own, as in
// "run1_cuda_gpu_trace.csv" and "run1_cuda_api_trace.csv") are one rank, with several profiles each is one. Reports of a profile
// whose export is among the inputs, and sums beside the trace that they are of, become passed files.
void join_nsys_reports(Inputs& inputs);

}  // namespace aaco::importers::grouping
