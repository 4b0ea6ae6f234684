#include "report/search_section.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const Search::Trial& trial) {
  Json out = Json::object({{"label", trial.label}, {"outcome", trial.outcome}, {"pareto", trial.pareto}});
  if (!trial.reason.empty()) out.set("reason", trial.reason);
  return out.set_if("median_ns", trial.median_ns)
      .set_if("p99_ns", trial.p99_ns)
      .set_if("items_per_second", trial.items_per_second)
      .set_if("rss_peak_bytes", trial.rss_peak_bytes)
      .set_if("output_error_ratio", trial.output_error_ratio)
      .set_if("change_ratio", trial.change_ratio);
}

Json to_json(const Search::Proof& proof) {
  return Json::object({{"configuration", proof.configuration},
                       {"metric", proof.metric},
                       {"verdict", proof.verdict},
                       {"change_ratio", proof.change_ratio},
                       {"rounds", proof.rounds}})
      .set_if("low_ratio", proof.low)
      .set_if("high_ratio", proof.high)
      .set_if("smallest_detectable_ratio", proof.smallest_detectable_ratio);
}

}  // namespace

Json to_json(const Search& section) {
  Json trials = Json::array(), parts = Json::array();
  for (const Search::Trial& trial : section.trials) trials.push(to_json(trial));
  for (const Search::Part& part : section.parts)
    parts.push(Json::object({{"change", part.change}, {"without_ratio", part.without_ratio}}));
  Json out = Json::object({{"objective", section.objective},
                           {"summary", section.summary},
                           {"recommendation", section.recommendation},
                           {"inputs", section.inputs},
                           {"configurations", section.configurations},
                           {"tried", section.tried},
                           {"failed", section.failed},
                           {"out_of_tolerance", section.out_of_tolerance}});
  if (section.proof) out.set("proof", to_json(*section.proof));
  return out.set("parts", std::move(parts)).set("trials", std::move(trials));
}

}  // namespace aaco::report
