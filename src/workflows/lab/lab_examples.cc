#include "workflows/lab_examples.h"

#include <algorithm>
#include <cmath>

#include "analytics/rootcause.h"
#include "core/files.h"
#include "core/strings.h"
#include "tracelake/bundle.h"
#include "workflows/explain/insight.h"
#include "workflows/session/metrics_files.h"

namespace aaco::workflows {
namespace {

using analytics::rootcause::Decomposition;
using core::Json;
using laboratory::scoring::Example;

constexpr std::string_view kClassTag = "class=";
// How much longer calls have to take by a fault than in both undisturbed runs nearest in time.
constexpr double kMinEffect = 0.08;       // to be a cause: runs of this machine differ by less for no reason
constexpr double kMinLimit = 0.15;        // to be what limits the session: below that more is gained elsewhere
constexpr double kMinLaunching = 1;       // operators that were added limit it where they take as long as all the others
constexpr double kMinOwnWait = 0.08;      // threads of the run that wait for a CPU, on average
constexpr std::size_t kPartners = 2;      // undisturbed runs that each disturbed one is laid beside
constexpr double kForeignCores = 0.15;    // CPUs that other processes used
constexpr double kMaxForeignWait = 0.10;  // of the time of the calls
constexpr double kMinExplained = 0.10;    // effect from which on a decomposition is judged

struct Labelled {
  std::string id, model, tag, fault, cause, generator, intensity, label;
  std::int64_t created_ns = 0;
  std::unique_ptr<SessionFacts> facts;
  hardware::Fingerprint fingerprint;
};

// A cause as the class of bottleneck that it makes of a session; empty: the session is limited by what it was limited by before.
std::string class_of_cause(const std::string& cause) {
  static const std::map<std::string, std::string> kSame = {{"launch_overhead", "launch_bound"},
                                                           {"memory_contention", ""},
                                                           {"threads", ""},
                                                           {"graph_optimisation", ""},
                                                           {"data_type", ""},
                                                           {"batch", ""},
                                                           {"memory_limit", ""}};
  const auto found = kSame.find(cause);
  return found == kSame.end() ? cause : found->second;
}

// "launch-bound" is launch_bound.
std::string class_id_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

core::Result<std::vector<Labelled>> load_labelled(const Services& services) {
  AACO_ASSIGN(const auto entries, tracelake::list_sessions(services.paths.sessions));
  std::vector<Labelled> all;
  for (const auto& entry : entries) {
    const auto& manifest = entry.manifest;
    const Json& fault = manifest.request["fault"];
    const bool tagged = manifest.tag.starts_with(kClassTag);
    if (manifest.state != "complete" || manifest.kind != "run" || (fault.is_null() && !tagged)) continue;
    services.progress("reading " + manifest.id.text);
    Labelled one;
    one.id = manifest.id.text;
    one.model = manifest.outcome.model;
    one.created_ns = manifest.created_realtime_ns;
    one.fault = fault["fault"].text();
    one.cause = fault["cause"].text();
    one.generator = fault["generator"].text();
    if (const auto intensity = fault["intensity_ratio"].as_f64()) one.intensity = std::to_string(std::lround(*intensity * 100));
    one.tag = manifest.tag;
    if (tagged) one.label = class_id_of(manifest.tag.substr(kClassTag.size(), manifest.tag.find(';') - kClassTag.size()));
    AACO_ASSIGN(const auto metrics, read_metrics(entry.path));
    LoadedSession loaded(entry.path);
    AACO_ASSIGN(one.facts, session_facts(loaded, manifest, metrics));
    AACO_ASSIGN(const Json environment, core::read_json_file(core::join_path(entry.path, "env.json")));
    AACO_ASSIGN(one.fingerprint, hardware::fingerprint_from_json(environment["fingerprint"]));
    all.push_back(std::move(one));
  }
  return all;
}

// Undisturbed runs of the same model with the same tag, made nearest in time.
std::vector<const Labelled*> partners_of(const Labelled& disturbed, const std::vector<Labelled>& all) {
  std::vector<const Labelled*> partners;
  for (const Labelled& one : all)
    if (one.fault.empty() && one.model == disturbed.model && one.tag == disturbed.tag) partners.push_back(&one);
  std::stable_sort(partners.begin(), partners.end(), [&](const auto* x, const auto* y) {
    return std::abs(x->created_ns - disturbed.created_ns) < std::abs(y->created_ns - disturbed.created_ns);
  });
  if (partners.size() > kPartners) partners.resize(kPartners);
  return partners;
}

// Whether threads waited for a CPU though no fault made them: then other programs did, and the truth is not the whole truth.
bool disturbed_otherwise(const Labelled& one) {
  for (const char* cause : {"cpu_contention", "cpu_placement", "cpu_throttling", "interrupts", "migration", "memory_contention"})
    if (one.cause == cause) return false;
  const auto& signals = one.facts->side.signals;
  const double waits = signals.get("caller.wait_ratio").value_or(0) + signals.get("process.others_wait_ratio").value_or(0);
  return waits > kMaxForeignWait &&
         signals.get("others.cpu_use_cores").value_or(0) > kForeignCores;  // threads wait for each other too
}

std::map<std::string, std::string> groups_of(const Labelled& one) {
  std::map<std::string, std::string> groups = {{"model", one.model}};
  if (one.fault.empty()) return groups;
  groups["intensity"] = one.intensity;
  groups["generator"] = one.fault + "/" + one.generator;
  return groups;
}

// Whether threads of the run shared a CPU: a runtime that starts one thread for each CPU allowed has none that wait.
bool own_threads_wait(const Labelled& one) {
  return one.facts->side.signals.get("process.wait_cores").value_or(0) >= kMinOwnWait;
}

void add_pair(const Labelled& a, const Labelled& b, const Judges& judges, LabExamples& out) {
  const auto decomposition = decompose(a.facts->side, b.facts->side);
  if (!decomposition) return;
  const double effect = decomposition->delta_ns / decomposition->baseline_ns;
  if (std::abs(effect) >= kMinExplained) {
    const double share = std::abs(decomposition->unexplained_ns / decomposition->delta_ns);
    out.unexplained.push_back(share);
    out.unexplained_by_cause[b.cause].push_back(share);
  }
  const auto differences = hardware::compare_fingerprints(a.fingerprint, b.fingerprint);
  // Who is allowed fewer CPUs may start fewer threads: the setting tells then, and no counter does.
  const bool other_cpus = b.cause == "cpu_placement" && !own_threads_wait(b);
  if (other_cpus || !hardware::same_subject(differences)) {
    const auto causes = find_causes(a.facts->side, b.facts->side, *decomposition, differences, judges.book, nullptr);
    laboratory::scoring::Prediction named{b.id, b.cause, "", {}, {}};
    for (const auto& cause : causes) named.ranking.push_back({cause.id, cause.probability});
    out.by_configuration.push_back(std::move(named));
    return;
  }
  auto features = features_of(a.facts->side, b.facts->side, *decomposition, judges.book);
  out.causes.features = std::move(features.names);
  out.causes.rows.push_back({b.id, b.cause, std::move(features.values), groups_of(b), {}, false});
}

// How much longer a call takes, beside the undisturbed run that it differs from the least; negative: shorter. Empty where a side
// has no calls.
std::optional<double> effect_of(const Labelled& disturbed, const std::vector<const Labelled*>& partners) {
  std::optional<double> least;
  for (const Labelled* one : partners) {
    if (one->facts->side.call_ns <= 0) return std::nullopt;
    const double effect = disturbed.facts->side.call_ns / one->facts->side.call_ns - 1;
    if (!least || std::abs(effect) < std::abs(*least)) least = effect;
  }
  return least;
}

// Settings and faults alike may be causes; a cause that disturbs has to take time to be one.
bool is_cause(const Labelled& one, double effect) {
  return class_of_cause(one.cause).empty() ? std::abs(effect) >= kMinEffect : effect >= kMinEffect;
}

bool limits(const Labelled& one, double effect) {
  if (one.cause == "cpu_placement" && !own_threads_wait(one)) return false;
  return effect >= (class_of_cause(one.cause) == "launch_bound" && one.label != "launch_bound" ? kMinLaunching : kMinLimit);
}

// Nothing is learnt from how long a call takes: the models of the lake that are launch-bound happen to be the quickest, and any
// quick model would be taken for one.
analytics::bottleneck::Features learnable(const Judges& judges, const analytics::signals::Signals& signals) {
  auto features = analytics::bottleneck::features_of(judges.book, signals);
  const auto found = std::find(features.names.begin(), features.names.end(), "latency.p50_ns");
  if (found == features.names.end()) return features;
  features.values.erase(features.values.begin() + (found - features.names.begin()));
  features.names.erase(found);
  return features;
}

// And its twin without a profiled pass: most runs of users have none.
void add_example(const Labelled& one, const std::string& truth, std::optional<double> effect, const Judges& judges,
                 LabExamples& out) {
  const auto& signals = one.facts->side.signals;
  auto features = learnable(judges, signals), without = learnable(judges, without_profile(signals));
  out.bottlenecks.features = std::move(features.names);
  out.bottlenecks.rows.push_back({one.id, truth, std::move(features.values), groups_of(one), effect, false});
  out.bottlenecks.rows.push_back({one.id, truth, std::move(without.values), groups_of(one), effect, true});
}

}  // namespace

core::Result<LabExamples> lab_examples(const Services& services) {
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  AACO_ASSIGN(auto all, load_labelled(services));
  LabExamples out;
  out.sessions = static_cast<std::int64_t>(all.size());
  out.disturbed_otherwise = static_cast<std::int64_t>(std::erase_if(all, disturbed_otherwise));
  for (const Labelled& one : all) {
    std::string truth = one.label;
    std::optional<double> effect;
    if (!one.fault.empty()) {
      const auto partners = partners_of(one, all);
      if (partners.empty()) {
        ++out.without_partner;
        continue;
      }
      effect = effect_of(one, partners);
      if (!effect || !is_cause(one, *effect)) {
        ++out.without_effect;
        continue;
      }
      for (const Labelled* partner : partners) add_pair(*partner, one, judges, out);
      truth = class_of_cause(one.cause);
      if (!truth.empty() && !limits(one, *effect)) {
        ++out.weak;
        continue;
      }
    }
    if (judges.book.find(truth) != nullptr) add_example(one, truth, effect, judges, out);
  }
  if (all.empty())
    return core::fail(core::ErrorCode::not_found, "no labelled sessions in " + services.paths.sessions,
                      "create some with 'aaco lab inject FAULT -- run ...', plus undisturbed runs with --tag class=CLASS");
  return out;
}

}  // namespace aaco::workflows
