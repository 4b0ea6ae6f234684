#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/bottleneck.h"

namespace aaco::analytics::bottleneck {
namespace {

using core::Json;

constexpr double kMinEvidence = 0.05;  // log-odds: less is not worth a row
constexpr std::size_t kMaxEvidence = 6;

// How far the value is on the way from `from` to `to`, 0..1.
double reached(const Rule& rule, double value) {
  double from = rule.from, to = rule.to;
  if (rule.logarithmic) {
    if (value <= 0) return from > to ? 1 : 0;
    value = std::log(value), from = std::log(from), to = std::log(to);
  }
  return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

std::vector<double> softmax(std::vector<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& one : scores) sum += one = std::exp(one - largest);
  for (double& one : scores) one /= sum;
  return scores;
}

std::vector<ClassScore> ranked(const std::vector<std::string>& classes, const std::vector<double>& probabilities) {
  std::vector<ClassScore> ranking;
  for (std::size_t i = 0; i < classes.size(); ++i) ranking.push_back({classes[i], probabilities[i]});
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) { return a.probability > b.probability; });
  return ranking;
}

std::vector<Evidence> evidence_for(const RuleBook& book, const signals::Signals& signals, std::string_view class_id) {
  std::vector<Evidence> rows;
  for (const Rule& rule : book.rules()) {
    if (rule.class_id != class_id) continue;
    const auto value = signals.get(rule.signal);
    if (!value) continue;
    const double weight = rule.weight * reached(rule, *value);
    if (std::abs(weight) >= kMinEvidence) rows.push_back({rule.signal, *value, weight});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.weight) > std::abs(b.weight); });
  if (rows.size() > kMaxEvidence) rows.resize(kMaxEvidence);
  return rows;
}

// Log-odds of each class; empty where no rule's signal was measured.
std::optional<std::vector<double>> rule_scores(const RuleBook& book, const signals::Signals& signals) {
  std::vector<double> scores;
  bool anything = false;
  for (const BottleneckClass& one : book.classes()) {
    scores.push_back(one.prior);
    for (const Rule& rule : book.rules()) {
      const auto value = rule.class_id == one.id ? signals.get(rule.signal) : std::nullopt;
      if (!value) continue;
      anything = true;
      scores.back() += rule.weight * reached(rule, *value);
    }
  }
  return anything ? std::optional(std::move(scores)) : std::nullopt;
}

// What the kernel says of the calls is what the model cannot do without.
bool covers(const signals::Signals& signals) {
  return signals.get("caller.cpu_ratio").has_value() && signals.get("latency.p50_ns").has_value();
}

}  // namespace

void rule_out(const RuleBook& book, const Features& features, std::vector<ClassScore>& ranking) {
  const auto value_of = [&](const std::string& signal) -> std::optional<double> {
    for (std::size_t i = 0; i < features.names.size(); ++i)
      if ((features.names[i] == signal || features.names[i] == "b:" + signal) && !std::isnan(features.values[i]))
        return features.values[i];
    return std::nullopt;
  };
  // What trees make of a need that was not measured may be anything: where no rule speaks for the class either, it would stand
  // without evidence. Between pairs of sessions ("b:rule:") the difference is evidence, too.
  const auto unheard = [&](const BottleneckClass& kind) {
    const auto found = std::find(features.names.begin(), features.names.end(), "rule:" + kind.id);
    if (found == features.names.end()) return false;
    return !(static_cast<double>(features.values[static_cast<std::size_t>(found - features.names.begin())]) > kind.prior);
  };
  const auto possible = [&](const BottleneckClass& kind) {
    bool measured = kind.needs.empty();
    for (const Need& need : kind.needs) {
      const auto value = value_of(need.signal);
      if (value && *value <= need.above) return false;
      measured = measured || value.has_value();
    }
    return measured || !unheard(kind);
  };
  // What spoke for a class whose need is not met speaks for another, if there is one.
  const auto heir_of = [&](const BottleneckClass& kind) -> std::string {
    for (const Need& need : kind.needs)
      if (const auto value = value_of(need.signal); value && *value <= need.above && !need.otherwise.empty()) {
        const BottleneckClass* const heir = book.find(need.otherwise);
        if (heir != nullptr && possible(*heir)) return heir->id;
      }
    return {};
  };
  std::map<std::string, double> inherited;
  std::vector<ClassScore> left;
  double sum = 0;
  for (const ClassScore& one : ranking) {
    const BottleneckClass* const kind = book.find(one.class_id);
    if (kind != nullptr && !possible(*kind)) {
      if (const std::string heir = heir_of(*kind); !heir.empty()) inherited[heir] += one.probability;
      continue;
    }
    left.push_back(one);
  }
  for (ClassScore& one : left) {
    if (const auto more = inherited.find(one.class_id); more != inherited.end()) one.probability += more->second;
    sum += one.probability;
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const ClassScore& a, const ClassScore& b) { return a.probability > b.probability; });
  if (sum <= 0) return;
  for (ClassScore& one : left) one.probability /= sum;
  ranking = std::move(left);
}

Bottleneck classify_by_rules(const RuleBook& book, const signals::Signals& signals) {
  std::vector<std::string> ids;
  for (const BottleneckClass& one : book.classes()) ids.push_back(one.id);
  auto scores = rule_scores(book, signals);
  Bottleneck answer;
  answer.method = "rules";
  if (!scores) return answer;
  answer.ranking = ranked(ids, softmax(std::move(*scores)));
  rule_out(book, features_of(book, signals), answer.ranking);
  answer.class_id = answer.ranking.front().class_id;
  answer.confidence = answer.ranking.front().probability;
  answer.evidence = evidence_for(book, signals, answer.class_id);
  return answer;
}

