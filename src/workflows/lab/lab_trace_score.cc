#include "workflows/lab_trace_score.h"

#include <algorithm>
#include <cmath>

#include "tracelake/bundle.h"
#include "workflows/diff.h"

namespace aaco::workflows {
namespace {

using core::Json;
using laboratory::scoring::Prediction;

// The ranking of causes that a verdict has.
std::vector<analytics::bottleneck::ClassScore> ranking_of(const DiffOutcome& outcome) {
  std::vector<analytics::bottleneck::ClassScore> ranking;
  if (!outcome.cause) return ranking;
  for (const Json& one : outcome.cause->details["causes"].items())
    ranking.push_back({std::string(one["cause"].text()), one["probability_ratio"].as_f64().value_or(0)});
  return ranking;
}

void count(const DiffOutcome& outcome, Prediction prediction, std::vector<Prediction>& predictions, LabTraceScore& score) {
  if (outcome.verdict == "equivalent") {
    ++score.without_effect;
  } else if (outcome.verdict == "improvement") {
    ++score.wrong_direction;
  } else if (outcome.verdict != "regression") {
    ++score.undecided;
  } else {
    prediction.ranking = ranking_of(outcome);
    // A simulated trace has no clock: kernels that changed alike are all that can be seen of it.
    if (prediction.truth == "clock_throttling")
      for (auto& one : prediction.ranking)
        if (one.class_id == "kernels_alike") one.class_id = "clock_throttling";
    if (prediction.ranking.empty()) prediction.ranking.push_back({"none", 1});  // a regression without a cause is wrong
    predictions.push_back(std::move(prediction));
    if (outcome.cause)
      if (const auto share = outcome.cause->details["decomposition"]["unexplained_ratio"].as_f64())
        score.unexplained.push_back(std::abs(*share));
  }
}

}  // namespace

core::Result<LabTraceScore> score_simulated_traces(const Services& services) {
  AACO_ASSIGN(const auto entries, tracelake::list_sessions(services.paths.sessions));
  LabTraceScore score;
  std::vector<Prediction> predictions;
  for (const auto& entry : entries) {
    const auto& manifest = entry.manifest;
    const Json& fault = manifest.request["fault"];
    const std::string original(manifest.request["simulated_from"].text());
    if (manifest.kind != "import" || manifest.state != "complete" || original.empty() || fault.is_null()) continue;
    ++score.pairs;
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.manifest.id.text == original; });
    if (found == entries.end()) {
      ++score.without_original;
      continue;
    }
    services.progress("comparing " + manifest.id.text);
    DiffRequest request;
    request.baseline = {found->path};
    request.candidate = {entry.path};
    request.store = false;
    AACO_ASSIGN(const DiffOutcome outcome, diff(request, services));
    ++score.verdicts[std::string(fault["fault"].text())][outcome.verdict];
    count(outcome, {manifest.id.text, std::string(fault["cause"].text()), original, {}}, predictions, score);
  }
  score.causes = laboratory::scoring::score_of(predictions);
  return score;
}

Json to_json(const LabTraceScore& score) {
  Json verdicts = Json::object();
  for (const auto& [fault, counts] : score.verdicts) {
    Json row = Json::object();
    for (const auto& [verdict, number] : counts) row.set(verdict, number);
    verdicts.set(fault, std::move(row));
  }
  const auto within = std::count_if(score.unexplained.begin(), score.unexplained.end(), [](double one) { return one <= 0.15; });
  return Json::object({{"pairs", score.pairs},
                       {"without_effect", score.without_effect},
                       {"undecided", score.undecided},
                       {"wrong_direction", score.wrong_direction},
                       {"without_original", score.without_original},
                       {"unexplained_at_most_15_percent", within},
                       {"verdicts", std::move(verdicts)},
                       {"score", to_json(score.causes)}});
}

}  // namespace aaco::workflows
