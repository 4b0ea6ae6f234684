#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "laboratory/fleet.h"

namespace aaco::laboratory::fleet {
namespace {

constexpr double kStrong = 0.0999;     // strengths from here up must be found
constexpr double kStraggles = 0.0999;  // a device this much slower must be named as its job's straggler

struct KnownFault {
  std::string kind, finding, node, job;
  std::int32_t device = -1;
  double strength = 0;
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
};

core::Result<std::vector<KnownFault>> known_faults(const core::Json& truth) {
  if (!truth["faults"].is_array() || !truth["node_days"].as_f64())
    return core::fail(core::ErrorCode::invalid_input, "the truth has no faults or no node_days", "see docs/formats/fleet.md");
  std::vector<KnownFault> out;
  for (const core::Json& one : truth["faults"].items()) {
    KnownFault fault{std::string(one["fault"].text()),
                     std::string(one["finding"].text()),
                     std::string(one["node"].text()),
                     std::string(one["job"].text()),
                     static_cast<std::int32_t>(one["device"].as_i64().value_or(-1)),
                     one["strength"].as_f64().value_or(0),
                     one["since_unix_ns"].as_i64().value_or(0),
                     one["until_unix_ns"].as_i64().value_or(INT64_MAX)};
    if (fault.kind.empty() || fault.node.empty())
      return core::fail(core::ErrorCode::invalid_input, "a fault of the truth has no kind or no node",
                        "see docs/formats/fleet.md");
    if (fault.finding.empty()) fault.finding = fault.kind;
    out.push_back(std::move(fault));
  }
  return out;
}

bool meets(const KnownFault& fault, const analytics::fleet::Finding& finding) {
  return fault.node == finding.node && (fault.device < 0 || finding.device < 0 || fault.device == finding.device) &&
         finding.since_unix_ns < fault.until_unix_ns && fault.since_unix_ns < finding.until_unix_ns;
}

void count(std::vector<std::pair<std::string, Tally>>& list, const std::string& name, bool found, bool named) {
  auto place = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == name; });
  if (place == list.end()) place = list.insert(list.end(), {name, {}});
  ++place->second.count;
  place->second.found += found ? 1 : 0;
  place->second.named += named ? 1 : 0;
}

// Faults that delay the steps of a job's other ranks enough to be named.
bool straggles(const KnownFault& fault) {
  return (fault.kind == "slow_gpu" || fault.kind == "thermal") && fault.strength >= kStraggles;
}

// Faults that delay other ranks by an amount for which naming a straggler is neither required nor wrong.
bool may_straggle(const KnownFault& fault) {
  return fault.device >= 0 || fault.kind == "slow_host" || fault.kind == "noisy_neighbour";
}

void judge_stragglers(const std::vector<KnownFault>& faults, std::span<const analytics::fleet::JobStraggler> answers,
                      Score& score) {
  using analytics::fleet::StragglerState;
  for (const auto& answer : answers) {
    bool unjoined = false;
    std::vector<const KnownFault*> guilty;
    bool possible = false;
    for (const KnownFault& fault : faults) {
      if (fault.job != answer.job) continue;
      unjoined = unjoined || fault.kind == "clock_skew";
      if (straggles(fault)) guilty.push_back(&fault);
      possible = possible || may_straggle(fault);
    }
    const auto names = [&](const KnownFault* fault) {
      return answer.state == StragglerState::found && answer.node == fault->node &&
             std::find(answer.devices.begin(), answer.devices.end(), fault->device) != answer.devices.end();
    };
    if (unjoined) {
      ++score.cannot_tell.count;
      score.cannot_tell.found += answer.state == StragglerState::cannot_tell ? 1 : 0;
    } else if (!guilty.empty()) {
      const bool right = std::any_of(guilty.begin(), guilty.end(), names);
      ++score.stragglers.count;
      score.stragglers.found += right ? 1 : 0;
      if (!right)
        score.missed.push_back(fmt::format("straggler of {}: {} on {}", answer.job, guilty.front()->kind, guilty.front()->node));
    } else if (!possible) {
      ++score.victims.count;
      score.victims.found += answer.state == StragglerState::none ? 1 : 0;
    }
  }
}

}  // namespace

core::Json truth_of(const Plan& plan) {
  const auto at = [&](std::int64_t minute) { return plan.request.start_unix_ns + minute * 60'000'000'000; };
  core::Json faults = core::Json::array();
  for (const Fault& fault : plan.faults) {
    const Node& node = plan.nodes[static_cast<std::size_t>(fault.node)];
    const auto kinds = fault_kinds();
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const FaultKind& one) { return one.id == fault.kind; });
    core::Json one = core::Json::object({{"fault", fault.kind},
                                         {"finding", kind->finding},
                                         {"strength", fault.strength},
                                         {"node", node.name},
                                         {"since_unix_ns", at(fault.since_minute)},
                                         {"until_unix_ns", at(fault.until_minute)}});
    if (fault.device >= 0) one.set("device", fault.device);
    if (node.job >= 0) one.set("job", plan.jobs[static_cast<std::size_t>(node.job)].name);
    faults.push(std::move(one));
  }
  return core::Json::object({{"schema_version", 1},
                             {"nodes", plan.request.nodes},
                             {"days", plan.request.days},
                             {"devices_per_node", plan.request.devices},
                             {"seed", plan.request.seed},
                             {"node_days", static_cast<double>(plan.request.nodes) * plan.request.days},
                             {"faults", std::move(faults)}});
}

core::Result<Score> judge(const core::Json& truth, std::span<const analytics::fleet::Finding> findings,
                          std::span<const analytics::fleet::JobStraggler> stragglers) {
  AACO_ASSIGN(const auto faults, known_faults(truth));
  Score score;
  score.node_days = *truth["node_days"].as_f64();
  for (const KnownFault& fault : faults) {
    bool found = false;
    bool named = false;
    for (const auto& finding : findings) {
      if (!meets(fault, finding)) continue;
      found = true;
      named = named || finding.kind == fault.finding;
    }
    count(score.by_strength, fmt::format("{:.0f} %", fault.strength * 100), found, named);
    if (fault.strength < kStrong) continue;
    count(score.by_kind, fault.kind, found, named);
    ++score.strong.count;
    score.strong.found += found ? 1 : 0;
    score.strong.named += named ? 1 : 0;
    if (!named)
      score.missed.push_back(
          fmt::format("{} {:.0f} % on {}{}", fault.kind, fault.strength * 100, fault.node, found ? " (other kind)" : ""));
  }
  for (const auto& finding : findings)
    if (std::none_of(faults.begin(), faults.end(), [&](const KnownFault& fault) { return meets(fault, finding); })) {
      ++score.false_alarms;
      score.false_list.push_back(fmt::format("{} on {} device {}", finding.kind, finding.node, finding.device));
    }
  judge_stragglers(faults, stragglers, score);
  return score;
}

}  // namespace aaco::laboratory::fleet
