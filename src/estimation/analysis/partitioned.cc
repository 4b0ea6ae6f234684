#include "estimation/partitioned.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "estimation/analysis/host.h"

namespace aaco::estimation {
namespace {

// Of starting a copy and hearing that it is done, whatever its size; as far off as the host's other times.
constexpr double kCopyS = 10e-6, kCopyFactor = 3;
constexpr double kSlowLink = 2;  // copies reach half of a link's published rate at the least

struct Bridge {
  double bytes_per_s = 0;  // 0: not known
  std::string text;
};

// The accelerator's link to its host, or the memory they share.
Bridge bridge_of(const hardware::Device& device) {
  if (device.host_link)
    return {device.host_link->bytes_per_s.value,
            device.host_link->kind + ", " + core::format_bytes(device.host_link->bytes_per_s.value) + "/s"};
  if (device.memory.kind.starts_with("LPDDR") && device.memory.bytes_per_s)
    return {device.memory.bytes_per_s->value,
            "shared " + device.memory.kind + ", " + core::format_bytes(device.memory.bytes_per_s->value) + "/s"};
  return {0, "of unknown bandwidth: only the start-up cost of copies is counted"};
}

enum class End { low, likely, high };

double pick(End end, double low, double likely, double high) { return end == End::low ? low : end == End::high ? high : likely; }

class CrossingCourse {
 public:
  CrossingCourse(const graph::Graph& graph, const graph::Partition& partition, const std::array<Share, 2>& shares,
                 const Bridge& bridge)
      : graph_(graph), partition_(partition), shares_(shares), bridge_(bridge), producer_(graph.tensors.size(), -1) {
    for (std::size_t at = 0; at < graph.nodes.size(); ++at)
      for (const graph::TensorId id : graph.nodes[at].outputs)
        if (id.valid()) producer_[static_cast<std::size_t>(id.value)] = static_cast<std::int64_t>(at);
    for (const graph::Transfer& one : partition.transfers) bytes_[{one.tensor.value, one.to}] = one.bytes;
  }

  // Of each node of the graph: its kernels and what issuing them takes.
  [[nodiscard]] std::vector<double> seconds(End end) const {
    std::vector<double> out(graph_.nodes.size(), 0);
    for (const Share& share : shares_) {
      if (share.device == nullptr) continue;
      const HostTime host = host_time(*share.device, *share.conditions);
      const double issue = pick(end, host.low, host.seconds, host.high);
      for (const NodeEstimate& node : share.estimate.nodes) {
        const double one = pick(end, node.latency.lower, node.latency.seconds, node.latency.upper);
        const bool beside = share.device->kind != hardware::DeviceKind::cpu;  // the host issues while the device computes
        out[node.place] += (beside ? std::max(one, issue) : one + issue) * node.repeats;
      }
    }
    return out;
  }

  [[nodiscard]] double copy(double bytes, End end) const {
    const double moved = bridge_.bytes_per_s > 0 ? bytes / bridge_.bytes_per_s * pick(end, 1, 1, kSlowLink) : 0;
    return pick(end, kCopyS / kCopyFactor, kCopyS, kCopyS * kCopyFactor) + moved;
  }

  // When everything is done. `alone`: devices and the link never make anyone wait.
  [[nodiscard]] double run(End end, bool alone) const {
    const std::vector<double> own = seconds(end);
    std::vector<double> finish(graph_.nodes.size(), 0);
    std::map<std::pair<std::int32_t, std::size_t>, double> there;  // copies that were made: tensor, target -> when
    std::array<double, 2> free{};
    double link = 0, last = 0;
    for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
      const std::size_t target = partition_.target_of[at];
      double start = 0;
      for (const graph::TensorId id : graph_.nodes[at].inputs) {
        const std::int64_t made = id.valid() ? producer_[static_cast<std::size_t>(id.value)] : -1;
        if (made < 0) continue;
        double ready = finish[static_cast<std::size_t>(made)];
        if (const auto crossing = bytes_.find({id.value, target}); crossing != bytes_.end()) {
          const auto [copied, fresh] = there.try_emplace(crossing->first, 0);
          if (fresh) {
            copied->second = std::max(ready, alone ? 0 : link) + copy(crossing->second, end);
            link = copied->second;
          }
          ready = copied->second;
        }
        start = std::max(start, ready);
      }
      if (own[at] > 0 && !alone) start = std::max(start, free[target]);
      finish[at] = start + own[at];
      if (own[at] > 0) free[target] = finish[at];
      last = std::max(last, finish[at]);
    }
    return last;
  }

