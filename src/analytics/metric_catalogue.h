#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/yaml.h"

// Definitions of the published metrics: data/metrics, one definition per id.
namespace aaco::analytics::metrics {

enum class Direction { none, lower_is_better, higher_is_better };

// A named range of a metric's values. Ranges are in ascending order; the last one has no bound.
struct Band {
  std::string name;  // "excellent"
  std::optional<double> bound;
  bool bound_inclusive = false;  // a value equal to the bound belongs to this band
  bool operator==(const Band&) const = default;
};

struct MetricDefinition {
  std::string id;     // "latency.p50_ns"
  std::string title;  // "Median latency"
  std::string unit;   // as in trace::MetricValue::unit
  Direction direction = Direction::none;
  std::string formula;  // how the value is computed from the tables
  std::string meaning;  // one sentence
  std::string source;   // who defined it; "AACO" for our own
  bool per_device = false;
  std::vector<Band> bands;  // may be empty
  bool operator==(const MetricDefinition&) const = default;
};

// The definitions by id. Immutable once loaded.
class MetricCatalogue {
 public:
  // Every *.yaml of a folder (data/metrics). Fails, with file and line, on an unknown key, unit or direction, an id that occurs
  // twice or does not end in its unit, and bands not in ascending order.
  static core::Result<MetricCatalogue> load(const std::string& folder);
  // The definitions of one parsed document, added to these.
  core::Status add(const core::YamlNode& document);

  // The definition, or null.
  [[nodiscard]] const MetricDefinition* find(std::string_view id) const;
  [[nodiscard]] const std::vector<MetricDefinition>& definitions() const { return definitions_; }  // sorted by id

 private:
  std::vector<MetricDefinition> definitions_;
};

// The band of a value, or null if the metric has no bands.
const Band* band_of(const MetricDefinition& definition, double value);

}  // namespace aaco::analytics::metrics
