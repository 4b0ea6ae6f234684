#include "laboratory/corpus.h"

namespace aaco::laboratory::corpus {
namespace {

using core::Json;

Json to_json(const Share& share) {
  Json out = Json::object({{"right", share.right}, {"count", share.count}});
  if (share.count > 0) out.set("ratio", share.ratio());
  return out;
}

Json to_json(const Tally& tally) {
  return Json::object({{"class_first", to_json(tally.first)},
                       {"class_in_two", to_json(tally.in_two)},
                       {"cause", to_json(tally.cause)},
                       {"unknown", to_json(tally.unknown)},
                       {"must_not", tally.violations},
                       {"sure_and_wrong", tally.sure_and_wrong}});
}

Json to_json(const Reliability& reliability) {
  Json bins = Json::array();
  for (const ReliabilityBin& bin : reliability.bins)
    bins.push(Json::object({{"low_ratio", bin.low},
                            {"high_ratio", bin.high},
                            {"count", bin.count},
                            {"confidence_ratio", bin.confidence},
                            {"right_ratio", bin.right_ratio}}));
  Json out = Json::object({{"claims", reliability.claims}, {"bins", std::move(bins)}});
  if (reliability.claims > 0)
    out.set("error_ratio", reliability.error_ratio).set("interval_ratio", Json::array({reliability.low, reliability.high}));
  return out;
}

Json named(const std::vector<Judgement>& judgements) {
  Json list = Json::array();
  for (const Judgement& one : judgements) list.push(to_json(one));
  return list;
}

}  // namespace

Json to_json(const Judgement& judgement) {
  const Answer& answer = judgement.answer;
  Json out = Json::object({{"case", judgement.id},
                           {"kind", judgement.kind},
                           {"split", judgement.split},
                           {"origin", judgement.origin},
                           {"format", judgement.format},
                           {"truth_class", judgement.truth_class},
                           {"truth_cause", judgement.truth_cause},
                           {"class", answer.class_id},
                           {"second_class", answer.second},
                           {"cause", answer.cause},
                           {"class_right", judgement.first},
                           {"class_in_two", judgement.in_two},
                           {"cause_right", judgement.cause},
                           {"must_not", Json::texts(judgement.violations)}});
  if (!answer.claims.empty()) out.set("claims", Json::texts(answer.claims));
  if (!answer.note.empty()) out.set("note", answer.note);
  if (!answer.evidence_class.empty()) out.set("evidence_class", answer.evidence_class).set("claim_true", judgement.claim_true());
  return out.set_if("confidence_ratio", answer.confidence);
}

Json to_json(const Score& score, bool by_name) {
  Json groups = Json::object();
  for (const auto& [key, tallies] : score.groups) {
    Json group = Json::object();
    for (const auto& [value, tally] : tallies) group.set(value, to_json(tally));
    groups.set(key, std::move(group));
  }
  Json out = to_json(score.all);
  out.set("groups", std::move(groups)).set("calibration", to_json(score.calibration));
  if (by_name) out.set("sure_and_wrong_cases", named(score.sure_and_wrong)).set("must_not_cases", named(score.violations));
  return out;
}

}  // namespace aaco::laboratory::corpus
