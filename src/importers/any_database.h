#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "importers/importer.h"

namespace aaco::importers::any_database {

// A SQLite database whose first bytes do not show what its tables are (a compressed one, of which no more can be seen): opens it
// and hands it to the importer that knows its tables. A database that none knows is refused.
std::unique_ptr<Importer> make_importer();

struct Processes {
  std::size_t count = 1;               // whose rows the importer would give ranks of their own
  std::optional<std::int64_t> claims;  // with one: the rank that its environment says it is
};
// Of a plain database of rocprofv3 or Nsight Systems; one without a claim for anything else.
Processes processes_of(const std::string& path);

}  // namespace aaco::importers::any_database