Features features_of(const RuleBook& book, const signals::Signals& signals) {
  Features out;
  for (const auto& one : signals::definitions()) out.names.emplace_back(one.id);
  out.values = signals.features();
  const auto scores = rule_scores(book, signals);
  for (std::size_t i = 0; i < book.classes().size(); ++i) {
    out.names.push_back("rule:" + book.classes()[i].id);
    out.values.push_back(scores ? static_cast<float>((*scores)[i]) : std::nanf(""));
  }
  return out;
}

std::vector<double> rule_scores_of(const std::vector<std::string>& classes, const Features& features) {
  std::vector<double> scores;
  for (const std::string& one : classes) {
    const auto found = std::find_if(features.names.begin(), features.names.end(),
                                    [&](const std::string& name) { return name == "rule:" + one || name == "b:rule:" + one; });
    if (found == features.names.end()) return {};
    const float value = features.values[static_cast<std::size_t>(found - features.names.begin())];
    scores.push_back(std::isnan(value) ? 0 : static_cast<double>(value));
  }
  return scores;
}

std::vector<ClassScore> score(const LearnedModel& model, const Features& features) {
  std::vector<float> row;
  for (const std::string& wanted : model.features) {
    const auto found = std::find(features.names.begin(), features.names.end(), wanted);
    row.push_back(found == features.names.end() ? std::nanf("")
                                                : features.values[static_cast<std::size_t>(found - features.names.begin())]);
  }
  std::vector<double> scores = model.trees.predict_all(row);
  for (double& one : scores) one /= model.temperature;
  if (const auto rules = rule_scores_of(model.classes, features); model.rule_weight > 0 && !rules.empty())
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += model.rule_weight * rules[i];
  return ranked(model.classes, softmax(std::move(scores)));
}

Bottleneck classify(const RuleBook& book, const LearnedModel* model, const signals::Signals& signals) {
  if (model == nullptr || !covers(signals)) return classify_by_rules(book, signals);
  Bottleneck answer;
  answer.method = "trees";
  const Features features = features_of(book, signals);
  answer.ranking = score(*model, features);
  rule_out(book, features, answer.ranking);
  answer.class_id = answer.ranking.front().class_id;
  answer.confidence = answer.ranking.front().probability;
  answer.evidence = evidence_for(book, signals, answer.class_id);
  return answer;
}

Bottleneck with_calls(Bottleneck answer, std::size_t measured_calls) {
  if (answer.class_id.empty() || measured_calls == 0 || measured_calls >= kMinCalls) return answer;
  answer.undecided = fmt::format(
      "{} measured {} too few to identify the bottleneck: a single outlier could decide it. Measure {} or more (--iterations, "
      "--duration).",
      measured_calls, measured_calls == 1 ? "call is" : "calls are", kMinCalls);
  answer.class_id = kInconclusive;
  answer.confidence = 0;
  return answer;
}

Json to_json(const Bottleneck& bottleneck, const RuleBook& book) {
  Json evidence = Json::array(), ranking = Json::array(), strategies = Json::array();
  double total = 0;
  for (const Evidence& one : bottleneck.evidence) total += std::abs(one.weight);
  for (const Evidence& one : bottleneck.evidence)
    evidence.push(Json::object({{"signal", one.signal},
                                {"value", one.value},
                                {"weight", total > 0 ? std::abs(one.weight) / total : 0},
                                {"supports", one.weight >= 0},
                                {"log_odds", one.weight}}));
  for (const ClassScore& one : bottleneck.ranking) {
    const BottleneckClass* const kind = book.find(one.class_id);
    ranking.push(Json::object({{"class", one.class_id},
                               {"title", kind != nullptr                   ? kind->title
                                         : one.class_id == kUnknownKernels ? "kernels of unknown limit"
                                                                           : one.class_id},
                               {bottleneck.method == kGpuLimit ? "share_ratio" : "probability_ratio", one.probability}}));
  }
  Json out =
      Json::object({{"schema_version", 1}, {"bottleneck_class", bottleneck.class_id}, {"confidence", bottleneck.confidence}});
  if (const BottleneckClass* kind = book.find(bottleneck.class_id)) {
    const bool of_gpu = bottleneck.method == kGpuLimit && !kind->gpu_meaning.empty();
    out.set("title", kind->title).set("meaning", of_gpu ? kind->gpu_meaning : kind->meaning);
    for (const std::string& strategy : kind->strategies) strategies.push(strategy);
  }
  if (!bottleneck.evidence_class.empty()) out.set("evidence_class", bottleneck.evidence_class);
  if (bottleneck.class_id == kDeviceBusy)
    out.set("meaning", std::string(out["meaning"].text()) + " " + bottleneck.undecided);
  else if (!bottleneck.undecided.empty())
    out.set("title", "undecided").set("meaning", bottleneck.undecided);
  return out.set("method", bottleneck.method)
      .set("top_evidence", std::move(evidence))
      .set("optimization_priority", std::move(strategies))
      .set("ranking", std::move(ranking));
}

}  // namespace aaco::analytics::bottleneck
