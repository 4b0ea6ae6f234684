#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "analytics/rootcause.h"
#include "analytics/rootcause/account_rules.h"
#include "analytics/rootcause/cause_evidence.h"
#include "analytics/rootcause/sleep_rules.h"
#include "analytics/rootcause/trained_shares.h"

namespace aaco::analytics::rootcause {
namespace {

using core::Json;

constexpr double kTinyNodeNs = 20'000;  // of the operators that came: shorter ones cost about what issuing them does

// The cause a fact of the fingerprint stands for.
struct Configuration {
  std::string_view key, cause, title;
};
constexpr std::array kConfigurations = {
    Configuration{"threads.intra", "threads", "different thread count"},
    Configuration{"graph_level", "graph_optimisation", "different graph optimisation level"},
    Configuration{"dtype", "data_type", "different data type"},
    Configuration{"injected_delay", "injected_delay", "injected delay (--inject-delay)"},
    Configuration{"inputs.hash", "input_data", "different input data"},
    Configuration{"batch", "batch", "different batch size"},
    Configuration{"provider", "provider", "different execution provider"},
    Configuration{"runtime.name", "runtime_version", "different runtime"},
    Configuration{"runtime.version", "runtime_version", "different runtime version"},
    Configuration{"runtime.hash", "runtime_version", "different build of the runtime"},
    Configuration{"driver.amdgpu", "driver_version", "different driver version"},
    Configuration{"driver.rocm", "driver_version", "different ROCm version"},
    Configuration{"driver.nvidia", "driver_version", "different driver version"},
    Configuration{"cpu.governor", "clock_governor", "different CPU frequency governor"},
    Configuration{"cpu.limit_cores", "cpu_throttling", "different CPU quota"},
    Configuration{"cpu.allowed_cores", "cpu_placement", "different number of allowed CPUs"},
    Configuration{"process.nice", "priority", "different priority (nice)"},
    Configuration{"cpu.weight", "priority", "different CPU weight of the cgroup"},
    Configuration{"process.scheduler", "priority", "different scheduling policy"},
    Configuration{"environment.preload", "preload", "different preloaded libraries (LD_PRELOAD)"},
    Configuration{"process.tracer", "traced", "a tracer (strace, gdb) on one side"},
    Configuration{"environment.allocator", "allocator", "different settings of the memory allocator"},
};
// Which CPUs a process may use matters only to threads that wait for them.
constexpr std::string_view kAllowedCores = "cpu.allowed_cores", kPriority = "priority";
constexpr double kMinWaitShare = 0.2;  // of the difference

// Another model: more nodes of tiny work are a matter of launching, other data types of their own.
std::pair<std::string, std::string> cause_of_model(const Side& a, const Side& b, const Decomposition& decomposition) {
  const auto count_a = a.signals.get("node.execution_count"), count_b = b.signals.get("node.execution_count");
  const auto mean_a = a.signals.get("node.mean_ns"), mean_b = b.signals.get("node.mean_ns");
  if (count_a && count_b && mean_a && mean_b && *count_b > 1.05 * *count_a && decomposition.delta_ns > 0 &&
      (*mean_b * *count_b - *mean_a * *count_a) / (*count_b - *count_a) < kTinyNodeNs)
    return {"launch_overhead", fmt::format("more, smaller operators: {:.0f} instead of {:.0f}", *count_b, *count_a)};
  return {"model", "different model"};
}

double waits_of_others(const Side& a, const Side& b) {
  if (!a.account || !b.account || !a.account->others_wait_ns || !b.account->others_wait_ns) return 0;
  return *b.account->others_wait_ns - *a.account->others_wait_ns;
}

// A caller asleep may sleep for threads that wait: then these matter too.
bool threads_wait(const Side& a, const Side& b, const Decomposition& decomposition) {
  return share_of(decomposition, "run_queue_wait") >= kMinWaitShare ||
         (decomposition.delta_ns != 0 && waits_of_others(a, b) / decomposition.delta_ns >= kMinWaitShare);
}

// A runtime that chooses its threads by the CPUs allowed uses fewer of them: nothing waits, and all computing takes longer.
constexpr double kAllInUse = 0.85;   // of the CPUs allowed on the slower side
constexpr double kMoreInUse = 1.15;  // times these were in use on the faster one
bool computes_on_fewer(const Side& a, const Side& b, const hardware::Difference& allowed, double delta_ns) {
  const bool slower = delta_ns > 0;
  const double few = std::strtod((slower ? allowed.b : allowed.a).c_str(), nullptr);
  const double many = std::strtod((slower ? allowed.a : allowed.b).c_str(), nullptr);
  const auto used = (slower ? b : a).signals.get("process.cpu_use_cores");
  const auto used_before = (slower ? a : b).signals.get("process.cpu_use_cores");
  return few > 0 && few < many && used && used_before && *used >= kAllInUse * few && *used_before >= kMoreInUse * few;
}

bool is_other_types(const hardware::Difference& one) {
  return one.key == "input_shapes" && one.severity == hardware::Severity::changed;
}

// Of the inputs: a model of other types is another file too, which is one change.
bool types_differ(const std::vector<hardware::Difference>& differences) {
  return std::any_of(differences.begin(), differences.end(), &is_other_types);
}

// A tracer makes its side slower, never the other.
constexpr std::string_view kTraced = "traced";
bool traces_slower(const hardware::Difference& tracer, double delta_ns) { return (delta_ns > 0 ? tracer.b : tracer.a) != "none"; }

std::vector<Cause> configuration_causes(const Side& a, const Side& b, const Decomposition& decomposition,
                                        const std::vector<hardware::Difference>& differences) {
  std::vector<Cause> causes;
  const auto add = [&](std::string id, std::string title, const hardware::Difference& difference) {
    causes.push_back({std::move(id), std::move(title), 0, 0, {to_text(difference)}});
  };
  const auto has = [&](std::string_view key) {
    return std::any_of(differences.begin(), differences.end(), [&](const auto& one) { return one.key == key; });
  };
  for (const hardware::Difference& difference : differences) {
    if (difference.a.empty() || difference.b.empty()) continue;  // one side does not know it
    if (difference.key == "runtime.hash" && (has("runtime.version") || has("runtime.name"))) continue;  // named by these
    for (const Configuration& one : kConfigurations)
      if (difference.key == one.key && (one.cause != kTraced || traces_slower(difference, decomposition.delta_ns)) &&
          ((one.key != kAllowedCores && one.cause != kPriority) || threads_wait(a, b, decomposition) ||
           (one.key == kAllowedCores && computes_on_fewer(a, b, difference, decomposition.delta_ns))))
        add(std::string(one.cause), std::string(one.title), difference);
    // A type or batch that differs makes the model or its shapes differ too: it is named once.
    const bool other_types = is_other_types(difference);
    if (other_types && !has("dtype")) add("data_type", "different data type", difference);
    if (difference.key == "model.hash" && !has("dtype") && !types_differ(differences)) {
      auto [id, title] = cause_of_model(a, b, decomposition);
      add(std::move(id), std::move(title), difference);
    }
    if (difference.key == "input_shapes" && !other_types && !has("batch") && !has("dtype"))
      add("shapes", "different input shapes", difference);
  }
  return causes;
}

// Without a learned ranking: what the parts say.
Weights causes_by_parts(const Side& a, const Side& b, const Decomposition& decomposition) {
  Weights weights;
  for (const char* id : {"cpu_throttling", "page_faults", "host_computing", "system_calls"})
    weights[id] = std::max(0.0, share_of(decomposition, id));
  double waits = std::max(0.0, share_of(decomposition, "run_queue_wait"));
  // What the scheduler's events say of the sleep; of the rest, what grew with it suggests a cause.
  double known = 0;
  const auto asleep_for = [&](std::string_view part) {
    const double share = share_of(decomposition, part);
    known += share;
    return std::max(0.0, share);
  };
  waits += asleep_for("host_waiting:workers_waiting");
  weights["storage"] += asleep_for("host_waiting:io");
  weights["page_faults"] += asleep_for("host_waiting:page_faults");
  weights["host_waiting"] += asleep_for("host_waiting:peer");
  const double of_workers = asleep_for("host_waiting:workers_computing");
  const double asleep = std::max(0.0, share_of(decomposition, "host_waiting") - known);
  const bool bytes = a.account && b.account && b.account->storage_bytes.value_or(0) >= a.account->storage_bytes.value_or(0) + 1;
  if (waits_of_others(a, b) / decomposition.delta_ns >= asleep / 2)
    waits += asleep;
  else
    weights[bytes ? "storage" : "host_waiting"] += asleep;
  weights[cause_of_waits(b)] += waits;
  const double slower = std::max(0.0, of_workers + share_of(decomposition, "node") + share_of(decomposition, "launch"));
  if (b.signals.get("migrations_per_second").value_or(0) > 100)
    weights["migration"] += slower + waits / 2;
  else
    weights[neighbours(b).value_or(0) >= kBusyOthers ? "memory_contention" : "slower_execution"] += slower;
  return weights;
}

// What the session shows where no class of bottlenecks is meant.
std::string title_of(const bottleneck::RuleBook& book, const std::string& id, bool slower) {
  if (id == kSlowerExecution)
    return slower ? "the same work takes longer, cause not recorded" : "the same work takes less time, cause not recorded";
  const auto* kind = book.find(id);
  const std::string title = kind != nullptr           ? kind->title
                            : id == kMemoryContention ? "memory contention with other threads or processes"
                            : id == "stopped"         ? "process stopped"
                            : id == "frozen"          ? "process frozen by the freezer of its control group"
                            : id == kSystemCalls      ? "kernel time: system calls"
                            : id == kFewerThreads     ? "the same work on fewer threads: workers start or answer late"
                                                      : id;
  return slower ? title : title + ", on side A only";
}

// Child processes have no part in the wait of the run's threads, which other threads that compute have.
constexpr std::string_view kChildrenTitle = "CPU placement: child processes of the run use its CPUs";
bool by_child_processes(const Side& fast, const Side& slow) {
  constexpr double kHardly = 0.1;  // of the CPU time that came
  if (share_of_own_work(fast, slow) <= 0) return false;
  const auto came = [&](std::optional<double> signals::CallAccount::*member) {
    return ((*slow.account).*member).value_or(0) - ((*fast.account).*member).value_or(0);
  };
  return came(&signals::CallAccount::others_wait_ns) <= kHardly * came(&signals::CallAccount::process_cpu_ns);
}

// Time that the process was kept from running, as shares of the difference.
struct Held {
  double stopped = 0, frozen = 0;
  [[nodiscard]] double all() const { return stopped + frozen; }
};

// Sleep while the process was stopped or frozen: by the scheduler's events, otherwise by the counts of stops and freezes.
Held held_share(const Side& fast, const Side& slow, const Decomposition& decomposition) {
  constexpr double kMinCount = 0.001;  // per call
  const bool recorded = std::any_of(decomposition.parts.begin(), decomposition.parts.end(),
                                    [](const Part& part) { return part.id.starts_with("host_waiting:"); });
  if (recorded)
    return {std::clamp(share_of(decomposition, "host_waiting:stopped"), 0.0, 1.0),
            std::clamp(share_of(decomposition, "host_waiting:frozen"), 0.0, 1.0)};
  if (!fast.account || !slow.account) return {};
  const auto grown = [](const std::optional<double>& before, const std::optional<double>& after) {
    const double count = after.value_or(0) - before.value_or(0);
    return count >= kMinCount ? count : 0;
  };
  const double stops = grown(fast.account->stops, slow.account->stops);
  const double freezes = grown(fast.account->freezes, slow.account->freezes);
  if (stops + freezes <= 0) return {};
  const double asleep = std::clamp(share_of(decomposition, "host_waiting"), 0.0, 1.0);
  return {asleep * stops / (stops + freezes), asleep * freezes / (stops + freezes)};
}

// What made `slow` slower than `fast`. The scheduler's events, where they tell most of it, come before the learned ranking.
constexpr double kToldByEvents = 0.5;  // of the difference
constexpr double kMinHeld = 0.2;
Weights measured_causes(const Side& fast, const Side& slow, const Decomposition& decomposition, const bottleneck::RuleBook& book,
                        const bottleneck::LearnedModel* model) {
  Weights weights;
  double told = 0;
  for (const Part& part : decomposition.parts)
    if (part.id.starts_with("host_waiting:")) told += std::max(0.0, part.ns / decomposition.delta_ns);
  if (model != nullptr && fast.account && slow.account && told < kToldByEvents) {
    const auto features = features_of(fast, slow, decomposition, book);
    auto ranking = bottleneck::score(*model, features);
    bottleneck::rule_out(book, features, ranking);
    for (const auto& one : ranking) weights[one.class_id] = one.probability;
  } else {
    weights = causes_by_parts(fast, slow, decomposition);
    for (auto& [id, weight] : weights)
      weight *= std::max(0.0, weight);  // the largest part is the likeliest cause by more than its share
  }
  apply_account(fast, slow, decomposition, weights);
  if (const Held held = held_share(fast, slow, decomposition); held.all() >= kMinHeld) {
    const double probability = probability_of_most(held.all());
    scale(weights, 1 - probability);
    weights["stopped"] = probability * held.stopped / held.all();
    weights["frozen"] = probability * held.frozen / held.all();
  }
  return weights;
}

// A graph level, data or weights of the same work change what is computed; they make no caller sleep and no memory be mapped
// anew.
bool only_computing(const std::vector<Cause>& settings) {
  return std::all_of(settings.begin(), settings.end(),
                     [](const Cause& one) { return one.id == "graph_optimisation" || one.id == "input_data"; });
}

// Sleep of a caller without threads to sleep for, and page faults: shares of the difference that such settings do not explain.
double share_beside_computing(const Side& fast, const Side& slow, const Decomposition& decomposition) {
  double share = std::max(0.0, share_of(decomposition, "page_faults"));
  if (computes_alone(fast) && computes_alone(slow)) share += std::max(0.0, share_of(decomposition, "host_waiting"));
  return share;
}

// The share of the difference that no setting explains but those of CPUs and threads: waiting for a CPU, a quota, a stop.
double foreign_share(const Side& fast, const Side& slow, const Decomposition& decomposition, const std::vector<Cause>& settings) {
  constexpr double kMinForeign = 0.2;
  for (const Cause& setting : settings)
    for (const std::string_view of_cpus : {"threads", "cpu_placement", "cpu_throttling", "priority", "preload", "traced"})
      if (setting.id == of_cpus && (of_cpus != "preload" || waits_for_own_threads(fast, slow))) return 0;
  const double held = held_share(fast, slow, decomposition).all();
  double share = std::max(0.0, share_of(decomposition, "cpu_throttling"));
  if (!waits_follow(fast, slow)) share += std::max(0.0, share_of(decomposition, "run_queue_wait"));
  share += only_computing(settings) ? std::max(held, share_beside_computing(fast, slow, decomposition)) : held;
  return share >= kMinForeign ? std::min(1.0, share) : 0;
}

// Of the factor by which a call takes longer, on a logarithmic scale, the factor of the caller's CPU time without page faults; 0
// where it is small or not known.
double factor_of_computing(const Side& fast, const Side& slow, const Decomposition& slowdown) {
  constexpr double kLarge = 0.25;
  if (!fast.account || !slow.account || !fast.account->cpu_ns || !slow.account->cpu_ns || !(*fast.account->cpu_ns > 0) ||
      !(slow.call_ns > fast.call_ns) || !(fast.call_ns > 0))
    return 0;
  const double faults = std::max(0.0, share_of(slowdown, "page_faults")) * slowdown.delta_ns;
  const double computing = std::max(*fast.account->cpu_ns, *slow.account->cpu_ns - faults);
  const double share = std::log(computing / *fast.account->cpu_ns) / std::log(slow.call_ns / fast.call_ns);
  return share >= kLarge ? std::min(1.0, share) : 0;
}

// Of the causes by parts, those of the foreign share.
Weights foreign_causes(Weights weights, bool beside_computing) {
  std::erase_if(weights, [&](const auto& one) {
    for (const std::string_view id : {"cpu_contention", "cpu_placement", "cpu_throttling", "migration", "stopped", "frozen"})
      if (one.first == id) return false;
    for (const std::string_view id : {"host_waiting", "storage", "page_faults"})
      if (one.first == id) return !beside_computing;
    return true;
  });
  return weights;
}

// Settings that differ share the probability by what each can explain: a quota the throttling, a priority the waiting, all others
// the remaining difference.
void share_out(double certain, const Decomposition& decomposition, std::vector<Cause>& settings) {
  constexpr double kLeast = 0.02;
  std::map<std::string_view, double> own = {{"cpu_throttling", share_of(decomposition, "cpu_throttling")},
                                            {kPriority, share_of(decomposition, "run_queue_wait")}};
  double remaining = 1;
  for (const auto& [id, share] : own)
    if (std::any_of(settings.begin(), settings.end(), [name = id](const Cause& one) { return one.id == name; }))
      remaining -= std::clamp(share, 0.0, 1.0);
  Weights weights;
  for (const Cause& one : settings) {
    const auto found = own.find(one.id);
    const double share = std::max(kLeast, found != own.end() ? found->second : remaining);
    weights[one.id] += share * share;  // the largest part is the likeliest main cause by more than its share
  }
  scale(weights, certain);
  for (Cause& one : settings) {
    const auto alike = std::count_if(settings.begin(), settings.end(), [&](const Cause& other) { return other.id == one.id; });
    one.probability = weights[one.id] / static_cast<double>(alike);
  }
}

}  // namespace

std::vector<std::string> feature_names(const bottleneck::RuleBook& book) {
  std::vector<std::string> names;
  for (const auto& name : bottleneck::features_of(book, signals::Signals()).names) names.push_back("b:" + name);
  for (const auto& one : signals::definitions()) names.push_back("change:" + std::string(one.id));
  for (const std::string_view group : trained::kGroups) names.push_back("share:" + std::string(group));
  names.emplace_back("delta_ratio");
  return names;
}

bottleneck::Features features_of(const Side& a, const Side& b, const Decomposition& decomposition,
                                 const bottleneck::RuleBook& book) {
  std::vector<float> row = bottleneck::features_of(book, b.signals).values;
  const std::vector<float> before = a.signals.features(), after = b.signals.features();
  for (std::size_t i = 0; i < before.size(); ++i) row.push_back(after[i] - before[i]);  // NaN where either is not known
  for (const double share : trained::shares_of(a, b, decomposition.profiled)) row.push_back(static_cast<float>(share));
  row.push_back(static_cast<float>(decomposition.delta_ns / decomposition.baseline_ns));
  return {feature_names(book), std::move(row)};
}

std::vector<Cause> find_causes(const Side& a, const Side& b, const Decomposition& decomposition,
                               const std::vector<hardware::Difference>& differences, const bottleneck::RuleBook& book,
                               const bottleneck::LearnedModel* model) {
  if (decomposition.delta_ns == 0) return {};
  std::vector<Cause> causes = configuration_causes(a, b, decomposition, differences);
  // What made the slower side slower explains a faster B as well: B no longer has it.
  const bool slower = decomposition.delta_ns > 0;
  const Side &fast = slower ? a : b, &slow = slower ? b : a;
  const Decomposition slowdown = slower ? decomposition : decompose(b, a).value_or(decomposition);
  const bool beside_computing = only_computing(causes);
  const double foreign = causes.empty() ? 0 : foreign_share(fast, slow, slowdown, causes);
  double certain = causes.empty() ? 0 : kCertain * (1 - probability_of_most(foreign));
  // Waiting multiplies what is computed: a setting that makes the caller compute longer explains its share of the factor.
  if (foreign > 0 && !causes.empty()) certain = std::max(certain, kCertain * factor_of_computing(fast, slow, slowdown));
  share_out(certain, slowdown, causes);
  for (Cause& cause : causes) {
    cause.share_ratio = share_of_setting(cause.id, decomposition);
    for (std::string& line : evidence_of_setting(cause.id, decomposition)) cause.evidence.push_back(std::move(line));
  }
  Weights weights = measured_causes(fast, slow, slowdown, book, foreign > 0 ? nullptr : model);
  if (foreign > 0) weights = foreign_causes(std::move(weights), beside_computing);
  scale(weights, 1 - certain);
  for (const auto& [id, probability] : weights) {
    if (probability <= 0) continue;
    const bool of_children = slower && id == "cpu_placement" && by_child_processes(fast, slow);
    const auto same = std::find_if(causes.begin(), causes.end(), [name = id](const Cause& cause) { return cause.id == name; });
    if (same != causes.end())
      same->probability += probability;  // a setting that differs, and the counters show it
    else
      causes.push_back({id, of_children ? std::string(kChildrenTitle) : title_of(book, id, slower), probability,
                        share_of_cause(id, decomposition), evidence_of_cause(id, a, b, decomposition)});
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& x, const auto& y) { return x.probability > y.probability; });
  return causes;
}

Json to_json(const std::vector<Cause>& causes) {
  Json out = Json::array();
  for (const Cause& cause : causes) {
    Json evidence = Json::texts(cause.evidence);
    out.push(Json::object({{"cause", cause.id},
                           {"title", cause.title},
                           {"probability_ratio", cause.probability},
                           {"share_ratio", cause.share_ratio},
                           {"evidence", std::move(evidence)}}));
  }
  return out;
}

}  // namespace aaco::analytics::rootcause
