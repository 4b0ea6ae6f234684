#include "workflows/gpu/node_kernels.h"

#include <algorithm>
#include <set>

#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using KernelsBy = analytics::attribution::Method;
using core::Json;
namespace node_order = analytics::node_order;

constexpr std::int64_t kOpenSteps = 4;  // the kernels of a step may end after the next ones were launched

std::optional<double> threads_of(const trace::KernelRow& row) {
  double threads = 1;
  bool any = false;
  for (const auto& size : {row.grid_x, row.grid_y, row.grid_z, row.block_x, row.block_y, row.block_z})
    if (size && *size > 0) {
      threads *= static_cast<double>(*size);
      any = true;
    }
  return any ? std::optional(threads) : std::nullopt;
}

}  // namespace

NodeKernels::NodeKernels(trace::NameTable& names, const std::vector<trace::IterationRow>& steps) : names_(names) {
  for (const auto& step : steps) steps_[step.rank].emplace_back(step.start_ns, step.start_ns + step.duration_ns);
  for (auto& [rank, list] : steps_) std::sort(list.begin(), list.end());
}

std::optional<std::int64_t> NodeKernels::step_of(std::int32_t rank, std::int64_t time_ns) const {
  const auto steps = steps_.find(rank);
  if (steps == steps_.end()) return steps_.empty() ? std::optional<std::int64_t>(0) : std::nullopt;
  const auto& list = steps->second;
  const auto next = std::upper_bound(list.begin(), list.end(), std::pair(time_ns, INT64_MAX));
  if (next == list.begin() || std::prev(next)->second < time_ns) return std::nullopt;
  return std::prev(next) - list.begin();
}

void NodeKernels::add(const trace::KernelRow& row, analytics::fingerprint::Family family,
                      std::optional<std::int64_t> launched_ns) {
  const auto step = step_of(row.rank, launched_ns.value_or(row.start_ns));
  if (!step || row.end_ns < row.start_ns) return;
  families_.try_emplace(row.name.value, family);
  Device& device = devices_[{row.rank, row.device}];
  auto& kernels = device.open[*step];
  if (kernels.size() <= kMaxKernels) kernels.push_back({row.name.value, row.end_ns - row.start_ns, threads_of(row)});
  while (device.open.begin()->first + kOpenSteps < *step) {
    close(device, std::move(device.open.begin()->second));
    device.open.erase(device.open.begin());
  }
}

void NodeKernels::close(Device& device, std::vector<Kernel> kernels) {
  std::vector<std::uint32_t> sequence;
  for (const Kernel& kernel : kernels) sequence.push_back(kernel.name);
  auto known = device.variants.find(sequence);
  if (known == device.variants.end()) {
    if (kernels.size() > kMaxKernels || device.variants.size() >= kMaxVariants) {
      ++device.left_out;
      return;
    }
    known = device.variants.try_emplace(std::move(sequence)).first;
    known->second.kernels = kernels;
    known->second.sums.resize(kernels.size());
  }
  Variant& variant = known->second;
  ++variant.steps;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    ++variant.sums[i].count;
    variant.sums[i].sum_ns += kernels[i].duration_ns;
  }
}

void NodeKernels::join(const DeviceKey& key, const Variant& variant, const GraphNodes& graph, Result& result) {
  std::vector<node_order::Kernel> kernels;
  for (std::size_t i = 0; i < variant.kernels.size(); ++i)
    kernels.push_back({std::string(names_.text({variant.kernels[i].name})), families_.at(variant.kernels[i].name),
                       variant.kernels[i].threads,
                       static_cast<double>(variant.sums[i].sum_ns) / static_cast<double>(variant.sums[i].count)});
  Json entry = Json::object({{"rank", key.first},
                             {"device", key.second},
                             {"steps", variant.steps},
                             {"kernels_a_step", static_cast<long long>(kernels.size())}});
  const std::size_t runs = steps_.empty() ? node_order::likely_runs(graph.nodes, kernels) : 1;
  std::vector<node_order::Node> nodes;
  for (std::size_t run = 0; run < runs; ++run) nodes.insert(nodes.end(), graph.nodes.begin(), graph.nodes.end());
  if (runs > 1) entry.set("runs_a_step", static_cast<long long>(runs));
  const auto found = node_order::align(nodes, kernels);
  if (!found) {
    entry.set("explanation", found.error().message);
  } else {
    entry.set("plausibility_ratio", found->plausibility).set("explanation", found->explanation);
    std::map<std::tuple<std::uint32_t, std::size_t, bool>, analytics::attribution::NodeShare> shares;  // by kernel, node, by name
    std::int64_t joined = 0;
    for (std::size_t i = 0; i < found->causes.size(); ++i) {
      const node_order::Cause& cause = found->causes[i];
      if (!cause.node) continue;
      ++joined;
      analytics::attribution::NodeShare& share =
          shares[{variant.kernels[i].name, *cause.node % graph.nodes.size(), cause.by_name}];
      share.confidence += cause.confidence * static_cast<double>(variant.sums[i].count);
      share.kernel_count += variant.sums[i].count;
      share.kernel_sum_ns += variant.sums[i].sum_ns;
    }
    for (auto& [what, share] : shares) {
      const auto& [kernel, node, by_name] = what;
      const node_order::Node& cause = graph.nodes[node];
      share.rank = key.first;
      share.device = key.second;
      share.kernel_name = {kernel};
      share.node_name = names_.intern(cause.name.empty() ? cause.op_type + " #" + std::to_string(node) : cause.name);
      share.method = by_name ? KernelsBy::node_name : KernelsBy::node_order;
      share.confidence /= static_cast<double>(share.kernel_count);
      result.shares.push_back(share);
    }
    entry.set("joined_kernels_a_step", joined);
  }
  Json joins = result.summary["joins"];
  joins.push(std::move(entry));
  result.summary.set("joins", std::move(joins));
}

NodeKernels::Result NodeKernels::join(const GraphNodes& graph) {
  Result result;
  std::int64_t left_out = 0;
  result.summary = Json::object({{"source", graph.source}, {"node_count", static_cast<long long>(graph.nodes.size())}});
  for (auto& [key, device] : devices_) {
    for (auto& [step, kernels] : device.open) close(device, std::move(kernels));
    device.open.clear();
    left_out += device.left_out;
    for (const auto& [sequence, variant] : device.variants) join(key, variant, graph, result);
  }
  if (left_out > 0) result.summary.set("steps_left_out", left_out);
  return result;
}

core::Result<std::int64_t> count_graph_nodes(const std::string& session_path, trace::NameTable& names,
                                             const std::function<core::Status()>& go_on) {
  std::int64_t count = 0;
  AACO_TRY(tracelake::scan_table<trace::GraphNodeRow>(session_path, names, [&](std::span<const trace::GraphNodeRow> rows) {
    count += static_cast<std::int64_t>(rows.size());
    return go_on();
  }));
  if (count > 0) return count;
  std::set<std::pair<std::int64_t, std::uint32_t>> nodes;
  AACO_TRY(
      tracelake::scan_table<trace::NodeExecutionRow>(session_path, names, [&](std::span<const trace::NodeExecutionRow> rows) {
        for (const auto& row : rows) nodes.emplace(row.node_index, row.node_name.value);
        return go_on();
      }));
  return static_cast<std::int64_t>(nodes.size());
}

}  // namespace aaco::workflows
