#include "workflows/optimize.h"
#include "workflows/optimize/trial.h"

namespace aaco::workflows {
namespace {

using core::Json;

}  // namespace

Json to_json(const OptimizeProof& proof) {
  Json out = Json::object(
      {{"configuration", proof.configuration}, {"metric", proof.metric}, {"verdict", proof.verdict}, {"rounds", proof.rounds}});
  out.set_if("baseline", proof.baseline).set_if("candidate", proof.candidate).set_if("change_ratio", proof.change_ratio);
  if (proof.interval) out.set("interval", Json::object({{"low", proof.interval->low}, {"high", proof.interval->high}}));
  out.set_if("smallest_detectable_ratio", proof.smallest_detectable_ratio).set_if("p99_ns", proof.p99_ns);
  if (!proof.baseline_session.empty())
    out.set("baseline_session", proof.baseline_session).set("candidate_session", proof.candidate_session);
  return out;
}

Json to_json(const OptimizeOutcome& outcome, const OptimizeRequest& request) {
  Json out = Json::object({{"schema_version", 1},
                           {"model", request.base.model},
                           {"for", request.objective},
                           {"proven", outcome.proven},
                           {"summary", outcome.summary},
                           {"recommendation", outcome.recommendation},
                           {"interrupted", outcome.interrupted},
                           {"budget_ns", static_cast<long long>(request.budget.count())},
                           {"wall_ns", outcome.wall_ns},
                           {"threshold_ratio", request.threshold_ratio},
                           {"inputs", outcome.inputs},
                           {"baseline", outcome.baseline},
                           {"counts", Json::object({{"configurations", outcome.configurations},
                                                    {"tried", outcome.tried},
                                                    {"failed", outcome.failed},
                                                    {"out_of_tolerance", outcome.out_of_tolerance},
                                                    {"out_of_slo", outcome.out_of_slo},
                                                    {"resumed", outcome.resumed},
                                                    {"untried", outcome.untried}})}});
  if (outcome.proof) out.set("proof", to_json(*outcome.proof));
  if (outcome.offered)
    out.set("offered", Json::object({{"configuration", outcome.offered->configuration},
                                     {"change_ratio", outcome.offered->change_ratio},
                                     {"reason", outcome.offered->reason}})
                           .set_if("agreement", outcome.offered->agreement ? to_json(*outcome.offered->agreement) : Json()));
  Json parts = Json::array();
  for (const OptimizePart& part : outcome.parts)
    parts.push(Json::object({{"change", part.change}, {"without_ratio", part.without_ratio}}));
  if (!outcome.parts.empty()) out.set("parts", std::move(parts));
  out.set("space", outcome.space).set("trials", outcome.trials).set("folder", request.folder);
  out.set("files", Json::texts(outcome.files));
  if (outcome.session) out.set("session", outcome.session->manifest.id.text);
  return out;
}

}  // namespace aaco::workflows
