#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "tracelake/sql_dialect.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A named query of data/queries/recipes.yaml; its SQL has macros (tracelake/sql_dialect.h).
struct Recipe {
  std::string id, about, sql;
};
core::Result<std::vector<Recipe>> load_recipes(const Services& services);
// The SQL of a recipe for an engine. `session`: id, path, latest or tag:NAME of the local lake, or an id of the engine; empty:
// all. Fails with not_found on an unknown id, naming the nearest.
core::Result<std::string> recipe_sql(const std::string& id, const std::string& session, tracelake::SqlDialect dialect,
                                     const Services& services);

}  // namespace aaco::workflows
