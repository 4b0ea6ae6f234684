#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <tuple>

#include "analytics/metric_catalogue.h"
#include "core/files.h"
#include "core/strings.h"

namespace aaco::analytics::metrics {
namespace {

using core::Result;
using core::Status;
using core::YamlNode;

constexpr std::int64_t kSchemaVersion = 1;

struct Unit {
  std::string_view name;
  std::string_view id_ending;  // what an id of this unit ends in; empty: anything
};
constexpr std::array kUnits = {
    Unit{"ns", "_ns"},
    Unit{"bytes", "_bytes"},
    Unit{"ratio", "_ratio"},
    Unit{"Hz", "_hz"},
    Unit{"W", "_watts"},
    Unit{"J", "joules"},
    Unit{"celsius", "_celsius"},
    Unit{"1/s", "_per_second"},
    Unit{"bytes/s", "_bytes_per_second"},
    Unit{"cores", "_cores"},
    Unit{"count", ""},
    Unit{"price", ""},  // in the currency of --price
    Unit{"", ""},
    Unit{"flop/s", "_flops_per_second"},
};

Status check_unit(const YamlNode& node, const MetricDefinition& definition) {
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& known) { return known.name == definition.unit; });
  if (unit == kUnits.end()) return node.error("unknown unit '" + definition.unit + "'");
  if (!definition.id.ends_with(unit->id_ending))
    return node.error("the id " + definition.id + " must end in " + std::string(unit->id_ending) + " because its unit is " +
                      definition.unit);
  return {};
}

Result<Direction> parse_direction(const YamlNode& node) {
  AACO_ASSIGN(const std::string text, node.require_string("direction"));
  if (text == "none") return Direction::none;
  if (text == "lower") return Direction::lower_is_better;
  if (text == "higher") return Direction::higher_is_better;
  return node.error("direction '" + text + "' is invalid; use lower, higher or none");
}

Result<Band> parse_band(const YamlNode& node) {
  AACO_TRY(node.only_keys({"name", "below", "up_to"}));
  Band band;
  AACO_ASSIGN(band.name, node.require_string("name"));
  AACO_ASSIGN(const std::optional<double> below, node.optional_f64("below"));
  AACO_ASSIGN(const std::optional<double> up_to, node.optional_f64("up_to"));
  if (below && up_to) return node.error("a band takes only one bound: below (exclusive) or up_to (inclusive)");
  band.bound = below ? below : up_to;
  band.bound_inclusive = up_to.has_value();
  return band;
}

Result<std::vector<Band>> parse_bands(const YamlNode& list) {
  if (!list.is_sequence()) return list.error("bands must be a list");
  std::vector<Band> bands;
  for (const YamlNode& item : list.items()) {
    AACO_ASSIGN(Band band, parse_band(item));
    const bool last = &item == &list.items().back();
    if (band.bound.has_value() == last)
      return item.error("every band except the last needs a bound, and the last must have none");
    if (band.bound && !bands.empty() && *band.bound <= *bands.back().bound) return item.error("bands must be in ascending order");
    bands.push_back(std::move(band));
  }
  return bands;
}

Result<MetricDefinition> parse_definition(const YamlNode& node) {
  if (!node.is_mapping()) return node.error("a metric must be a mapping");
  AACO_TRY(node.only_keys({"id", "title", "unit", "direction", "formula", "meaning", "source", "per_device", "bands"}));
  MetricDefinition definition;
  AACO_ASSIGN(definition.id, node.require_string("id"));
  AACO_ASSIGN(definition.title, node.require_string("title"));
  AACO_ASSIGN(definition.unit, node.require_string("unit"));
  AACO_ASSIGN(definition.direction, parse_direction(node));
  AACO_ASSIGN(definition.formula, node.require_string("formula"));
  AACO_ASSIGN(definition.meaning, node.require_string("meaning"));
  AACO_ASSIGN(definition.source, node.require_string("source"));
  AACO_ASSIGN(const std::optional<bool> per_device, node.optional_bool("per_device"));
  definition.per_device = per_device.value_or(false);
  if (const YamlNode* bands = node.find("bands")) {
    AACO_ASSIGN(definition.bands, parse_bands(*bands));
  }
  if (definition.id.find('.') == std::string::npos)
    return node.error("the id " + definition.id + " has no group; expected group.name_unit");
  if (definition.title.empty() || definition.formula.empty() || definition.meaning.empty() || definition.source.empty())
    return node.error("the title, formula, meaning and source of " + definition.id + " must not be empty");
  AACO_TRY(check_unit(node, definition));
  return definition;
}

// The files of a folder, and what tells whether they have changed.
using Stamp = std::vector<std::tuple<std::string, std::uintmax_t, std::filesystem::file_time_type>>;

Stamp stamp_of(const std::string& folder, const std::vector<std::string>& files) {
  Stamp stamp;
  for (const std::string& file : files) {
    const std::filesystem::path path = core::join_path(folder, file);
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    stamp.emplace_back(file, size, std::filesystem::last_write_time(path, unknown));
  }
  return stamp;
}

bool id_less(const MetricDefinition& definition, std::string_view id) { return definition.id < id; }

}  // namespace

// A use case asks for the definitions several times, and parsing them takes 20 ms: the last ones read are kept.
Result<MetricCatalogue> MetricCatalogue::load(const std::string& folder) {
  struct Kept {
    std::mutex mutex;
    std::string folder;
    Stamp stamp;
    MetricCatalogue catalogue;
  };
  static auto* const kept = new Kept;  // stays: another thread may still read when main() returns
  AACO_ASSIGN(const std::vector<std::string> files, core::list_directory(folder));
  const Stamp stamp = stamp_of(folder, files);
  const std::lock_guard lock(kept->mutex);
  if (kept->folder == folder && kept->stamp == stamp) return kept->catalogue;
  MetricCatalogue catalogue;
  for (const std::string& file : files) {
    if (!file.ends_with(".yaml")) continue;
    AACO_ASSIGN(const YamlNode document, YamlNode::load(core::join_path(folder, file)));
    AACO_TRY(catalogue.add(document));
  }
  if (catalogue.definitions_.empty())
    return core::fail(core::ErrorCode::not_found, folder + ": no metric definitions found",
                      "install AACO's data folder, or set AACO_SHARE to it");
  kept->folder = folder;
  kept->stamp = stamp;
  kept->catalogue = catalogue;
  return catalogue;
}

Status MetricCatalogue::add(const YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "metrics"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != kSchemaVersion)
    return document.error("schema " + std::to_string(schema) + " is not supported; this version reads schema 1");
  AACO_ASSIGN(const YamlNode* metrics, document.require("metrics"));
  if (!metrics->is_sequence()) return metrics->error("metrics must be a list");
  for (const YamlNode& node : metrics->items()) {
    AACO_ASSIGN(MetricDefinition definition, parse_definition(node));
    const auto place = std::lower_bound(definitions_.begin(), definitions_.end(), definition.id, id_less);
    if (place != definitions_.end() && place->id == definition.id) return node.error("duplicate metric " + definition.id);
    definitions_.insert(place, std::move(definition));
  }
  return {};
}

const MetricDefinition* MetricCatalogue::find(std::string_view id) const {
  const auto place = std::lower_bound(definitions_.begin(), definitions_.end(), id, id_less);
  return place != definitions_.end() && place->id == id ? &*place : nullptr;
}

const Band* band_of(const MetricDefinition& definition, double value) {
  for (const Band& band : definition.bands)
    if (!band.bound || value < *band.bound || (band.bound_inclusive && value == *band.bound)) return &band;
  return nullptr;
}

}  // namespace aaco::analytics::metrics
