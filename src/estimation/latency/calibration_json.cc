#include "estimation/latency/calibration_json.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "estimation/calibration_file.h"
#include "estimation/latency/calibration_member.h"
#include "estimation/latency/features.h"
#include "estimation/latency/model_fit_json.h"
#include "estimation/latency/probe.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using core::Json;

constexpr double kMaxElsewhere = 10;  // of a logarithm: beyond it the figure is damaged

Json bounds_json(const Bounds& bounds) {
  Json document = Json::object({{"low", bounds.low}, {"high", bounds.high}});
  if (bounds.below_ceilings) document.set("below_ceilings", true);
  if (bounds.elsewhere > 0) document.set("elsewhere", bounds.elsewhere);
  return document;
}

Json quality_json(const Quality& quality) {
  Json document = Json::object({{"rows", quality.rows}, {"sites", quality.sites}});
  if (!quality.tested()) return document;
  return document.set("mean_ape", quality.mean_error)
      .set("median_ape", quality.median_error)
      .set("p90_ape", quality.p90_error)
      .set("bias", quality.bias);
}

core::Result<std::vector<std::string>> texts(const Json& document, std::string_view member) {
  std::vector<std::string> result;
  for (const Json& item : document[member].items()) {
    auto value = item.as_string();
    if (!value) return wrong_member(member, "is not a list of strings");
    result.push_back(*std::move(value));
  }
  return result;
}

core::Result<Bounds> bounds_of(const Json& document) {
  const Json& member = document["bounds"];
  Bounds bounds;
  AACO_ASSIGN(bounds.low, number(member, "low", true));
  AACO_ASSIGN(bounds.high, number(member, "high", true));
  if (member.contains("below_ceilings")) {
    const auto below = member["below_ceilings"].as_bool();
    if (!below) return wrong_member("below_ceilings", "is not a boolean (true or false)");
    bounds.below_ceilings = *below;
  }
  if (member.contains("elsewhere")) {
    AACO_ASSIGN(bounds.elsewhere, number(member, "elsewhere"));
    if (bounds.elsewhere > kMaxElsewhere) return wrong_member("elsewhere", "is too large");
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
  if (!quality.tested()) return quality;
  AACO_ASSIGN(quality.mean_error, number(member, "mean_ape"));
  AACO_ASSIGN(quality.median_error, number(member, "median_ape"));
  AACO_ASSIGN(quality.p90_error, number(member, "p90_ape"));
  AACO_ASSIGN(quality.bias, number(member, "bias", true));
  return quality;
}

// Rows by class; what is absent is not known.
core::Result<std::map<std::string, std::int64_t>> classes_of(const Json& document) {
  std::map<std::string, std::int64_t> classes;
  for (const auto& [name, rows] : document["classes"].members()) {
    const auto count = rows.as_i64();
    if (!count || *count < 0) return wrong_member("classes", "have a count that is not valid");
    classes.emplace(name, *count);
  }
  return classes;
}

// [floor_s, compute, memory] of each operator; absent: none.
core::Result<std::vector<ProgramCost>> programs_of(const Json& document, std::size_t operators) {
  std::vector<ProgramCost> programs;
  for (const Json& item : document["programs"].items()) {
    const auto& values = item.items();
    ProgramCost cost;
    if (values.size() != 3) return wrong_member("programs", "do not have three coefficients");
    for (const auto& [value, into] : {std::pair{values[0].as_f64(), &cost.floor_s}, std::pair{values[1].as_f64(), &cost.compute},
                                      std::pair{values[2].as_f64(), &cost.memory}}) {
      if (!value || !std::isfinite(*value) || !(*value > 0))
        return wrong_member("programs", "have a coefficient that is not above 0");
      *into = *value;
    }
    programs.push_back(cost);
  }
  if (!programs.empty() && programs.size() != operators) return wrong_member("programs", "are not as many as the operators");
  return programs;
}

core::Result<LatencyModel> latency_of(const Json& document) {
  LatencyModel model;
  AACO_ASSIGN(model.kind, text(document, "kind"));
  AACO_ASSIGN(model.type, text(document, "type"));
  AACO_ASSIGN(model.operators, texts(document, "operators"));
  AACO_ASSIGN(model.programs, programs_of(document, model.operators.size()));
  AACO_ASSIGN(model.classes, classes_of(document));
  const Json& ceilings = document["ceilings"];
  AACO_ASSIGN(model.ceilings.flops_per_s, number(ceilings, "flops_per_s"));
  AACO_ASSIGN(model.ceilings.bytes_per_s, number(ceilings, "bytes_per_s"));
  AACO_ASSIGN(model.ceilings.cached_bytes_per_s, number(ceilings, "cached_bytes_per_s"));
  AACO_ASSIGN(model.ceilings.floor_s, number(ceilings, "floor_s"));
  if (document.contains("extent")) {
    const Json& extent = document["extent"];
    AACO_ASSIGN(model.extent.least_seconds, number(extent, "least_seconds"));
    AACO_ASSIGN(model.extent.most_seconds, number(extent, "most_seconds"));
    AACO_ASSIGN(model.extent.least_intensity, number(extent, "least_intensity"));
    AACO_ASSIGN(model.extent.most_intensity, number(extent, "most_intensity"));
  }
  AACO_ASSIGN(model.bounds, bounds_of(document));
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
  if (!(model.static_watts > 0) && !(model.joules_per_flop > 0) && !(model.joules_per_byte > 0))
    return wrong_member("energy", "has no coefficient above 0");
  AACO_ASSIGN(model.bounds, bounds_of(document));
  AACO_ASSIGN(model.quality, quality_of(document));
  return model;
}

Json latency_json(const LatencyModel& model) {
  const Ceilings& best = model.ceilings;
  const Extent& seen = model.extent;
  Json classes = Json::object();
  for (const auto& [name, rows] : model.classes) classes.set(name, rows);
  Json document = Json::object({{"kind", model.kind},
                                {"type", model.type},
                                {"operators", Json::texts(model.operators)},
                                {"classes", std::move(classes)},
                                {"ceilings", Json::object({{"flops_per_s", best.flops_per_s},
                                                           {"bytes_per_s", best.bytes_per_s},
                                                           {"cached_bytes_per_s", best.cached_bytes_per_s},
                                                           {"floor_s", best.floor_s}})},
                                {"extent", Json::object({{"least_seconds", seen.least_seconds},
                                                         {"most_seconds", seen.most_seconds},
                                                         {"least_intensity", seen.least_intensity},
                                                         {"most_intensity", seen.most_intensity}})},
                                {"quality", quality_json(model.quality)},
                                {"bounds", bounds_json(model.bounds)}});
  if (model.programs.empty()) return document;
  Json programs = Json::array();
  for (const ProgramCost& cost : model.programs) programs.push(Json::array({cost.floor_s, cost.compute, cost.memory}));
  return document.set("programs", std::move(programs));
}

Json energy_json(const EnergyModel& model) {
  return Json::object({{"static_watts", model.static_watts},
                       {"joules_per_flop", model.joules_per_flop},
                       {"joules_per_byte", model.joules_per_byte},
                       {"quality", quality_json(model.quality)},
                       {"bounds", bounds_json(model.bounds)}});
}

// `head`: where the trees lie; null: not told.
Json document_of(const DeviceCalibration& calibration, const CalibrationHead* head) {
  const Provenance& from = calibration.provenance;
  Json document = Json::object({{"device", calibration.device},
                                {"provenance", Json::object({{"tool_version", from.tool_version},
                                                             {"created", from.created},
                                                             {"measurements", Json::texts(from.measurements)},
                                                             {"sources", Json::texts(from.sources)}})}});
  if (!from.licences.empty()) {
    Json provenance = document["provenance"];
    document.set("provenance", provenance.set("licences", Json::texts(from.licences)));
  }
  Json latency = Json::array(), energy = Json::object();
  for (std::size_t i = 0; i < calibration.latency.size(); ++i) {
    Json item = latency_json(calibration.latency[i]);
    if (head != nullptr) item.set("learnt", section_json(head->latency[i]));
    latency.push(std::move(item));
  }
  for (const auto& [name, model] : calibration.energy) {
    Json item = energy_json(model);
    if (head != nullptr) item.set("learnt", section_json(head->energy.at(name)));
    energy.set(name, std::move(item));
  }
  document.set("latency", std::move(latency)).set("energy", std::move(energy));
  if (!calibration.models.empty()) document.set("models", fits_json(calibration.models, Fitted::time));
  if (!calibration.memory.empty()) document.set("memory", fits_json(calibration.memory, Fitted::memory));
  return document;
}

}  // namespace

