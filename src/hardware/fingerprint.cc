#include "hardware/fingerprint.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/hash.h"

namespace aaco::hardware {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kShapes = "input_shapes";

const FactRule& rule_of(std::string_view key) {
  static const FactRule unlisted{"", Severity::soft, "not a known fact"};
  for (const FactRule& rule : fact_rules())
    if (rule.key == key) return rule;
  return unlisted;
}

std::string hash_of(const std::vector<Fact>& facts) {
  core::Sha256 hash;
  for (const Fact& fact : facts) {
    if (rule_of(fact.key).severity == Severity::soft) continue;
    hash.add(fact.key);
    hash.add(std::string_view("\0", 1));
    hash.add(fact.value);
    hash.add(std::string_view("\0", 1));
  }
  return hash.finish_hex().substr(0, kHashDigits);
}

}  // namespace

const std::vector<FactRule>& fact_rules() {
  static const std::vector<FactRule> rules = {
      {"mode", Severity::hard, "different kinds of work"},
      {"program", Severity::hard, "different program"},
      {"command", Severity::changed, "different command"},
      {"model.hash", Severity::changed, "different model"},
      {"input_shapes", Severity::hard, "different input shapes"},
      {"batch", Severity::hard, "different batch size"},
      {"dtype", Severity::changed, "different data type"},
      {"load", Severity::hard, "different load on the server"},
      {"slo", Severity::hard, "different SLO"},
      {"runtime.name", Severity::changed, "different runtime"},
      {"provider", Severity::changed, "different execution provider"},
      {"device", Severity::hard, "different device"},
      {"job.ranks", Severity::changed, "different number of ranks of the job"},
      {"threads.intra", Severity::changed, "different number of intra-op threads"},
      {"threads.inter", Severity::changed, "different number of inter-op threads"},
      {"graph_level", Severity::changed, "different graph optimisation level"},
      {"session_options", Severity::changed, "different session options of the runtime", "default"},
      {"inputs.hash", Severity::changed, "different input data", "generated"},
      {"injected_delay", Severity::changed, "different --inject-delay", "none"},
      {"cpu.model", Severity::hard, "different CPU"},
      {"cpu.cores", Severity::hard, "different number of CPUs"},
      {"cpu.limit_cores", Severity::changed, "different cgroup CPU quota"},
      {"cpu.governor", Severity::hard, "different clock governor"},
      {"cpu.boost", Severity::hard, "boost enabled on one side only"},
      {"cpu.smt", Severity::hard, "SMT enabled on one side only"},
      {"gpu.devices", Severity::hard, "different GPUs"},
      {"gpu.partitions", Severity::hard, "different GPU partitioning"},
      {"gpu.visible", Severity::hard, "different GPUs visible to the process"},
      {"isolation", Severity::hard, "different isolation level"},
      {"cpu.allowed_cores", Severity::soft, "different number of CPUs allowed for the process"},
      {"cpu.allowed_list", Severity::soft, "different CPUs allowed for the process"},
      {"memory.total_bytes", Severity::soft, "different amount of memory"},
      {"runtime.version", Severity::soft, "different runtime version"},
      {"runtime.hash", Severity::soft, "different runtime build"},
      {"driver.amdgpu", Severity::soft, "different amdgpu driver"},
      {"driver.nvidia", Severity::soft, "different NVIDIA driver"},
      {"driver.rocm", Severity::soft, "different ROCm version"},
      {"kernel", Severity::soft, "different kernel version"},
      {"host", Severity::soft, "different host"},
      {"seed", Severity::soft, "different random inputs"},
      {"process.nice", Severity::soft, "different priority of the process", "0"},
      {"process.scheduler", Severity::soft, "different scheduling policy of the process", "other"},
      {"memory.limit_bytes", Severity::soft, "different memory limit of the cgroup", "none"},
      {"cpu.weight", Severity::soft, "different CPU weight of the cgroup", "default"},
      {"measured_with", Severity::soft, "measured with different collectors or passes"},
      {"environment.preload", Severity::soft, "different preloaded libraries (LD_PRELOAD)", "none"},
      {"process.tracer", Severity::soft, "traced by ptrace", "none"},
      {"environment.allocator", Severity::soft, "different settings of the memory allocator", "none"},
  };
  return rules;
}

