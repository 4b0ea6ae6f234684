#include "workflows/lab_trace_score.h"

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "laboratory/trace_faults.h"
#include "tracelake/bundle.h"
#include "workflows/diff.h"
#include "workflows/lab/corpus_answers.h"

namespace aaco::workflows {
namespace {

using core::Json;
using laboratory::scoring::Prediction;
namespace corpus = laboratory::corpus;

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

constexpr double kMinShare = 0.4;     // of the span, for a fault to be what limits the trace
constexpr std::size_t kMaxGaps = 20;  // judged of a trace

// Two ids of one cause are the same answer.
void use_own_id(Prediction& prediction, const corpus::Words& words) {
  const auto truth = words.cause_of(prediction.truth);
  for (auto& one : prediction.ranking) {
    const auto said = words.cause_of(one.class_id);
    // With its class: the cause of both "host_waiting" and "none" is unknown.
    if (said.class_id == truth.class_id && said.cause == truth.cause) one.class_id = prediction.truth;
  }
}

// Faults that take no share of the span: what they make of the file is the truth.
bool decides_alone(std::string_view fault) {
  return fault == "counter_passes" || fault == "merged_runs" || fault == "graph_replay";
}

// The cases that a simulated trace stands for.
std::vector<corpus::Case> cases_of(const trace::SessionManifest& manifest, const laboratory::trace_faults::TraceFaultKind& kind) {
  const Json& fault = manifest.request["fault"];
  std::vector<corpus::Case> cases;
  corpus::Case one;
  one.file = manifest.request["simulated_from"].text();
  one.origin = kind.id;
  one.split = "simulated";
  one.truth = {std::string(kind.class_id),
               std::string(kind.verdict_cause),
               {kind.seconds.begin(), kind.seconds.end()},
               {kind.must_not.begin(), kind.must_not.end()},
               std::string(fault["frame"].text())};
  if (kind.class_id.empty()) return cases;
  one.kind = "headline";
  one.id = manifest.id.text;
  if (decides_alone(kind.id) || fault["share_ratio"].as_f64().value_or(0) >= kMinShare) cases.push_back(one);
  one.kind = "gap";
  const auto& gaps = fault["gaps_ns"].items();
  for (std::size_t i = 0; i < std::min(gaps.size(), kMaxGaps); ++i) {
    const auto& ends = gaps[i * gaps.size() / std::min(gaps.size(), kMaxGaps)].items();
    if (ends.size() != 2) continue;
    one.id = manifest.id.text + ".gap_" + std::to_string(i);
    one.start_ns = ends[0].as_i64().value_or(0);
    one.length_ns = ends[1].as_i64().value_or(0) - one.start_ns;
    cases.push_back(one);
  }
  return cases;
}

void judge_alone(const tracelake::SessionEntry& entry, const corpus::Words& words, std::vector<corpus::Judgement>& judgements) {
  const std::string_view name = entry.manifest.request["fault"]["fault"].text();
  for (const auto& kind : laboratory::trace_faults::trace_fault_kinds()) {
    if (kind.id != name) continue;
    for (const corpus::Case& one : cases_of(entry.manifest, kind))
      judgements.push_back(corpus::judge(one, one.kind == "gap" ? gap_answer(entry.path, one.start_ns, one.length_ns, words)
                                                                : headline_answer(entry.path, entry.manifest, words)));
  }
}

}  // namespace

core::Result<LabTraceScore> score_simulated_traces(const Services& services, bool pairs) {
  AACO_ASSIGN(const auto words, corpus::Words::load(core::join_path(services.paths.share, "data/rules/corpus_words.yaml")));
  std::vector<corpus::Judgement> judgements;
  AACO_ASSIGN(const auto entries, tracelake::list_sessions(services.paths.sessions));
  LabTraceScore score;
  std::vector<Prediction> predictions;
  for (const auto& entry : entries) {
    const auto& manifest = entry.manifest;
    const Json& fault = manifest.request["fault"];
    const std::string original(manifest.request["simulated_from"].text());
    if (manifest.kind != "import" || manifest.state != "complete" || original.empty() || fault.is_null()) continue;
    judge_alone(entry, words, judgements);
    ++score.pairs;
    if (!pairs) continue;
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
    const auto decided = static_cast<std::ptrdiff_t>(predictions.size());
    count(outcome, {manifest.id.text, std::string(fault["cause"].text()), original, {}}, predictions, score);
    for (auto one = predictions.begin() + decided; one != predictions.end(); ++one) use_own_id(*one, words);
  }
  score.causes = laboratory::scoring::score_of(predictions);
  score.alone = corpus::score_of(judgements);
  score.cases = std::move(judgements);
  return score;
}

Json cases_json(const LabTraceScore& score) {
  Json cases = Json::array();
  for (const auto& one : score.cases) cases.push(corpus::to_json(one).set("fault", one.origin));
  return Json::object({{"schema_version", 1}, {"score", corpus::to_json(score.alone, false)}, {"cases", std::move(cases)}});
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
                       {"alone", corpus::to_json(score.alone, false)},
                       {"score", to_json(score.causes)}});
}

}  // namespace aaco::workflows
