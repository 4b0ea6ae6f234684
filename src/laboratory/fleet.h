#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/fleet.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/fleet.h"

// A simulated fleet with known faults, and the judge of what the analysis says about it.
namespace aaco::laboratory::fleet {

struct FaultKind {
  std::string_view id;
  std::string_view finding;  // the kind of finding it should lead to
  bool of_device;
  std::string_view effect;  // of strength s, in words
};
std::span<const FaultKind> fault_kinds();

struct Fault {
  std::string kind;
  double strength = 0.1;
  std::int32_t node = 0;
  std::int32_t device = -1;
  std::int64_t since_minute = 0, until_minute = 0;
};

struct Request {
  std::int32_t nodes = 50;
  std::int32_t days = 2;
  std::int32_t devices = 8;  // per node
  std::uint64_t seed = 1;
  std::vector<std::string> faults;                         // "KIND", "KIND:STRENGTH" or "all"; KIND alone: 5, 10 and 30 %
  std::int64_t start_unix_ns = 1'767'225'600'000'000'000;  // 2026-01-01
};

struct Node {
  std::string name;
  std::int32_t model = 0;
  std::int32_t job = -1;
};
struct Job {
  std::string name;
  std::vector<std::int32_t> nodes;
  double step_ns = 0;
};
struct Plan {
  Request request;
  std::vector<Node> nodes;
  std::vector<Job> jobs;
  std::vector<Fault> faults;
  [[nodiscard]] std::int64_t minutes() const { return std::int64_t{1440} * request.days; }
};

// Draws the fleet and places each fault on a node of its own. Fails if the request is invalid or has too few nodes.
core::Result<Plan> make_plan(const Request& request);
// Every row in the order in which it is received, up to a few hours for late ones.
core::Status simulate(const Plan& plan, const std::function<core::Status(const trace::FleetMinute&)>& add);
// truth.json: the faults with node, device, strength and times, and which jobs have which straggler.
core::Json truth_of(const Plan& plan);

struct Tally {
  std::int64_t found = 0, named = 0, count = 0;  // named: with the right kind
};
struct Score {
  std::vector<std::pair<std::string, Tally>> by_kind;  // strengths of 10 % and more
  std::vector<std::pair<std::string, Tally>> by_strength;
  Tally strong;  // all of 10 % and more
  std::int64_t false_alarms = 0;
  double node_days = 0;
  Tally stragglers;   // named, from 10 % up
  Tally victims;      // jobs without a straggler, for which none must be named
  Tally cannot_tell;  // jobs whose clocks are not joined
  std::vector<std::string> missed, false_list;
};
// What the analysis found against a truth.json. Fails on a document of another form.
core::Result<Score> judge(const core::Json& truth, std::span<const analytics::fleet::Finding> findings,
                          std::span<const analytics::fleet::JobStraggler> stragglers);

}  // namespace aaco::laboratory::fleet
