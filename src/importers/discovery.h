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
  std::string reason;  // "no importer knows it", "permission denied"
};

// What a path holds for us, by path in natural order ("rank2" before "rank10").
struct Discovery {
  std::vector<FoundFile> files;
  std::vector<PassedFile> passed;
  bool is_folder = false;
};

// Sniffs a file, or every regular file below a folder (8 levels; links to folders are not followed; at most 20,000 files).
// Files of a folder that nobody knows are passed over and listed; a single file that nobody knows is an error, and so is a
// folder without any. `importers` must outlive the result.
core::Result<Discovery> discover(const std::string& path, const std::vector<std::unique_ptr<Importer>>& importers);

}  // namespace aaco::importers
