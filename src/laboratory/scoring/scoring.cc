#include "laboratory/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "stats/distributions.h"

namespace aaco::laboratory::scoring {
namespace {

using analytics::bottleneck::ClassScore;
using core::Json;

constexpr std::size_t kBins = 10;
constexpr double kMinProbability = 1e-9;

constexpr double kMinTemperature = 0.3, kMaxTemperature = 5, kTemperatureStep = 1.08;  // tried, one after the other
constexpr double kMaxRuleWeight = 1.5, kRuleWeightStep = 0.125;

// Log-odds of a class, calibrated. A softmax at temperature T is one at 1 to the power 1 / T, made to add up to 1 again.
double log_odds(const Prediction& prediction, const ClassScore& one, const Calibration& calibration) {
  const auto rule = prediction.rules.find(one.class_id);
  return std::log(std::max(one.probability, kMinProbability)) / calibration.temperature +
         (rule == prediction.rules.end() ? 0 : calibration.rule_weight * rule->second);
}

double loss(const std::vector<Prediction>& predictions, const Calibration& calibration) {
  double sum = 0;
  for (const Prediction& one : predictions) {
    double total = 0, truth = kMinProbability;
    for (const ClassScore& score : one.ranking) {
      const double p = std::exp(log_odds(one, score, calibration));
      total += p;
      if (score.class_id == one.truth) truth = p;
    }
    sum -= std::log(std::max(truth / std::max(total, kMinProbability), kMinProbability));
  }
  return sum;
}

void apply(const Calibration& calibration, Prediction& prediction) {
  double largest = 0, total = 0;
  for (std::size_t i = 0; i < prediction.ranking.size(); ++i) {
    const double odds = log_odds(prediction, prediction.ranking[i], calibration);
    largest = i == 0 ? odds : std::max(largest, odds);
    prediction.ranking[i].probability = odds;
  }
  for (ClassScore& one : prediction.ranking) total += one.probability = std::exp(one.probability - largest);
  for (ClassScore& one : prediction.ranking) one.probability /= total;
  std::stable_sort(prediction.ranking.begin(), prediction.ranking.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
}

}  // namespace

Interval Score::interval() const {
  if (count == 0) return {};
  const auto n = static_cast<double>(count);
  const double p = accuracy(), z2 = stats::kNormal95 * stats::kNormal95 / n;
  const double middle = (p + z2 / 2) / (1 + z2);
  const double half = stats::kNormal95 * std::sqrt(p * (1 - p) / n + z2 / (4 * n)) / (1 + z2);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<Prediction> cross_calibrated(std::vector<Prediction> predictions) {
  std::map<std::string, Calibration> calibrations;
  for (const Prediction& one : predictions) calibrations[one.group] = {};
  for (auto& [group, calibration] : calibrations) {
    std::vector<Prediction> others;
    std::copy_if(predictions.begin(), predictions.end(), std::back_inserter(others),
                 [&name = group](const Prediction& one) { return one.group != name; });
    if (!others.empty()) calibration = calibrate(others);
  }
  for (Prediction& one : predictions) apply(calibrations[one.group], one);
  return predictions;
}

Score score_of(const std::vector<Prediction>& predictions) {
  struct Bin {
    double count = 0, right = 0, confidence = 0;
  };
  std::array<Bin, kBins> bins{};
  Score score;
  for (const Prediction& one : predictions) {
    if (one.ranking.empty()) continue;
    const ClassScore& answer = one.ranking.front();
    const bool right = answer.class_id == one.truth;
    ++score.count;
    score.first += right ? 1 : 0;
    score.first_two += right || (one.ranking.size() > 1 && one.ranking[1].class_id == one.truth) ? 1 : 0;
    ++score.confusion[one.truth][answer.class_id];
    Bin& bin = bins[std::min(kBins - 1, static_cast<std::size_t>(answer.probability * static_cast<double>(kBins)))];
    ++bin.count;
    bin.right += right ? 1 : 0;
    bin.confidence += answer.probability;
  }
  for (const Bin& bin : bins)
    if (bin.count > 0) score.calibration_error += std::abs(bin.right - bin.confidence) / static_cast<double>(score.count);
  return score;
}

Calibration calibrate(const std::vector<Prediction>& predictions) {
  const bool has_rules = !predictions.empty() &&
                         std::none_of(predictions.begin(), predictions.end(), [](const auto& one) { return one.rules.empty(); });
  Calibration best;
  double least = loss(predictions, best);
  for (double weight = 0; weight <= (has_rules ? kMaxRuleWeight : 0); weight += kRuleWeightStep)
    for (double temperature = kMinTemperature; temperature <= kMaxTemperature; temperature *= kTemperatureStep) {
      const Calibration tried{temperature, weight};
      if (const double here = loss(predictions, tried); here < least) least = here, best = tried;
    }
  return best;
}

Json to_json(const Score& score) {
  Json confusion = Json::object();
  for (const auto& [truth, answers] : score.confusion) {
    Json row = Json::object();
    for (const auto& [answer, count] : answers) row.set(answer, count);
    confusion.set(truth, std::move(row));
  }
  Json out = Json::object({{"count", score.count},
                           {"not_held_out", score.not_held},
                           {"right_first", score.first},
                           {"right_among_two", score.first_two}});
  if (score.count > 0)
    out.set("accuracy_ratio", score.accuracy())
        .set("accuracy_interval_ratio", Json::array({score.interval().low, score.interval().high}))
        .set("within_two_ratio", score.within_two())
        .set("calibration_error_ratio", score.calibration_error);
  return out.set("confusion", std::move(confusion));
}

std::string confusion_table(const Score& score) {
  std::set<std::string> classes;
  for (const auto& [truth, answers] : score.confusion) {
    classes.insert(truth);
    for (const auto& [answer, count] : answers) classes.insert(answer);
  }
  std::string head = "| truth |", rule = "|---|", body;
  for (const std::string& one : classes) head += " " + one + " |", rule += "---:|";
  for (const auto& [truth, answers] : score.confusion) {
    body += "| " + truth + " |";
    for (const std::string& one : classes) {
      const auto found = answers.find(one);
      body += found == answers.end() ? "  |" : fmt::format(" {} |", found->second);
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

}  // namespace aaco::laboratory::scoring
