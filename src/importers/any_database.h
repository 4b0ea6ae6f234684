#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "importers/importer.h"

namespace aaco::importers::any_database {

// A SQLite database whose first bytes do not reveal its tables (e.g. a compressed one): opens it
// and passes it to the importer that knows its tables. Refuses unknown databases.
std::unique_ptr<Importer> make_importer();

struct Processes {
  std::size_t count = 1;               // processes to which the importer would assign ranks
  std::optional<std::int64_t> claims;  // with one process: the rank stated by its environment
};
// For a plain database of rocprofv3 or Nsight Systems; a single process without a claim for anything else.
Processes processes_of(const std::string& path);

}  // namespace aaco::importers::any_database
