#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::any_database {

// A SQLite database whose first bytes do not show what its tables are (a compressed one, of which no more can be seen): opens it
// and hands it to the importer that knows its tables. A database that none knows is refused.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::any_database
