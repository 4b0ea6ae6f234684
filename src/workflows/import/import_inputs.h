#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importers/builtin.h"
#include "importers/discovery.h"
#include "workflows/import/rocm_files.h"

namespace aaco::workflows {

struct InputFile {
  std::string path;
  const importers::Importer* importer = nullptr;
  std::string format;
  std::optional<std::int32_t> rank;
  std::optional<importers::RocmTable> table = {};  // of a table of ROCm's profilers
  std::optional<RocmPlace> place = {};             // of any of their files
  std::int32_t rank_base = 0;                      // of a database that holds several ranks
};

struct Inputs {
  std::vector<std::unique_ptr<importers::Importer>> importers;
  std::vector<InputFile> files;
  std::vector<importers::PassedFile> passed;
  std::vector<trace::Warning> warnings;
  std::vector<std::string> captures;  // traces that are named for the capture of a graph, beside others
};

// What the paths hold that an importer knows, in the order in which it is to be read. Fails where there is nothing.
core::Result<Inputs> find_inputs(const std::vector<std::string>& paths);

}  // namespace aaco::workflows
