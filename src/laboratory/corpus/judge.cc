#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.h"
#include "laboratory/corpus.h"

namespace aaco::laboratory::corpus {
namespace {

constexpr std::string_view kCannotTell = "cannot-tell", kDevice = "device";
constexpr double kSure = 0.9;
constexpr std::size_t kBins = 10;
constexpr int kDraws = 2000;
constexpr std::uint64_t kSeed = 19;

bool has(const std::vector<std::string>& list, const std::string& word) {
  return !word.empty() && std::find(list.begin(), list.end(), word) != list.end();
}

struct Claim {
  double confidence = 0;
  bool right = false;
};

double calibration_error(const std::vector<Claim>& claims) {
  std::array<double, kBins> difference{};
  for (const Claim& one : claims)
    difference[std::min(kBins - 1, static_cast<std::size_t>(one.confidence * static_cast<double>(kBins)))] +=
        (one.right ? 1 : 0) - one.confidence;
  double sum = 0;
  for (const double one : difference) sum += std::abs(one);
  return claims.empty() ? 0 : sum / static_cast<double>(claims.size());
}

void add(Tally& tally, const Judgement& one) {
  if (one.asks_class) {
    tally.first.add(one.first);
    tally.in_two.add(one.in_two);
    tally.unknown.add(one.unknown);
  }
  tally.cause.add(one.cause);
  tally.violations += one.violations.empty() ? 0 : 1;
  tally.sure_and_wrong += one.answer.confidence.value_or(0) > kSure && !one.claim_true() ? 1 : 0;
}

}  // namespace

Judgement judge(const Case& one, const Answer& answer) {
  Judgement out;
  out.id = one.id, out.file = one.file, out.kind = one.kind, out.split = one.split, out.origin = one.origin;
  out.format = answer.format;
  out.truth_class = one.truth.class_id, out.truth_cause = one.truth.cause;
  out.answer = answer;
  out.asks_class = !one.truth.class_id.empty();
  const auto claimed = [&](const std::string& word) {
    if (has(one.truth.must_not, word) && !has(out.violations, word)) out.violations.push_back(word);
  };
  claimed(answer.class_id);
  claimed(answer.cause);
  for (const std::string& word : answer.claims) claimed(word);
  const auto is_true = [&](const std::string& word) { return word == one.truth.class_id || has(one.truth.seconds, word); };
  // That kernels take the time, of whatever limit, follows from each of these.
  const auto accepted = [&](const std::string& word) {
    return is_true(word) || (word == kDevice && (is_true("compute") || is_true("memory") || is_true("mixed")));
  };
  // "Host code in F" is true of F alone, whatever kind of work F turns out to be; so is "Python code" with F as its evidence.
  const bool names_frame = answer.cause == "host-code" || answer.cause == "host-operator";
  const bool is_frame = !one.truth.frame.empty() && answer.frame.find(one.truth.frame) != std::string::npos &&
                        (names_frame || answer.cause == "python");
  const bool same_cause = !answer.cause.empty() && (answer.cause == one.truth.cause || has(one.truth.seconds, answer.cause));
  const bool cause_accepted = is_frame || (same_cause && (!names_frame || one.truth.frame.empty()));
  out.cause = cause_accepted && !has(one.truth.must_not, answer.class_id);
  if (!out.asks_class) return out;
  // A cause that is right makes its class right: the corpus and the program may file it under different classes.
  out.first = (accepted(answer.class_id) || cause_accepted) && !has(one.truth.must_not, answer.class_id);
  out.in_two = out.first || (!answer.second.empty() && accepted(answer.second));
  out.unknown = answer.class_id == kCannotTell && !accepted(std::string(kCannotTell)) && !cause_accepted;
  return out;
}

Reliability reliability(const std::vector<Judgement>& judgements) {
  Reliability out;
  std::map<std::string, std::vector<Claim>> by_trace;
  std::vector<Claim> all;
  for (const Judgement& one : judgements)
    if (one.answer.confidence) {
      all.push_back({std::clamp(*one.answer.confidence, 0.0, 1.0), one.claim_true()});
      by_trace[one.file].push_back(all.back());
    }
  out.claims = static_cast<std::int64_t>(all.size());
  out.error_ratio = calibration_error(all);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    ReliabilityBin row{static_cast<double>(bin) / kBins, static_cast<double>(bin + 1) / kBins, 0, 0, 0};
    for (const Claim& one : all)
      if (std::min(kBins - 1, static_cast<std::size_t>(one.confidence * static_cast<double>(kBins))) == bin) {
        ++row.count;
        row.confidence += one.confidence;
        row.right_ratio += one.right ? 1 : 0;
      }
    if (row.count == 0) continue;
    row.confidence /= static_cast<double>(row.count);
    row.right_ratio /= static_cast<double>(row.count);
    out.bins.push_back(row);
  }
  if (by_trace.empty()) return out;
  std::vector<const std::vector<Claim>*> traces;
  for (const auto& [trace, claims] : by_trace) traces.push_back(&claims);
  core::Random random(kSeed);
  std::vector<double> errors;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<Claim> drawn;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const auto& claims = *traces[random.below(traces.size())];
      drawn.insert(drawn.end(), claims.begin(), claims.end());
    }
    errors.push_back(calibration_error(drawn));
  }
  std::sort(errors.begin(), errors.end());
  out.low = errors[static_cast<std::size_t>(0.025 * kDraws)];
  out.high = errors[static_cast<std::size_t>(0.975 * kDraws) - 1];
  return out;
}

Score score_of(const std::vector<Judgement>& judgements) {
  Score score;
  for (const Judgement& one : judgements) {
    add(score.all, one);
    add(score.groups["kind"][one.kind], one);
    add(score.groups["class"][one.asks_class ? one.truth_class : "-"], one);
    add(score.groups["cause"][one.truth_cause], one);
    add(score.groups["format"][one.format.empty() ? "-" : one.format], one);
    add(score.groups["origin"][one.origin], one);
    if (!one.violations.empty()) score.violations.push_back(one);
    if (one.answer.confidence.value_or(0) > kSure && !one.claim_true()) score.sure_and_wrong.push_back(one);
  }
  score.calibration = reliability(judgements);
  return score;
}

}  // namespace aaco::laboratory::corpus
