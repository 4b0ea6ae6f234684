#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importers/builtin.h"
#include "importers/discovery.h"
#include "importers/rocm_tables.h"

// Which files of several belong together, of which rank they are, and which hold what another one holds.
namespace aaco::importers::grouping {

// How a file of ROCm's profilers takes part in the session.
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

struct InputFile {
  std::string path;
  const Importer* importer = nullptr;
  ImporterInfo info;  // of the importer
  std::optional<std::int32_t> rank;
  std::optional<RocmTable> table = {};  // of a table of ROCm's profilers
  std::optional<RocmPlace> place = {};  // of any of their files
  std::int32_t rank_base = 0;           // of a database that holds several ranks
  std::optional<int> pass = {};         // of a profiler that numbers its passes
};

struct Inputs {
  std::vector<std::unique_ptr<Importer>> importers;
  std::vector<InputFile> files;
  std::vector<PassedFile> passed;
  std::vector<trace::Warning> warnings;
  std::vector<std::string> captures;  // traces that are named for the capture of a graph, beside others
};

// What the paths hold that an importer knows, in the order in which it is to be read. Fails where there is nothing.
core::Result<Inputs> find_inputs(const std::vector<std::string>& paths);

}  // namespace aaco::importers::grouping