namespace {

// "x float32[64,512]" -> "x [64,512]"
std::string without_types(std::string_view shapes) {
  std::string out;
  for (const char c : shapes) {
    if (c == '[')
      while (!out.empty() && std::isalnum(static_cast<unsigned char>(out.back())) != 0) out.pop_back();
    out += c;
  }
  return out;
}

}  // namespace

Fingerprint make_fingerprint(std::vector<Fact> facts) {
  std::map<std::string, std::string> by_key;
  for (Fact& fact : facts) by_key.insert_or_assign(std::move(fact.key), std::move(fact.value));
  Fingerprint fingerprint;
  for (auto& [key, value] : by_key)
    if (!value.empty()) fingerprint.facts.push_back({key, std::move(value)});
  fingerprint.hash = hash_of(fingerprint.facts);
  return fingerprint;
}

std::vector<Difference> compare_fingerprints(const Fingerprint& a, const Fingerprint& b) {
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const Fact& fact : a.facts) values[fact.key].first = fact.value;
  for (const Fact& fact : b.facts) values[fact.key].second = fact.value;
  std::vector<Difference> differences;
  for (auto& [key, sides] : values) {
    const FactRule& rule = rule_of(key);
    for (std::string* side : {&sides.first, &sides.second})
      if (side->empty()) *side = rule.usual;
    if (sides.first == sides.second) continue;
    const bool both_known = !sides.first.empty() && !sides.second.empty();
    Difference found{key, sides.first, sides.second, both_known ? rule.severity : Severity::soft, std::string(rule.meaning)};
    if (both_known && key == kShapes && without_types(sides.first) == without_types(sides.second)) {
      found.severity = Severity::changed;  // another type of the same problem
      found.meaning = "different data types of the inputs, equal shapes";
    }
    differences.push_back(std::move(found));
  }
  const auto rank = [](const Difference& difference) {
    const auto& rules = fact_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FactRule& one) { return one.key == difference.key; });
    return std::pair(difference.severity, rule - rules.begin());
  };
  std::stable_sort(differences.begin(), differences.end(), [&](const auto& x, const auto& y) { return rank(x) < rank(y); });
  return differences;
}

bool comparable(const std::vector<Difference>& differences) {
  return std::none_of(differences.begin(), differences.end(),
                      [](const Difference& one) { return one.severity == Severity::hard; });
}

bool same_subject(const std::vector<Difference>& differences) {
  return std::all_of(differences.begin(), differences.end(),
                     [](const Difference& one) { return one.severity == Severity::soft; });
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::hard: return "hard";
    case Severity::changed: return "changed";
    case Severity::soft: break;
  }
  return "soft";
}

std::string to_text(const Difference& difference) {
  const auto side = [&](const std::string& value) -> std::string {
    if (value.empty()) return "unknown";
    if (value == "0" && difference.key.starts_with("threads.")) return "runtime's choice";
    return difference.key == "model.hash" ? value.substr(0, kHashDigits) : value;
  };
  return difference.key + ": " + side(difference.a) + " vs " + side(difference.b) + " (" + difference.meaning + ")";
}

core::Json to_json(const Fingerprint& fingerprint) {
  core::Json facts = core::Json::object();
  for (const Fact& fact : fingerprint.facts) facts.set(fact.key, fact.value);
  return core::Json::object({{"hash", fingerprint.hash}, {"facts", std::move(facts)}});
}

core::Result<Fingerprint> fingerprint_from_json(const core::Json& document) {
  if (!document["facts"].is_object())
    return core::fail(core::ErrorCode::invalid_input, "the fingerprint has no facts, so this session cannot be compared reliably",
                      "measure again with this version");
  std::vector<Fact> facts;
  for (const auto& [key, value] : document["facts"].members()) {
    if (!value.is_string()) return core::fail(core::ErrorCode::invalid_input, "the fingerprint fact " + key + " is not a string");
    facts.push_back({key, std::string(value.text())});
  }
  // The hash is computed anew: rules may have changed since it was written.
  return make_fingerprint(std::move(facts));
}

}  // namespace aaco::hardware
