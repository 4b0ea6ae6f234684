#include <cmath>
#include <string>
#include <utility>

#include "estimation/calibrated.h"
#include "estimation/latency/features.h"
#include "estimation/latency/model_fit_json.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kSchemaVersion = 1;

Json strings(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const std::string& value : values) array.push(value);
  return array;
}

Json trees_json(const std::vector<stats::BoostedTrees>& trees) {
  Json array = Json::array();
  for (const stats::BoostedTrees& member : trees) array.push(member.to_json());
  return array;
}

Json bounds_json(const Bounds& bounds) {
  Json document = Json::object({{"low", bounds.low}, {"high", bounds.high}});
  if (bounds.below_ceilings) document.set("below_ceilings", true);
  if (!bounds.log_scale.empty()) document.set("log_scale", bounds.log_scale.to_json());
  return document;
}

Json quality_json(const Quality& quality) {
  return Json::object({{"rows", quality.rows},
                       {"sites", quality.sites},
                       {"mean_ape", quality.mean_error},
                       {"median_ape", quality.median_error},
                       {"p90_ape", quality.p90_error},
                       {"bias", quality.bias}});
}

tl::unexpected<core::Error> wrong(std::string_view member, std::string_view what) {
  return core::fail(ErrorCode::invalid_input, "a calibration's " + std::string(member) + " " + std::string(what),
                    "fit it again with 'aaco calibrate'");
}

core::Result<double> number(const Json& document, std::string_view member, bool may_be_negative = false) {
  const auto value = document[member].as_f64();
  if (!value || !std::isfinite(*value)) return wrong(member, "is no number");
  if (*value < 0 && !may_be_negative) return wrong(member, "is negative");
  return *value;
}

core::Result<std::string> text(const Json& document, std::string_view member) {
  auto value = document[member].as_string();
  if (!value || value->empty()) return wrong(member, "is no text");
  return *std::move(value);
}

core::Result<std::vector<std::string>> texts(const Json& document, std::string_view member) {
  std::vector<std::string> result;
  for (const Json& item : document[member].items()) {
    auto value = item.as_string();
    if (!value) return wrong(member, "is no list of texts");
    result.push_back(*std::move(value));
  }
  return result;
}

core::Result<stats::BoostedTrees> one_tree(const Json& document, std::size_t columns, std::string_view member) {
  AACO_ASSIGN(stats::BoostedTrees trees, stats::BoostedTrees::from_json(document));
  if (trees.columns() != columns)
    return wrong(member,
                 "are of " + std::to_string(trees.columns()) + " features, and this release has " + std::to_string(columns));
  return trees;
}

core::Result<std::vector<stats::BoostedTrees>> trees_of(const Json& document, std::size_t columns) {
  std::vector<stats::BoostedTrees> result;
  for (const Json& item : document["trees"].items()) {
    AACO_ASSIGN(stats::BoostedTrees trees, one_tree(item, columns, "trees"));
    result.push_back(std::move(trees));
  }
  if (result.empty()) return wrong("trees", "are missing");
  return result;
}

core::Result<Bounds> bounds_of(const Json& document, std::size_t columns) {
  const Json& member = document["bounds"];
  Bounds bounds;
  AACO_ASSIGN(bounds.low, number(member, "low", true));
  AACO_ASSIGN(bounds.high, number(member, "high", true));
  if (member.contains("below_ceilings")) {
    const auto below = member["below_ceilings"].as_bool();
    if (!below) return wrong("below_ceilings", "is neither true nor false");
    bounds.below_ceilings = *below;
  }
  if (member.contains("log_scale")) {
    AACO_ASSIGN(bounds.log_scale, one_tree(member["log_scale"], columns, "bounds"));
  }
  return bounds;
}

core::Result<Quality> quality_of(const Json& document) {
  const Json& member = document["quality"];
  Quality quality;
  AACO_ASSIGN(const double rows, number(member, "rows"));
  AACO_ASSIGN(const double sites, number(member, "sites"));
  quality.rows = static_cast<std::int64_t>(std::min(rows, 1e15));
  quality.sites = static_cast<std::int64_t>(std::min(sites, 1e15));
  AACO_ASSIGN(quality.mean_error, number(member, "mean_ape"));
  AACO_ASSIGN(quality.median_error, number(member, "median_ape"));
  AACO_ASSIGN(quality.p90_error, number(member, "p90_ape"));
  AACO_ASSIGN(quality.bias, number(member, "bias", true));
  return quality;
}

core::Result<LatencyModel> latency_of(const Json& document) {
  LatencyModel model;
  AACO_ASSIGN(model.kind, text(document, "kind"));
  AACO_ASSIGN(model.type, text(document, "type"));
  AACO_ASSIGN(model.operators, texts(document, "operators"));
  const Json& ceilings = document["ceilings"];
  AACO_ASSIGN(model.ceilings.flops_per_s, number(ceilings, "flops_per_s"));
  AACO_ASSIGN(model.ceilings.bytes_per_s, number(ceilings, "bytes_per_s"));
  AACO_ASSIGN(model.ceilings.cached_bytes_per_s, number(ceilings, "cached_bytes_per_s"));
  AACO_ASSIGN(model.ceilings.floor_s, number(ceilings, "floor_s"));
  const std::size_t columns = feature_count(model.kind);
  AACO_ASSIGN(model.trees, trees_of(document, columns));
  AACO_ASSIGN(model.bounds, bounds_of(document, columns));
  AACO_ASSIGN(model.quality, quality_of(document));
  return model;
}

