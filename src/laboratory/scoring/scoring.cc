#include "laboratory/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

namespace aaco::laboratory::scoring {
namespace {

using analytics::bottleneck::ClassScore;
using core::Json;

constexpr std::size_t kBins = 10;
constexpr double kLeastProbability = 1e-9;
constexpr double kNormal95 = 1.959964;  // quantile of the normal distribution

// Probabilities at temperature T are those at 1 to the power 1 / T, made to add up to 1 again.
void set_temperature(std::vector<ClassScore>& ranking, double temperature) {
  double total = 0;
  for (ClassScore& one : ranking)
    total += one.probability = std::pow(std::max(one.probability, kLeastProbability), 1 / temperature);
  for (ClassScore& one : ranking) one.probability /= total;
}

}  // namespace

Interval Score::interval() const {
  if (count == 0) return {};
  const auto n = static_cast<double>(count);
  const double p = accuracy(), z2 = kNormal95 * kNormal95 / n;
  const double middle = (p + z2 / 2) / (1 + z2);
  const double half = kNormal95 * std::sqrt(p * (1 - p) / n + z2 / (4 * n)) / (1 + z2);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<Prediction> cross_calibrated(std::vector<Prediction> predictions) {
  std::map<std::string, double> temperatures;
  for (const Prediction& one : predictions) temperatures[one.group] = 1;
  for (auto& [group, temperature] : temperatures) {
    std::vector<Prediction> others;
    std::copy_if(predictions.begin(), predictions.end(), std::back_inserter(others),
                 [&name = group](const Prediction& one) { return one.group != name; });
    if (!others.empty()) temperature = calibrate(others);
  }
  for (Prediction& one : predictions) set_temperature(one.ranking, temperatures[one.group]);
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

double calibrate(const std::vector<Prediction>& predictions) {
  const auto loss = [&](double temperature) {
    double sum = 0;
    for (const Prediction& one : predictions) {
      double total = 0, truth = kLeastProbability;
      for (const ClassScore& score : one.ranking) {
        const double p = std::pow(std::max(score.probability, kLeastProbability), 1 / temperature);
        total += p;
        if (score.class_id == one.truth) truth = p;
      }
      sum -= std::log(truth / std::max(total, kLeastProbability));
    }
    return sum;
  };
  double best = 1, least = loss(1);
  for (double temperature = 0.3; temperature <= 5; temperature *= 1.05)
    if (const double here = loss(temperature); here < least) least = here, best = temperature;
  return best;
}

Json to_json(const Score& score) {
  Json confusion = Json::object();
  for (const auto& [truth, answers] : score.confusion) {
    Json row = Json::object();
    for (const auto& [answer, count] : answers) row.set(answer, count);
    confusion.set(truth, std::move(row));
  }
  return Json::object({{"count", score.count},
                       {"not_held_out", score.not_held},
                       {"right_first", score.first},
                       {"right_among_two", score.first_two},
                       {"accuracy_ratio", score.accuracy()},
                       {"accuracy_interval_ratio", Json::array({score.interval().low, score.interval().high})},
                       {"within_two_ratio", score.within_two()},
                       {"calibration_error_ratio", score.calibration_error},
                       {"confusion", std::move(confusion)}});
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
