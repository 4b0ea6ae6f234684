#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "importers/grouping.h"
#include "importers/rocm_tables.h"

namespace aaco::importers::grouping {

// A file of ROCm's profilers among those to be imported, and what its name and first bytes say of it.
struct RocmFile {
  std::string path;
  std::string format;              // rocprof, rocprofv3, rocprof_compute, rocpd
  std::optional<RocmTable> table;  // empty: a document or database that holds all kinds
  std::set<std::string> kernels;   // names of the first, of tables with kernels or counters
};

// Joins the files by their paths: pmc_1/ and pass_1/ are passes; "4711_kernel_trace.csv" belongs to process 4711, "rank1_..." to
// rank 1, anything else before the table's name to the run of that name; all tables of a rocprof-compute folder are passes of one
// run. Runs of rocprofv3 with counters only are further passes of the one run that has a trace, if they ran its kernels. The
// places are in the order in which they should be read.
std::vector<RocmPlace> place_files(const std::vector<RocmFile>& files);

}  // namespace aaco::importers::grouping
