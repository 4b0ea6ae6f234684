#include "report/rates.h"

#include <fmt/format.h>

#include "core/numbers.h"
#include "report/analysis.h"

namespace aaco::report {
namespace {

using estimation::Estimate;

Estimate rate(const Estimate& latency, double count) {
  const auto per_second = [count](double ns) { return ns > 0 ? count / (ns * 1e-9) : 0; };
  return {per_second(latency.value), "1/s", latency.level, latency.source, per_second(latency.upper), per_second(latency.lower)};
}

std::optional<Estimate> share(const std::optional<Estimate>& energy, double factor) {
  if (!energy) return std::nullopt;
  return Estimate{energy->value * factor, energy->unit,           energy->level,
                  energy->source,         energy->lower * factor, energy->upper * factor};
}

}  // namespace

std::string rate_text(double per_second) {
  return per_second >= 100 ? core::format_count(per_second) : fmt::format("{:.3g}", per_second);
}

Rates rates_of(const AnalysisReport& report, double items, double devices) {
  const estimation::GraphEstimate& e = report.estimate;
  Rates out;
  out.items_per_s = rate(e.latency, items);
  out.joules_per_item = share(e.energy, devices / items);
  if (!report.tokens) return out;
  const double tokens = static_cast<double>(report.tokens->count) * items / static_cast<double>(report.batch);
  out.tokens_per_s = rate(e.latency, tokens);
  out.joules_per_token = share(e.energy, devices / tokens);
  return out;
}

Rates rates_of(const AnalysisReport& report) { return rates_of(report, static_cast<double>(report.batch), 1); }

core::Json to_json(const Rates& rates) {
  core::Json out = core::Json::object({{"items_per_s", to_json(rates.items_per_s)}});
  const auto add = [&out](const char* name, const std::optional<Estimate>& one) {
    if (one) out.set(name, to_json(*one));
  };
  add("joules_per_item", rates.joules_per_item);
  add("tokens_per_s", rates.tokens_per_s);
  add("joules_per_token", rates.joules_per_token);
  return out;
}

}  // namespace aaco::report