Json fits_json(const std::map<std::string, ModelFit>& fits, Fitted fitted) {
  Json out = Json::object();
  for (const auto& [family, fit] : fits) out.set(family, to_json(fit, fitted));
  return out;
}

core::Result<std::map<std::string, ModelFit>> fits_of(const Json& document, Fitted fitted) {
  std::map<std::string, ModelFit> fits;
  for (const auto& [family, item] : document.members()) {
    AACO_ASSIGN(fits[family], model_fit_from_json(item, fitted));
  }
  return fits;
}

core::Result<EnergyModel> energy_of(const Json& document) {
  EnergyModel model;
  AACO_ASSIGN(model.static_watts, number(document, "static_watts"));
  AACO_ASSIGN(model.joules_per_flop, number(document, "joules_per_flop"));
  AACO_ASSIGN(model.joules_per_byte, number(document, "joules_per_byte"));
  AACO_ASSIGN(model.trees, trees_of(document, energy_feature_count()));
  AACO_ASSIGN(model.bounds, bounds_of(document, energy_feature_count()));
  AACO_ASSIGN(model.quality, quality_of(document));
  return model;
}

}  // namespace

Json to_json(const DeviceCalibration& calibration) {
  Json document = Json::object({{"schema_version", kSchemaVersion}, {"device", calibration.device}});
  const Provenance& from = calibration.provenance;
  document.set("provenance", Json::object({{"tool_version", from.tool_version},
                                           {"created", from.created},
                                           {"measurements", strings(from.measurements)},
                                           {"sources", strings(from.sources)}}));
  Json latency = Json::array();
  for (const LatencyModel& model : calibration.latency) {
    const Ceilings& best = model.ceilings;
    latency.push(Json::object({{"kind", model.kind},
                               {"type", model.type},
                               {"operators", strings(model.operators)},
                               {"ceilings", Json::object({{"flops_per_s", best.flops_per_s},
                                                          {"bytes_per_s", best.bytes_per_s},
                                                          {"cached_bytes_per_s", best.cached_bytes_per_s},
                                                          {"floor_s", best.floor_s}})},
                               {"quality", quality_json(model.quality)},
                               {"bounds", bounds_json(model.bounds)},
                               {"trees", trees_json(model.trees)}}));
  }
  document.set("latency", std::move(latency));
  Json energy = Json::object();
  for (const auto& [name, model] : calibration.energy)
    energy.set(name, Json::object({{"static_watts", model.static_watts},
                                   {"joules_per_flop", model.joules_per_flop},
                                   {"joules_per_byte", model.joules_per_byte},
                                   {"quality", quality_json(model.quality)},
                                   {"bounds", bounds_json(model.bounds)},
                                   {"trees", trees_json(model.trees)}}));
  document.set("energy", std::move(energy));
  if (!calibration.models.empty()) document.set("models", fits_json(calibration.models, Fitted::time));
  if (!calibration.memory.empty()) document.set("memory", fits_json(calibration.memory, Fitted::memory));
  return document;
}

core::Result<DeviceCalibration> calibration_from_json(const Json& document) {
  const auto version = document["schema_version"].as_i64();
  if (!version) return wrong("schema_version", "is missing");
  if (*version != kSchemaVersion)
    return core::fail(ErrorCode::unsupported,
                      "a calibration of schema version " + std::to_string(*version) + ", and this release reads " +
                          std::to_string(kSchemaVersion),
                      "fit it again with 'aaco calibrate'");
  DeviceCalibration result;
  AACO_ASSIGN(result.device, text(document, "device"));
  const Json& from = document["provenance"];
  AACO_ASSIGN(result.provenance.tool_version, text(from, "tool_version"));
  AACO_ASSIGN(result.provenance.created, text(from, "created"));
  AACO_ASSIGN(result.provenance.measurements, texts(from, "measurements"));
  AACO_ASSIGN(result.provenance.sources, texts(from, "sources"));
  for (const Json& item : document["latency"].items()) {
    AACO_ASSIGN(LatencyModel model, latency_of(item));
    result.latency.push_back(std::move(model));
  }
  for (const auto& [name, item] : document["energy"].members()) {
    AACO_ASSIGN(EnergyModel model, energy_of(item));
    result.energy.emplace(name, std::move(model));
  }
  AACO_ASSIGN(result.models, fits_of(document["models"], Fitted::time));
  AACO_ASSIGN(result.memory, fits_of(document["memory"], Fitted::memory));
  if (result.latency.empty() && result.models.empty()) return wrong("latency", "is empty");
  return result;
}

}  // namespace aaco::estimation
