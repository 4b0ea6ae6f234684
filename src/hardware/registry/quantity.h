#pragma once

#include <string_view>

#include "core/result.h"
#include "core/yaml.h"
#include "hardware/device.h"

namespace aaco::hardware::registry {

enum class Quantity { count, frequency, bytes, bytes_per_s, bits, transfers_per_s, ops_per_s, power, ratio };

// The factor from `unit` to the base unit of the quantity; the error lists the units that fit.
core::Result<double> factor_of(Quantity quantity, const core::YamlNode& unit);

// That `value` times `factor` is a figure that a device may have: above zero, not beyond all that is built, a count whole.
core::Status check_value(const core::YamlNode& node, double value, double factor, Quantity quantity);

// {value: 5.3, unit: TB/s, source: datasheet, others: [{value: 5.325, source: whitepaper}]}; see check_value (a ratio: 0 to 1). A
// count and a ratio have no unit. The sources must be among `sources`.
core::Result<Figure> read_figure(const core::YamlNode& node, Quantity quantity, const std::vector<Source>& sources);
// The member `key`, or empty where it is not written.
core::Result<std::optional<Figure>> read_optional_figure(const core::YamlNode& parent, std::string_view key, Quantity quantity,
                                                         const std::vector<Source>& sources);
// That `source` is declared in the entry.
core::Status check_source(const core::YamlNode& node, std::string_view source, const std::vector<Source>& sources);

}  // namespace aaco::hardware::registry