 private:
  const graph::Graph& graph_;
  const graph::Partition& partition_;
  const std::array<Share, 2>& shares_;
  const Bridge& bridge_;
  std::vector<std::int64_t> producer_;
  std::map<std::pair<std::int32_t, std::size_t>, double> bytes_;  // of tensors that cross: tensor, target
};

std::string label_of(const graph::Graph& graph, std::size_t at) {
  return graph.nodes[at].name.empty() ? graph.nodes[at].op_type + " " + std::to_string(at) : graph.nodes[at].name;
}

void fill_parts(const graph::Graph& graph, const graph::Partition& partition, const std::vector<double>& seconds,
                PartitionReport& report) {
  std::vector<std::size_t> part_of(graph.nodes.size(), 0);
  std::map<std::int32_t, std::size_t> made_by;
  for (const graph::Part& part : partition.parts) {
    PartEstimate out{
        part.target, part.nodes.size(), 0, 0, 0, label_of(graph, part.nodes.front()), label_of(graph, part.nodes.back())};
    for (const std::size_t at : part.nodes) {
      part_of[at] = report.parts.size();
      out.seconds += seconds[at];
      report.busy[part.target] += seconds[at];
      for (const graph::TensorId id : graph.nodes[at].outputs)
        if (id.valid()) made_by[id.value] = at;
    }
    report.parts.push_back(std::move(out));
  }
  for (const graph::Transfer& one : partition.transfers) {
    if (const auto made = made_by.find(one.tensor.value); made != made_by.end())
      report.parts[part_of[made->second]].bytes_out += one.bytes;
    for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
      const auto& inputs = graph.nodes[at].inputs;
      if (partition.target_of[at] != one.to || std::find(inputs.begin(), inputs.end(), one.tensor) == inputs.end()) continue;
      report.parts[part_of[at]].bytes_in += one.bytes;
      break;
    }
  }
}

void add(const GraphEstimate& share, const std::string& device, GraphEstimate& out) {
  for (NodeEstimate node : share.nodes) {
    node.device = device;
    out.nodes.push_back(std::move(node));
  }
  out.device_seconds += share.device_seconds;
  out.bytes += share.bytes;
  out.fused_nodes += share.fused_nodes;
  out.least_clock_ratio = std::min(out.least_clock_ratio, share.least_clock_ratio);
  out.latency.level = std::max(out.latency.level, share.latency.level);
  out.latency.source += (out.latency.source.empty() ? "" : "; ") + device + ": " + share.latency.source;
  for (const auto& [name, one] : share.classes) {
    ClassEstimate& sum = out.classes[name];
    sum.nodes += one.nodes;
    sum.seconds += one.seconds;
    sum.joules += one.joules;
    sum.flops += one.flops;
    sum.bytes += one.bytes;
  }
}

// Both devices', where both have one: the one that waits draws its static power, which the other's share does not hold.
void add_energy(const std::array<Share, 2>& shares, GraphEstimate& out) {
  for (const Share& share : shares) {
    if (share.device == nullptr) continue;
    if (!share.estimate.energy) {
      out.energy.reset();
      return;
    }
    const Estimate& one = *share.estimate.energy;
    if (!out.energy) out.energy = Estimate{0, one.unit, one.level, "", 0, 0};
    out.energy->level = std::max(out.energy->level, one.level);
    out.energy->value += one.value;
    out.energy->lower += one.lower;
    out.energy->upper += one.upper;
    out.energy->source += (out.energy->source.empty() ? "" : "; ") + share.estimate.device_id + ": " + one.source;
    out.energy_parts.compute_joules += share.estimate.energy_parts.compute_joules;
    out.energy_parts.movement_joules += share.estimate.energy_parts.movement_joules;
    out.energy_parts.static_joules += share.estimate.energy_parts.static_joules;
  }
  if (!out.energy || !(out.latency.value > 0)) return;
  const double seconds = out.latency.value * 1e-9;
  out.power = Estimate{out.energy->value / seconds, "W", out.energy->level, out.energy->source, out.energy->lower / seconds,
                       out.energy->upper / seconds};
  out.notes.emplace_back("the energy covers the active device only, not the idle power of the other one");
}

}  // namespace

