#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/signals.h"
#include "core/json.h"
#include "core/result.h"
#include "core/yaml.h"
#include "stats/boosted_trees.h"

// What limits a session: a class, how sure that is, and the signals that say so.
namespace aaco::analytics::bottleneck {

// What must have been seen for a class to be possible at all: a quota cannot have held back what was never throttled.
struct Need {
  std::string signal;
  double above = 0;
};

// A kind of bottleneck, and what helps against it. data/rules/bottleneck.yaml.
struct BottleneckClass {
  std::string id;                       // "memory_bound"
  std::string title;                    // "memory bandwidth"
  std::string meaning;                  // one sentence
  std::string gpu_meaning;              // the same of a GPU trace; empty: `meaning` speaks of both
  double prior = 0;                     // log-odds before any signal is seen
  std::optional<Need> needs;            // counts only where the signal was measured
  std::vector<std::string> strategies;  // what to do, the best first
};

// A signal that speaks for a class (or, with a negative weight, against it): nothing below `from`, all of `weight` beyond `to`,
// linear between; on a logarithmic scale where that is said. `from` above `to`: small values speak.
struct Rule {
  std::string class_id;
  std::string signal;
  double from = 0, to = 0;
  double weight = 0;
  bool logarithmic = false;
};

class RuleBook {
 public:
  // A file of data/rules. Fails, with file and line, on an unknown key, class or signal, a range of no width, a class that stands
  // twice or has no strategy.
  static core::Result<RuleBook> load(const std::string& path);
  static core::Result<RuleBook> parse(const core::YamlNode& document);

  [[nodiscard]] const std::vector<BottleneckClass>& classes() const { return classes_; }
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }
  [[nodiscard]] const BottleneckClass* find(std::string_view id) const;

 private:
  std::vector<BottleneckClass> classes_;
  std::vector<Rule> rules_;
};

// A signal in evidence: how much it speaks for the class, in log-odds.
struct Evidence {
  std::string signal;
  double value = 0;
  double weight = 0;
  bool operator==(const Evidence&) const = default;
};

struct ClassScore {
  std::string class_id;
  double probability = 0;
};

struct Bottleneck {
  std::string class_id;             // empty: nothing was measured that could tell
  double confidence = 0;            // calibrated probability
  std::vector<ClassScore> ranking;  // all classes, the likeliest first
  std::vector<Evidence> evidence;   // for the first class, the weightiest first
  std::string method;               // "rules", or "trees" where a learned model decided (with the rules' weight in it)
  std::string undecided;            // why nothing is concluded; empty: it is
};

// The class of a session of which too little was measured. Ranking and evidence stay, as hints.
inline constexpr std::string_view kInconclusive = "inconclusive";
// The method of what shares of a GPU trace's span say.
inline constexpr std::string_view kGpuLimit = "gpu_limit";
// Below this many measured calls not even the median has a 95 % interval, and one odd call may be all there is.
inline constexpr std::size_t kMinCalls = 6;
// The answer, not concluded where calls were measured and too few of them.
Bottleneck with_calls(Bottleneck answer, std::size_t measured_calls);

// The rules' own answer: log-odds added up, softmax over the classes.
Bottleneck classify_by_rules(const RuleBook& book, const signals::Signals& signals);

// A learned model over the signals. data/bottleneck/*.json, with the record of its training.
struct LearnedModel {
  std::vector<std::string> classes;   // in the order of the trees' scores
  std::vector<std::string> features;  // signals in the order of the columns
  stats::BoostedTrees trees;
  double temperature = 1;  // scores are divided by it before the softmax: what makes probabilities true
  double rule_weight = 0;  // times a class's log-odds by the rules, added to that: what carries over to strengths never seen
  core::Json record;       // how it was made, and how it did on what was held out
};
// Values by name; not measured is NaN.
struct Features {
  std::vector<std::string> names;
  std::vector<float> values;
};
// The signals, and what the rules make of them for each class ("rule:CLASS"): that carries over to models never seen.
Features features_of(const RuleBook& book, const signals::Signals& signals);

// The rules' log-odds of each class among the features ("rule:CLASS", also with "b:" before it); empty where a class has no rule.
std::vector<double> rule_scores_of(const std::vector<std::string>& classes, const Features& features);

// Refuses a model whose classes or features do not fit its trees, a feature that is not among `known`, a temperature that is not
// positive, a negative weight of the rules.
core::Result<LearnedModel> model_from_json(const core::Json& document, const std::vector<std::string>& known);
core::Json to_json(const LearnedModel& model);
// Calibrated probabilities, the likeliest first. The features may stand in any order.
std::vector<ClassScore> score(const LearnedModel& model, const Features& features);

// Takes classes out whose need was measured and not met, or not measured while no rule speaks for them, and lets the others add
// up to 1 again. Features are found by the signal's name, or with "b:" before it (of pairs of sessions only needs count).
void rule_out(const RuleBook& book, const Features& features, std::vector<ClassScore>& ranking);

// The answer of the model where there is one and something was measured of what it was trained on, else of the rules; evidence
// from the rules either way.
Bottleneck classify(const RuleBook& book, const LearnedModel* model, const signals::Signals& signals);

core::Json to_json(const Bottleneck& bottleneck, const RuleBook& book);

}  // namespace aaco::analytics::bottleneck
