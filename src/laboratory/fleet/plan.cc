#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/numbers.h"
#include "core/random.h"
#include "core/strings.h"
#include "laboratory/fleet.h"

namespace aaco::laboratory::fleet {
namespace {

constexpr std::array kFaultKinds = {
    FaultKind{"slow_gpu", "slow_gpu", true, "clock (1 - s), compute time (1 + s)"},
    FaultKind{"thermal", "thermal", true, "60 s K hotter, throttled s of the time, clock (1 - s), compute time (1 + s)"},
    FaultKind{"ecc_storm", "ecc_storm", true, "40 s corrected errors per minute, compute time (1 + s / 4)"},
    FaultKind{"bad_link", "bad_link", true, "20 s link errors per minute, transfer time (1 + s)"},
    FaultKind{"slow_host", "slow_host", false, "CPU probe and host time per step (1 + s)"},
    FaultKind{"noisy_neighbour", "noisy_neighbour", false,
              "s of the CPU used by others, two thirds of the time; host time (1 + s)"},
    FaultKind{"clock_skew", "clock_skew", false, "clock off by 50 s minutes, either way; not joined"},
    FaultKind{"missing_rows", "missing_rows", false, "node absent in s of the minutes, for up to 20 minutes at a time"},
    FaultKind{"late_rows", "late_rows", false, "s of the rows received 15 to 120 minutes late"},
    FaultKind{"duplicate_rows", "duplicate_rows", false, "s of the rows twice"},
};
constexpr std::array<double, 3> kStrengths = {0.05, 0.1, 0.3};
constexpr std::array<std::int32_t, 6> kJobNodes = {1, 2, 4, 8, 16, 4};

const FaultKind* kind_named(std::string_view id) {
  for (const FaultKind& kind : kFaultKinds)
    if (kind.id == id) return &kind;
  return nullptr;
}

core::Result<std::vector<Fault>> faults_of(const std::string& text) {
  std::vector<Fault> out;
  const auto colon = text.find(':');
  const std::string id = text.substr(0, colon);
  std::vector<double> strengths(kStrengths.begin(), kStrengths.end());
  if (colon != std::string::npos) {
    const auto strength = core::parse_ratio(text.substr(colon + 1));
    if (!strength || !(*strength > 0 && *strength <= 1))
      return core::fail(
          core::ErrorCode::invalid_argument,
          fmt::format("invalid value '{}' for '--fault': expected a strength above 0 and at most 1 after the colon", text));
    strengths = {*strength};
  }
  if (id != "all" && kind_named(id) == nullptr) {
    std::vector<std::string_view> known{"all"};
    for (const FaultKind& kind : kFaultKinds) known.push_back(kind.id);
    return core::fail(core::ErrorCode::invalid_argument, fmt::format("unknown fault '{}'", id),
                      "use one of " + core::join(known, ", "));
  }
  for (const FaultKind& kind : kFaultKinds)
    if (id == "all" || id == kind.id)
      for (const double strength : strengths) out.push_back({std::string(kind.id), strength, -1, -1, 0, 0});
  return out;
}

core::Status check(const Request& request) {
  const auto refuse = [](std::string_view option, std::int64_t value, std::string_view range) {
    return core::fail(core::ErrorCode::invalid_argument,
                      fmt::format("invalid value '{}' for '{}': expected {}", value, option, range));
  };
  if (request.nodes < 2 || request.nodes > 100'000) return refuse("--nodes", request.nodes, "2 to 100000");
  if (request.days < 1 || request.days > 366) return refuse("--days", request.days, "1 to 366");
  if (request.devices < 1 || request.devices > 64) return refuse("--devices", request.devices, "1 to 64");
  return {};
}

void make_jobs(Plan& plan, core::Random& random) {
  std::vector<std::int32_t> order(plan.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  // Nodes of one model are neighbours in the order: most jobs run on one model.
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return plan.nodes[static_cast<std::size_t>(a)].model < plan.nodes[static_cast<std::size_t>(b)].model;
  });
  for (std::size_t at = 0; at < order.size();) {
    const auto size = static_cast<std::size_t>(kJobNodes[random.below(kJobNodes.size())]);
    const std::size_t end = std::min(order.size(), at + size);
    if (random.uniform() < 0.04) {  // idle nodes
      at += 1;
      continue;
    }
    Job job{fmt::format("job{:04}", plan.jobs.size() + 1), {}, 2e8 * std::exp(random.normal() * 0.7)};
    for (; at < end; ++at) {
      job.nodes.push_back(order[at]);
      plan.nodes[static_cast<std::size_t>(order[at])].job = static_cast<std::int32_t>(plan.jobs.size());
    }
    plan.jobs.push_back(std::move(job));
  }
}

core::Status place_faults(Plan& plan, core::Random& random) {
  std::vector<Fault> wanted;
  for (const std::string& text : plan.request.faults) {
    AACO_ASSIGN(auto more, faults_of(text));
    wanted.insert(wanted.end(), more.begin(), more.end());
  }
  std::vector<std::int32_t> free;  // a slow device is only a fault where it works
  for (std::size_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].job >= 0) free.push_back(static_cast<std::int32_t>(i));
  if (wanted.size() * 4 > free.size())
    return core::fail(
        core::ErrorCode::invalid_argument,
        fmt::format("{} faults need at least {} busy nodes, the fleet has {}", wanted.size(), wanted.size() * 4, free.size()),
        "increase --nodes or name fewer faults");
  std::shuffle(free.begin(), free.end(), random);
  const std::int64_t minutes = plan.minutes();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Fault& fault = wanted[i];
    fault.node = free[i];
    if (kind_named(fault.kind)->of_device)
      fault.device = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(plan.request.devices)));
    fault.since_minute = static_cast<std::int64_t>(random.uniform() * 0.6 * static_cast<double>(minutes));
    const double length = 0.25 + 0.75 * random.uniform();
    fault.until_minute = std::min(minutes, fault.since_minute + static_cast<std::int64_t>(length * static_cast<double>(minutes)));
  }
  plan.faults = std::move(wanted);
  return {};
}

}  // namespace

std::span<const FaultKind> fault_kinds() { return kFaultKinds; }

core::Result<Plan> make_plan(const Request& request) {
  AACO_TRY(check(request));
  Plan plan{request, {}, {}, {}};
  core::Random random(request.seed);
  for (std::int32_t i = 0; i < request.nodes; ++i) {
    const double draw = random.uniform();
    plan.nodes.push_back({fmt::format("node{:05}", i + 1), draw < 0.6 ? 0 : draw < 0.85 ? 1 : 2, -1});
  }
  make_jobs(plan, random);
  AACO_TRY(place_faults(plan, random));
  return plan;
}

}  // namespace aaco::laboratory::fleet