GraphEstimate join_shares(const graph::Graph& graph, const graph::Partition& partition, const std::array<Share, 2>& shares,
                          PartitionReport& report) {
  const Share& first = shares[0].device != nullptr ? shares[0] : shares[1];
  GraphEstimate out;
  out.device_id = first.estimate.device_id;
  out.device_name = first.estimate.device_name;
  out.flops = first.estimate.flops;
  out.weight_bytes = first.estimate.weight_bytes;
  out.unmodelled = first.estimate.unmodelled;
  out.newer = first.estimate.newer;
  out.confidence_ratio = first.estimate.confidence_ratio;
  out.latency = Estimate{0, "ns", Level::calibrated, "", 0, 0};
  for (const Share& share : shares)
    if (share.device != nullptr) add(share.estimate, share.estimate.device_id, out);
  std::stable_sort(out.nodes.begin(), out.nodes.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
  const Bridge bridge = shares[0].device != nullptr ? bridge_of(*shares[0].device) : Bridge();
  const CrossingCourse course(graph, partition, shares, bridge);
  out.latency.value = course.run(End::likely, false) * 1e9;
  out.latency.lower = course.run(End::low, false) * 1e9;
  out.latency.upper = course.run(End::high, false) * 1e9;
  report.critical_seconds = course.run(End::likely, true);
  report.refusals = partition.refusals;
  report.transfers = partition.transfers.size();
  report.transfer_bytes = partition.transfer_bytes;
  report.link = bridge.text;
  for (const graph::Transfer& one : partition.transfers) report.transfer_seconds += course.copy(one.bytes, End::likely);
  fill_parts(graph, partition, course.seconds(End::likely), report);
  const double busy = report.busy[0] + report.busy[1];
  out.host_exposed_seconds = std::max(0.0, busy - out.device_seconds);
  add_energy(shares, out);
  for (const Share& share : shares)
    if (share.device != nullptr && !share.estimate.residency.empty())
      out.notes.push_back(share.estimate.device_id + ": " + share.estimate.residency);
  if (out.fused_nodes > 0)
    out.notes.push_back(fmt::format("{} nodes are fused into the kernels of other nodes", out.fused_nodes));
  return out;
}

core::Json to_json(const PartitionReport& report) {
  using core::Json;
  Json devices = Json::array(), parts = Json::array(), refusals = Json::array();
  for (std::size_t target = 0; target < 2; ++target)
    devices.push(Json::object({{"device", report.devices[target]}, {"busy_ns", report.busy[target] * 1e9}}));
  for (const PartEstimate& part : report.parts)
    parts.push(Json::object({{"device", report.devices[part.target]},
                             {"nodes", part.nodes},
                             {"latency_ns", part.seconds * 1e9},
                             {"bytes_in", part.bytes_in},
                             {"bytes_out", part.bytes_out},
                             {"first", part.first},
                             {"last", part.last}}));
  for (const graph::Refusal& one : report.refusals)
    refusals.push(Json::object({{"op_type", one.op_type}, {"nodes", one.nodes}, {"reason", one.reason}}));
  return Json::object({{"backend", report.backend},
                       {"source", report.source},
                       {"devices", std::move(devices)},
                       {"parts", std::move(parts)},
                       {"transfers", Json::object({{"count", report.transfers},
                                                   {"bytes", report.transfer_bytes},
                                                   {"latency_ns", report.transfer_seconds * 1e9},
                                                   {"link", report.link}})},
                       {"critical_path_ns", report.critical_seconds * 1e9},
                       {"refusals", std::move(refusals)}});
}

}  // namespace aaco::estimation
