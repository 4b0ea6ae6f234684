#include "analytics/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/numbers.h"

namespace aaco::analytics::advice {
namespace {

// That a faster implementation exists where none is known: our own judgement.
constexpr double kUntried = 0.4;

constexpr double kMinProbability = 0.05;

struct Gain {
  double ratio = 0;
  std::string basis;
  double least_ratio = 0;
  bool known = true;  // false: `ratio` is what would be saved by something that may not exist
};

Gain part(const signals::Signals& signals, std::string_view what, std::initializer_list<std::string_view> ids) {
  Gain gain;
  std::string terms;
  for (const std::string_view id : ids) {
    const double value = signals.get(id).value_or(0);
    gain.ratio += value;
    terms += fmt::format("{}{} {}", terms.empty() ? "" : ", ", id, core::format_percent(value));
  }
  gain.ratio = std::clamp(gain.ratio, 0.0, 0.95);
  gain.basis = fmt::format("removing {1} would save {0} of the call time ({2})", core::format_percent(gain.ratio), what, terms);
  return gain;
}

// Threads wait at the same time, so that their waits do not add up. Without any, the same CPU time would be used by as many CPUs
// as ran and were waited for together; and the calling thread's own wait is never hidden.
Gain of_waiting(const signals::Signals& signals) {
  const double caller = signals.get("caller.wait_ratio").value_or(0);
  const double others = signals.get("process.others_wait_ratio").value_or(0);
  const double used = std::max(0.0, signals.get("process.cpu_use_cores").value_or(1));
  const double together = caller + others > 0 ? (caller + others) / (used + caller + others) : 0;
  const double ratio = std::clamp(std::max(caller, together), 0.0, 0.95);
  return {ratio, fmt::format("removing CPU waits would save {} of the call time (caller.wait_ratio {}, "
                             "process.others_wait_ratio {}, process.cpu_use_cores {:.2g})",
                             core::format_percent(ratio), core::format_percent(caller), core::format_percent(others), used)};
}

// The kernel's time is that of all threads; a call has as much of it as its thread, at most.
Gain in_kernel(const signals::Signals& signals) {
  const double share = signals.get("process.system_ratio").value_or(0);
  const double cpu = signals.get("caller.cpu_ratio").value_or(1);
  return {std::min(0.95, share * cpu), fmt::format("the kernel used {} of the process's CPU time", core::format_percent(share))};
}

Gain of_quota(const signals::Signals& signals) {
  const double cores = std::max(1.0, signals.get("process.cpu_use_cores").value_or(1));
  const double held = signals.get("cgroup.throttled_ratio").value_or(0);
  const double ratio = std::min(0.95, held / cores);
  return {ratio,
          fmt::format("CPUs were throttled for {} of the time, with {:.2g} CPUs in use", core::format_percent(held), cores)};
}

// Of the time of convolutions and matrix products, what 8-bit integers save at most: processors with dot products of bytes
// compute four of them in the time of one float32. With such a processor a third is the least: static 8 bits of SqueezeNet 1.1,
// ResNet-50 and MobileNetV2 and dynamic ones of an MLP saved 56 to 72 % of the call (docs/results.md, "Searches for faster
// configurations").
constexpr double kInt8Saving = 0.75, kMinInt8Saving = 1.0 / 3;
constexpr std::array<std::string_view, 6> kInt8Operators = {"Conv", "FusedConv", "Gemm", "FusedGemm", "MatMul", "FusedMatMul"};
constexpr double kFreeCpus = 1.1;  // times those in use: fewer are no reason for more threads

// How many times as many CPUs as were used the process could have used.
double more_cpus(const signals::Signals& signals) {
  const auto allowed = signals.get("process.allowed_cores"), used = signals.get("process.cpu_use_cores");
  if (!allowed || !used || *used <= 0) return 1;
  const double times = *allowed / std::max(1.0, *used);
  return times < kFreeCpus ? 1 : times;
}

Gain of_fewer_bits(const signals::Signals& signals, const metrics::NodeTime& nodes, const trace::NameTable& names,
                   const Processor& processor) {
  double share = 0;
  for (const metrics::NodeShare& one : nodes.operators)
    if (std::find(kInt8Operators.begin(), kInt8Operators.end(), names.text(one.op_type)) != kInt8Operators.end())
      share += one.share_ratio;
  share = std::min(share, 1.0);
  const double times = more_cpus(signals);
  Gain gain;
  gain.least_ratio = processor.byte_dot_products ? kMinInt8Saving * share : 0;
  gain.ratio = share > 0 ? 1 - (1 - kInt8Saving * share) / times : 0;
  gain.basis = fmt::format(
      "convolutions and matrix products take {} of the call time; 8-bit integers are up to 4 times as fast as "
      "float32 on processors with byte dot products, which would save {} of the call time",
      core::format_percent(share), core::format_percent(kInt8Saving * share));
  if (processor.byte_dot_products)
    gain.basis += fmt::format(" and at least {} (this processor has them)", core::format_percent(gain.least_ratio));
  if (times > 1)
    gain.basis += fmt::format("; {:.2g} times as many CPUs as were in use are allowed: {} together", times,
                              core::format_percent(gain.ratio));
  return gain;
}

// Half of what the costliest operator takes: what twice as fast an implementation would give.
Gain of_largest_operator(const metrics::NodeTime& nodes, const trace::NameTable& names) {
  if (nodes.operators.empty()) return {};
  const auto& first = nodes.operators.front();
  return {.ratio = first.share_ratio / 2,
          .basis = fmt::format("{} takes {} of the call time; a 2x speedup would save half of that", names.text(first.op_type),
                               core::format_percent(first.share_ratio)),
          .known = false};
}

Gain gain_of(std::string_view id, const signals::Signals& signals, const metrics::NodeTime& nodes, const trace::NameTable& names,
             const Processor& processor) {
  if (id == "cpu_contention" || id == "cpu_placement" || id == "interrupts") return of_waiting(signals);
  if (id == "cpu_throttling") return of_quota(signals);
  if (id == "page_faults") return in_kernel(signals);
  if (id == "storage" || id == "host_waiting") return part(signals, "sleep time within the call", {"caller.blocked_ratio"});
  if (id == "host_computing") return part(signals, "host-side work", {"host.around_ratio"});
  if (id == "launch_bound") return part(signals, "time between and around nodes", {"node.remainder_ratio"});
  if (id == "memory_bound") return of_largest_operator(nodes, names);
  if (id != "compute_bound") return {};
  const Gain other = of_largest_operator(nodes, names), bits = of_fewer_bits(signals, nodes, names, processor);
  return bits.ratio > other.ratio ? bits : other;
}

// What a setting changes is easy; what changes the program or the machine is not.
double effort_of(std::string_view id) {
  for (const std::string_view easy : {"cpu_contention", "cpu_placement", "cpu_throttling", "interrupts", "migration"})
    if (id == easy) return 1;
  for (const std::string_view hard : {"compute_bound", "clock_throttling"})
    if (id == hard) return 3;
  return 2;
}

// Configurations to compare with 'aaco ab', where settings of a run can try it.
std::string command_for(std::string_view id) {
  if (id == "compute_bound") return "aaco optimize MODEL --accept --tolerance top1=99% -o optimized";
  if (id == "launch_bound") return "aaco ab -- --model MODEL --graph-level basic -- --graph-level all";
  if (id == "cpu_placement" || id == "cpu_throttling") return "aaco ab -- --model MODEL -- --threads N";
  if (id == "cpu_contention" || id == "interrupts" || id == "migration") return "aaco run --model MODEL --isolate";
  if (id == "host_waiting" || id == "storage") return "aaco run --model MODEL --ebpf";
  return {};
}

}  // namespace

std::vector<Recommendation> recommend(const bottleneck::Bottleneck& bottleneck, const bottleneck::RuleBook& book,
                                      const signals::Signals& signals, const metrics::NodeTime& nodes,
                                      const trace::NameTable& names, const Processor& processor) {
  std::vector<Recommendation> list;
  for (const bottleneck::ClassScore& score : bottleneck.ranking) {
    const auto* kind = book.find(score.class_id);
    if (kind == nullptr || score.probability < kMinProbability) continue;
    Gain gain = gain_of(kind->id, signals, nodes, names, processor);
    if (gain.ratio < kMinGain) continue;
    Recommendation one{kind->id,          kind->strategies.front(), kind->meaning,        gain.ratio,
                       score.probability, effort_of(kind->id),      std::move(gain.basis)};
    if (kind->id == "compute_bound" || kind->id == "memory_bound") one.confidence *= kUntried;
    one.least_gain_ratio = gain.least_ratio;
    if (!gain.known) one.cost_ratio = std::exchange(one.gain_ratio, 0);
    one.command = command_for(kind->id);
    for (std::size_t i = 1; i < kind->strategies.size(); ++i) one.text += " Alternatively: " + kind->strategies[i] + ".";
    list.push_back(std::move(one));
  }
  keep_best(list);
  return list;
}

void keep_best(std::vector<Recommendation>& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.rank() > b.rank(); });
  if (list.size() > kMaxRecommendations) list.resize(kMaxRecommendations);
}

core::Json to_json(const std::vector<Recommendation>& recommendations) {
  core::Json out = core::Json::array();
  for (const Recommendation& one : recommendations)
    out.push(core::Json::object({{"id", one.id},
                                 {"command", one.command.empty() ? core::Json() : core::Json(one.command)},
                                 {"title", one.title},
                                 {"text", one.text},
                                 {"gain_ratio", one.gain_ratio},
                                 {"gain_of", one.gain_of},
                                 {"expected_gain_ratio", one.worth()},
                                 {"gain_interval", core::Json::array({one.least_gain_ratio, one.gain_ratio})},
                                 {"confidence", one.confidence},
                                 {"effort", one.effort},
                                 {"basis", one.basis}}));
  return out;
}

}  // namespace aaco::analytics::advice
