#include "estimation/latency/model_fit_json.h"

#include <algorithm>

#include "estimation/latency/calibration_member.h"

namespace aaco::estimation {
namespace {

using core::Json;

core::Result<std::int64_t> count(const Json& document, const std::string& member) {
  AACO_ASSIGN(const double value, number(document, member));
  return static_cast<std::int64_t>(std::min(value, 1e15));
}

// Empty for places that are no term.
std::string term_name(std::size_t place, Fitted fitted) {
  const auto value = static_cast<std::uint8_t>(place);
  return std::string(fitted == Fitted::time ? to_string(static_cast<Term>(value)) : to_string(static_cast<MemoryTerm>(value)));
}

}  // namespace

std::string_view to_string(MemoryTerm term) {
  switch (term) {
    case MemoryTerm::product_weights: return "product_weights";
    case MemoryTerm::convolution_weights: return "convolution_weights";
    case MemoryTerm::other_weights: return "other_weights";
    case MemoryTerm::cache: return "cache";
    case MemoryTerm::activations: return "activations";
    case MemoryTerm::nodes: return "nodes";
    case MemoryTerm::runtime: return "runtime";
  }
  return {};
}

std::string_view to_string(Term term) {
  switch (term) {
    case Term::product: return "product";
    case Term::convolution: return "convolution";
    case Term::wide: return "wide";
    case Term::weights: return "weights";
    case Term::streamed: return "streamed";
    case Term::operands: return "operands";
    case Term::grouped: return "grouped";
    case Term::moved: return "moved";
    case Term::issue: return "issue";
    case Term::update: return "update";
  }
  return "unknown";
}

Json to_json(const ModelFit& fit, Fitted fitted) {
  Json coefficients = Json::object(), devices = Json::object();
  for (std::size_t i = 0; i < kTerms; ++i)
    if (const std::string name = term_name(i, fitted); !name.empty()) coefficients.set(name, fit.coefficients[i]);
  for (const auto& [name, factor] : fit.devices) devices.set(name, factor);
  Json quality = Json::object({{"rows", fit.quality.rows}, {"models", fit.quality.sites}});
  if (fit.quality.tested())
    quality.set("mean_ape", fit.quality.mean_error)
        .set("median_ape", fit.quality.median_error)
        .set("p90_ape", fit.quality.p90_error)
        .set("bias", fit.quality.bias);
  return Json::object({{"coefficients", std::move(coefficients)},
                       {"devices", std::move(devices)},
                       {"training", fit.training},
                       {"bounds", Json::object({{"low", fit.low}, {"high", fit.high}})},
                       {"quality", std::move(quality)}});
}

core::Result<ModelFit> model_fit_from_json(const Json& document, Fitted fitted) {
  ModelFit fit;
  for (std::size_t i = 0; i < kTerms; ++i) {
    const std::string name = term_name(i, fitted);
    if (name.empty()) continue;
    AACO_ASSIGN(fit.coefficients[i], number(document["coefficients"], name));
  }
  for (const auto& [name, value] : document["devices"].members()) {
    AACO_ASSIGN(fit.devices[name], number(document["devices"], name));
  }
  AACO_ASSIGN(fit.training, number(document, "training"));
  AACO_ASSIGN(fit.low, number(document["bounds"], "low", true));
  AACO_ASSIGN(fit.high, number(document["bounds"], "high", true));
  const Json& quality = document["quality"];
  AACO_ASSIGN(fit.quality.rows, count(quality, "rows"));
  AACO_ASSIGN(fit.quality.sites, count(quality, "models"));
  if (!fit.quality.tested()) return fit;
  AACO_ASSIGN(fit.quality.mean_error, number(quality, "mean_ape"));
  AACO_ASSIGN(fit.quality.median_error, number(quality, "median_ape"));
  AACO_ASSIGN(fit.quality.p90_error, number(quality, "p90_ape"));
  AACO_ASSIGN(fit.quality.bias, number(quality, "bias", true));
  return fit;
}

}  // namespace aaco::estimation
