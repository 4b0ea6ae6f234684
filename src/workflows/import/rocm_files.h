#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "importers/rocm_tables.h"

namespace aaco::workflows {

// A file of ROCm's profilers among those to be imported, and what its name and first bytes say of it.
struct RocmFile {
  std::string path;
  std::string format;                         // rocprof, rocprofv3, rocprof_compute, rocpd
  std::optional<importers::RocmTable> table;  // empty: a document or database that holds all kinds
};

// How a file takes part in the session.
struct RocmPlace {
  std::size_t file = 0;  // which, in the list that was given
  // A run of one process. Its kernels come from the first of its files that has any, in the order of the places; counters of its
  // further passes join them by dispatch.
  std::string run;
  int pass = 0;       // executions of the workload for another set of counters are numbered from 1; 0: not by passes
  int container = 0;  // documents before tables: where the first could be read the others of the run and pass say the same
  std::optional<std::int32_t> rank;  // where there are several processes
  std::string host;                  // rocprofv3's default folders are named for it
  [[nodiscard]] bool same_pass(const RocmPlace& other) const { return run == other.run && pass == other.pass; }
  bool operator==(const RocmPlace&) const = default;
};

// Joins the files by their paths: pmc_1/ and pass_1/ are passes; "4711_kernel_trace.csv" belongs to process 4711, "rank1_..." to
// rank 1, anything else before the table's name to the run of that name; all tables of a rocprof-compute folder are passes of one
// run. The places are in the order in which they should be read.
std::vector<RocmPlace> place_files(const std::vector<RocmFile>& files);

}  // namespace aaco::workflows
