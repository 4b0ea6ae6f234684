#include "workflows/ab_json.h"

#include "workflows/diff_json.h"

namespace aaco::workflows {

using core::Json;

Json to_json(const AbOutcome& outcome, const AbRequest& request) {
  DiffRequest as_diff;
  as_diff.metrics.threshold_ratio = request.threshold_ratio;
  as_diff.level = request.level;
  as_diff.force = request.force;
  Json rounds = Json::array();
  for (const AbRound& round : outcome.rounds)
    rounds.push(Json::object({{"change_ratio", round.change_ratio},
                              {"pairs", round.pairs},
                              {"b_first", round.b_first},
                              {"a_median_ns", round.a_median_ns},
                              {"b_median_ns", round.b_median_ns}}));
  Json lost = Json::texts(outcome.lost_rounds);
  Json ab = Json::object({{"ended", outcome.ended},
                          {"together", outcome.together},
                          {"interrupted", outcome.interrupted},
                          {"wall_ns", outcome.wall_ns},
                          {"duration_ns", static_cast<long long>(request.duration.count())},
                          {"lost_rounds", std::move(lost)},
                          {"rounds", std::move(rounds)}});
  return to_json(outcome.verdict, as_diff).set("ab", std::move(ab));
}

}  // namespace aaco::workflows