Json to_json(const DeviceCalibration& calibration) { return document_of(calibration, nullptr); }

Json head_to_json(const CalibrationHead& head) { return document_of(head.calibration, &head); }

core::Result<CalibrationHead> head_from_json(const Json& document) {
  CalibrationHead head;
  DeviceCalibration& result = head.calibration;
  AACO_ASSIGN(result.device, text(document, "device"));
  const Json& from = document["provenance"];
  AACO_ASSIGN(result.provenance.tool_version, text(from, "tool_version"));
  AACO_ASSIGN(result.provenance.created, text(from, "created"));
  AACO_ASSIGN(result.provenance.measurements, texts(from, "measurements"));
  AACO_ASSIGN(result.provenance.sources, texts(from, "sources"));
  AACO_ASSIGN(result.provenance.licences, texts(from, "licences"));
  for (const Json& item : document["latency"].items()) {
    AACO_ASSIGN(LatencyModel model, latency_of(item));
    AACO_ASSIGN(Section section, section_of(item, feature_count(model.kind), probe_of(model.kind, model.type)));
    result.latency.push_back(std::move(model));
    head.latency.push_back(std::move(section));
  }
  for (const auto& [name, item] : document["energy"].members()) {
    AACO_ASSIGN(EnergyModel model, energy_of(item));
    AACO_ASSIGN(Section section, section_of(item, energy_feature_count(), energy_probe()));
    result.energy.emplace(name, std::move(model));
    head.energy.emplace(name, std::move(section));
  }
  AACO_ASSIGN(result.models, fits_of(document["models"], Fitted::time));
  AACO_ASSIGN(result.memory, fits_of(document["memory"], Fitted::memory));
  if (result.latency.empty() && result.models.empty()) return wrong_member("latency", "is empty");
  const auto compact = [](const auto& sections, auto section) {
    return std::any_of(sections.begin(), sections.end(),
                       [&](const auto& each) { return section(each).members.front().form == kCompactForm; });
  };
  result.compact = compact(head.latency, [](const Section& each) -> const Section& { return each; }) ||
                   compact(head.energy, [](const auto& named) -> const Section& { return named.second; });
  return head;
}

}  // namespace aaco::estimation
