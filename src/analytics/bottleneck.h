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

// The bottleneck of a session: a class, its confidence, and the signals that support it.
namespace aaco::analytics::bottleneck {

// A precondition of a class: without throttling, for example, a quota cannot be the limit.
struct Need {
  std::string signal;
  double above = 0;
  std::string otherwise;  // the class that what spoke for this one speaks for where it is not met; empty: none
};

// A bottleneck class and its remedies. data/rules/bottleneck.yaml.
struct BottleneckClass {
  std::string id;                       // "memory_bound"
  std::string title;                    // "memory bandwidth"
  std::string meaning;                  // one sentence
  std::string gpu_meaning;              // the same for a GPU trace; empty: `meaning` applies to both
  double prior = 0;                     // prior log-odds
  std::vector<Need> needs;              // all of those that were measured have to be met
  std::vector<std::string> strategies;  // remedies, the best first
};

// A signal that supports a class (or, with a negative weight, contradicts it): 0 below `from`, full `weight` beyond `to`,
// linear in between, optionally on a logarithmic scale. With `from` above `to`, small values count.
struct Rule {
  std::string class_id;
  std::string signal;
  double from = 0, to = 0;
  double weight = 0;
  bool logarithmic = false;
};

class RuleBook {
 public:
  // A file of data/rules. Fails, with file and line, on an unknown key, class or signal, an empty range, a duplicate class
  // or a class without strategy.
  static core::Result<RuleBook> load(const std::string& path);
  static core::Result<RuleBook> parse(const core::YamlNode& document);

  [[nodiscard]] const std::vector<BottleneckClass>& classes() const { return classes_; }
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }
  // launch-bound finds launch_bound.
  [[nodiscard]] const BottleneckClass* find(std::string_view id) const;

 private:
  std::vector<BottleneckClass> classes_;
  std::vector<Rule> rules_;
};

// Evidence: the contribution of a signal to the class, in log-odds.
struct Evidence {
  std::string signal;
  double value = 0;
  double weight = 0;
  bool operator==(const Evidence&) const = default;
};

struct ClassScore {
  std::string class_id;
  double probability = 0;  // of method kGpuLimit: the share
};

struct Bottleneck {
  std::string class_id;             // empty: no relevant signal was measured
  double confidence = 0;            // probability that the class is right
  std::vector<ClassScore> ranking;  // all classes, most likely first
  std::vector<Evidence> evidence;   // for the first class, strongest first
  std::string method;               // "rules", or "trees" if a learned model decided (including the rules' weight)
  std::string evidence_class;       // what the confidence was learned from (analytics/confidence.h); empty: by the model itself
  std::string undecided;            // why the result is inconclusive; of a conclusive one, what is not known beside it
};

// The class of a session with too few measurements. Ranking and evidence are kept as hints.
inline constexpr std::string_view kInconclusive = "inconclusive";
// A GPU trace whose span is mostly kernels of unknown limit.
inline constexpr std::string_view kDeviceBusy = "device_busy";
// In a ranking: kernels of a GPU trace whose limit is unknown.
inline constexpr std::string_view kUnknownKernels = "unknown_kernels";
// The method based on shares of a GPU trace's span.
inline constexpr std::string_view kGpuLimit = "gpu_limit";
// With fewer measured calls not even the median has a 95 % CI, and a single outlier could decide.
inline constexpr std::size_t kMinCalls = 6;
// The result, made inconclusive if too few calls were measured.
Bottleneck with_calls(Bottleneck answer, std::size_t measured_calls);

// The result of the rules: summed log-odds, softmax over the classes.
Bottleneck classify_by_rules(const RuleBook& book, const signals::Signals& signals);

// A model learned from signals. data/bottleneck/*.json, with its training record.
struct LearnedModel {
  std::vector<std::string> classes;   // in the order of the trees' scores
  std::vector<std::string> features;  // signals in the order of the columns
  stats::BoostedTrees trees;
  double temperature = 1;  // divides the scores before the softmax: calibrates the probabilities
  double rule_weight = 0;  // weight of the rules' log-odds, added to the scores: generalises to unseen intensities
  core::Json record;       // provenance and held-out scores
};
// Values by name; NaN if not measured.
struct Features {
  std::vector<std::string> names;
  std::vector<float> values;
};
// The signals and the rules' log-odds for each class ("rule:CLASS"), which generalise to unseen models.
Features features_of(const RuleBook& book, const signals::Signals& signals);

// The rules' log-odds of each class among the features ("rule:CLASS", optionally prefixed "b:"); empty for classes without rules.
std::vector<double> rule_scores_of(const std::vector<std::string>& classes, const Features& features);

// Refuses a model whose classes or features do not match its trees, a feature not in `known`, a non-positive
// temperature, and a negative rule weight.
core::Result<LearnedModel> model_from_json(const core::Json& document, const std::vector<std::string>& known);
core::Json to_json(const LearnedModel& model);
// Calibrated probabilities, most likely first. The features may be in any order.
std::vector<ClassScore> score(const LearnedModel& model, const Features& features);

// Removes classes whose precondition was measured and not met, or not measured while no rule supports them, and renormalises the
// others to 1. Features are looked up by signal name, optionally prefixed "b:" (for session pairs only preconditions count).
void rule_out(const RuleBook& book, const Features& features, std::vector<ClassScore>& ranking);

// The model's result if there is a model and any of its signals was measured, otherwise that of the rules; evidence
// always comes from the rules.
Bottleneck classify(const RuleBook& book, const LearnedModel* model, const signals::Signals& signals);

core::Json to_json(const Bottleneck& bottleneck, const RuleBook& book);

}  // namespace aaco::analytics::bottleneck
