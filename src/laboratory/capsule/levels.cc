#include <algorithm>

#include "core/strings.h"
#include "core/yaml.h"
#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::ErrorCode;

core::Status check(const std::string& id, const std::string& value) {
  const auto& table = all_switches();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Switch& one) { return one.info.id == id; });
  if (found == table.end()) {
    std::vector<std::string_view> known;
    for (const Switch& one : table) known.push_back(one.info.id);
    const std::string_view near = core::nearest(id, known);
    return core::fail(ErrorCode::invalid_argument, "unknown switch '" + id + "'",
                      near.empty() ? "'aaco capsule ls' lists the switches" : "did you mean " + std::string(near) + "?");
  }
  if (auto fine = found->check(value); !fine)
    return core::fail(ErrorCode::invalid_argument, id + ": " + fine.error().message,
                      "valid values: " + std::string(found->info.values));
  return {};
}

core::Result<Level> read_level(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "title", "set"}));
  Level level;
  AACO_ASSIGN(level.id, node.require_string("id"));
  AACO_ASSIGN(level.title, node.require_string("title"));
  AACO_ASSIGN(const core::YamlNode* const settings, node.require("set"));
  if (!settings->is_mapping()) return settings->error("'set' must map switches to values");
  for (const auto& [key, value] : settings->entries()) {
    AACO_ASSIGN(std::string text, value.as_string());
    if (const auto fine = check(key.scalar(), text); !fine) return key.error(fine.error().message, fine.error().remedy);
    level.settings.emplace(key.scalar(), std::move(text));
  }
  return level;
}

}  // namespace

core::Result<LevelBook> LevelBook::load(const std::string& path) {
  AACO_ASSIGN(const auto document, core::YamlNode::load(path));
  AACO_TRY(document.only_keys({"schema", "levels"}));
  AACO_ASSIGN(const auto schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported", "this version reads schema 1");
  AACO_ASSIGN(const core::YamlNode* const levels, document.require("levels"));
  if (!levels->is_sequence() || levels->items().empty()) return levels->error("'levels' must list at least one level");
  LevelBook book;
  for (const core::YamlNode& node : levels->items()) {
    AACO_ASSIGN(Level level, read_level(node));
    if (level.id.empty() || level.id == "none") return node.error("invalid level name '" + level.id + "'");
    for (const Level& known : book.levels_)
      if (known.id == level.id) return node.error("duplicate level '" + level.id + "'");
    book.levels_.push_back(std::move(level));
  }
  return book;
}

core::Result<Wanted> make_wanted(const LevelBook& book, std::string_view level, const std::vector<std::string>& changes) {
  Wanted wanted;
  if (!level.empty() && level != "none") {
    std::vector<std::string_view> known = {"none"};
    for (const Level& one : book.levels()) {
      known.push_back(one.id);
      if (one.id == level) wanted.level = one.id, wanted.settings = one.settings;
    }
    if (wanted.level.empty()) {
      std::string list;
      for (const auto one : known) list += (list.empty() ? "" : ", ") + std::string(one);
      return core::fail(ErrorCode::invalid_argument, "unknown isolation level '" + std::string(level) + "'",
                        "use one of: " + list);
    }
  }
  for (const std::string& text : changes) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return core::fail(ErrorCode::invalid_argument, "'" + text + "' is not NAME=VALUE", "'aaco capsule ls' lists the switches");
    const std::string id = text.substr(0, equals), value = text.substr(equals + 1);
    if (value.empty()) {
      if (wanted.settings.erase(id) == 0)
        return core::fail(ErrorCode::invalid_argument, "'" + text + "' unsets a switch that the level does not set");
      continue;
    }
    AACO_TRY(check(id, value));
    wanted.settings[id] = value;
  }
  return wanted;
}

}  // namespace aaco::laboratory::capsule
