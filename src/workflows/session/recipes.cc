#include "workflows/recipes.h"

#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "core/yaml.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {
namespace {

core::Result<std::string> session_id_of(const std::string& name, tracelake::SqlDialect dialect, const Services& services) {
  if (name.empty()) return std::string();
  const auto path = tracelake::find_session(services.paths.sessions, name);
  if (!path && dialect == tracelake::SqlDialect::clickhouse && name.find_first_of(":/'\\ ") == std::string::npos) return name;
  if (!path) return tl::unexpected<core::Error>(path.error());
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(*path));
  return manifest.id.text;
}

}  // namespace

core::Result<std::vector<Recipe>> load_recipes(const Services& services) {
  AACO_ASSIGN(const auto document, core::YamlNode::load(core::join_path(services.paths.share, "data/queries/recipes.yaml")));
  AACO_TRY(document.only_keys({"schema_version", "recipes"}));
  AACO_ASSIGN(const core::YamlNode* list, document.require("recipes"));
  std::vector<Recipe> out;
  std::set<std::string> ids;
  for (const core::YamlNode& entry : list->items()) {
    AACO_TRY(entry.only_keys({"id", "about", "sql"}));
    Recipe one;
    AACO_ASSIGN(one.id, entry.require_string("id"));
    AACO_ASSIGN(one.about, entry.require_string("about"));
    AACO_ASSIGN(one.sql, entry.require_string("sql"));
    if (!ids.insert(one.id).second) return entry.error("duplicate recipe '" + one.id + "'");
    out.push_back(std::move(one));
  }
  return out;
}

core::Result<std::string> recipe_sql(const std::string& id, const std::string& session, tracelake::SqlDialect dialect,
                                     const Services& services) {
  AACO_ASSIGN(const auto recipes, load_recipes(services));
  AACO_ASSIGN(const std::string session_id, session_id_of(session, dialect, services));
  for (const Recipe& one : recipes)
    if (one.id == id) return tracelake::expand_sql(dialect, one.sql, session_id);
  return core::fail(core::ErrorCode::not_found, "no recipe '" + id + "'", "list them with 'aaco query --recipes'");
}

}  // namespace aaco::workflows
