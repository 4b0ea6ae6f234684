#pragma once

#include <string>
#include <vector>

#include "importers/builtin.h"

namespace aaco::importers {

struct FoundFile {
  std::string path;
  const Importer* importer = nullptr;
};

struct PassedFile {
  std::string path;
  std::string reason;  // "unknown trace format", "permission denied"
};

// The importable files of a path, in natural order of path ("rank2" before "rank10").
struct Discovery {
  std::vector<FoundFile> files;
  std::vector<PassedFile> passed;
  bool is_folder = false;
};

// Sniffs a file, or every regular file below a folder (8 levels; links to folders are not followed; at most 20,000 files).
// Unknown files of a folder are skipped and listed; a single unknown file is an error, and so is a
// folder without a known file. `importers` must outlive the result.
core::Result<Discovery> discover(const std::string& path, const std::vector<std::unique_ptr<Importer>>& importers);

}  // namespace aaco::importers
