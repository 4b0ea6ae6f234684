#include "hardware/registry/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/strings.h"

namespace aaco::hardware::registry {
namespace {

using core::YamlNode;

struct UnitFactor {
  std::string_view name;
  double factor;
};
constexpr double kKibi = 1024;
constexpr UnitFactor kFrequency[] = {{"MHz", 1e6}, {"GHz", 1e9}, {"kHz", 1e3}, {"Hz", 1}};
constexpr UnitFactor kBytes[] = {{"B", 1},    {"KiB", kKibi}, {"MiB", kKibi* kKibi}, {"GiB", kKibi* kKibi* kKibi}, {"kB", 1e3},
                                 {"MB", 1e6}, {"GB", 1e9}};
constexpr UnitFactor kRate[] = {{"GB/s", 1e9}, {"TB/s", 1e12}, {"MB/s", 1e6}};
constexpr UnitFactor kBits[] = {{"bit", 1}};
constexpr UnitFactor kTransfers[] = {{"MT/s", 1e6}, {"GT/s", 1e9}};
constexpr UnitFactor kOps[] = {{"TFLOP/s", 1e12}, {"TOP/s", 1e12}, {"GFLOP/s", 1e9}, {"GOP/s", 1e9}, {"PFLOP/s", 1e15}};
constexpr UnitFactor kPower[] = {{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}};

std::span<const UnitFactor> units_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::frequency: return kFrequency;
    case Quantity::bytes: return kBytes;
    case Quantity::bytes_per_s: return kRate;
    case Quantity::bits: return kBits;
    case Quantity::transfers_per_s: return kTransfers;
    case Quantity::ops_per_s: return kOps;
    case Quantity::power: return kPower;
    case Quantity::count:
    case Quantity::ratio: break;
  }
  return {};
}

// In base units, far beyond what is built on both sides: a slip of a digit or a unit, or a number that arithmetic cannot carry.
struct Range {
  double least = 0, most = 0;
};

Range range_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::count:
    case Quantity::bits: return {1, 1 << 20};
    case Quantity::frequency:
    case Quantity::transfers_per_s: return {1e3, 1e12};
    case Quantity::bytes: return {1, 1e18};
    case Quantity::bytes_per_s: return {1e3, 1e18};
    case Quantity::ops_per_s: return {1e3, 1e24};
    case Quantity::power: return {1e-6, 1e6};
    case Quantity::ratio: return {0, 1};
  }
  return {};
}

}  // namespace

core::Status check_value(const YamlNode& node, double value, double factor, Quantity quantity) {
  if (value <= 0) return node.error("the value is " + node.scalar() + "; figures must be above 0");
  const Range range = range_of(quantity);
  if (quantity == Quantity::ratio && value > range.most) return node.error("a ratio of " + node.scalar() + " is above 1");
  if (value * factor < range.least || value * factor > range.most)
    return node.error(
        fmt::format("the value {} is implausible (expected {:g} to {:g} in base units)", node.scalar(), range.least, range.most),
        "check the digits and the unit");
  if (quantity == Quantity::count && value != std::floor(value)) return node.error("'" + node.scalar() + "' is not an integer");
  return {};
}

core::Result<double> factor_of(Quantity quantity, const YamlNode& unit) {
  std::vector<std::string_view> names;
  for (const UnitFactor& known : units_of(quantity)) {
    if (known.name == unit.scalar()) return known.factor;
    names.push_back(known.name);
  }
  return unit.error("'" + unit.scalar() + "' is not a valid unit for this figure", "use one of: " + core::join(names, ", "));
}

core::Status check_source(const YamlNode& node, std::string_view source, const std::vector<Source>& sources) {
  std::vector<std::string_view> names;
  for (const Source& known : sources) {
    if (known.name == source) return {};
    names.push_back(known.name);
  }
  return node.error("the source '" + std::string(source) + "' is not declared in this entry",
                    "declare it under sources, or use one of: " + core::join(names, ", "));
}

core::Result<Figure> read_figure(const YamlNode& node, Quantity quantity, const std::vector<Source>& sources) {
  if (!node.is_mapping()) return node.error("a figure must be a mapping", "example: {value: 300, unit: W, source: datasheet}");
  const bool has_unit = !units_of(quantity).empty();
  AACO_TRY(has_unit ? node.only_keys({"value", "unit", "source", "others"}) : node.only_keys({"value", "source", "others"}));
  double factor = 1;
  if (has_unit) {
    AACO_ASSIGN(const YamlNode* unit, node.require("unit"));
    AACO_ASSIGN(factor, factor_of(quantity, *unit));
  }
  Figure figure;
  AACO_ASSIGN(const double value, node.require_f64("value"));
  AACO_TRY(check_value(*node.find("value"), value, factor, quantity));
  figure.value = value * factor;
  AACO_ASSIGN(figure.source, node.require_string("source"));
  AACO_TRY(check_source(*node.find("source"), figure.source, sources));
  const YamlNode* others = node.find("others");
  if (others == nullptr) return figure;
  if (!others->is_sequence()) return others->error("others must be a list", "example: [{value: 310, source: whitepaper}]");
  for (const YamlNode& item : others->items()) {
    if (!item.is_mapping()) return item.error("a reading must be a mapping", "example: {value: 310, source: whitepaper}");
    AACO_TRY(item.only_keys({"value", "source"}));
    OtherReading other;
    AACO_ASSIGN(const double reading, item.require_f64("value"));
    AACO_TRY(check_value(*item.find("value"), reading, factor, quantity));
    other.value = reading * factor;
    AACO_ASSIGN(other.source, item.require_string("source"));
    AACO_TRY(check_source(item, other.source, sources));
    figure.others.push_back(std::move(other));
  }
  return figure;
}

core::Result<std::optional<Figure>> read_optional_figure(const YamlNode& parent, std::string_view key, Quantity quantity,
                                                         const std::vector<Source>& sources) {
  const YamlNode* node = parent.find(key);
  if (node == nullptr) return std::optional<Figure>();
  AACO_ASSIGN(Figure figure, read_figure(*node, quantity, sources));
  return std::optional(std::move(figure));
}

}  // namespace aaco::hardware::registry
