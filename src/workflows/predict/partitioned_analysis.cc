#include "workflows/predict/partitioned_analysis.h"

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"
#include "workflows/hardware.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using estimation::Share;

// Of each kernel of several nodes what is on the target; what a group saves is taken to be the same between any two of its nodes.
graph::Fusion within(graph::Fusion fusion, const std::vector<std::size_t>& target_of, std::size_t target) {
  for (graph::FusedGroup& group : fusion.groups) {
    const auto joints = static_cast<double>(group.nodes.size() - 1);
    std::erase_if(group.nodes, [&](std::size_t node) { return target_of[node] != target; });
    if (group.nodes.size() > 1) group.saved_bytes *= static_cast<double>(group.nodes.size() - 1) / joints;
  }
  std::erase_if(fusion.groups, [](const graph::FusedGroup& group) { return group.nodes.size() < 2; });
  return fusion;
}

// Whether a kernel of any of these nodes would have to be estimated; views and sizes are none.
bool has_work(const graph::Graph& graph, const graph::GraphCost& cost, const std::vector<bool>& only, const std::string& dtype) {
  std::size_t place = 0;
  for (const graph::CostedNode& costed : cost.nodes) {
    if (costed.graph == &graph) place = static_cast<std::size_t>(costed.node - graph.nodes.data());
    if (costed.repeats > 0 && only[place] && estimation::kernel_of(*costed.graph, *costed.node, costed.cost, dtype)) return true;
  }
  return false;
}

core::Result<std::vector<graph::BackendSupport>> load_all(const core::Paths& paths) {
  const std::string folder = core::join_path(paths.share, "data/support");
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  std::vector<graph::BackendSupport> out;
  for (const std::string& file : files)
    if (file.ends_with(".yaml")) {
      AACO_ASSIGN(auto one, graph::load_backend_support(core::join_path(folder, file)));
      out.push_back(std::move(one));
    }
  return out;
}

}  // namespace

core::Result<Fallback> find_fallback(const std::string& name, const std::string& provider, const hardware::Device& device,
                                     const Services& services) {
  AACO_ASSIGN(const auto known, load_all(services.paths));
  const auto found = std::find_if(known.begin(), known.end(), [&](const graph::BackendSupport& one) {
    if (!provider.empty()) return one.backend == provider;
    return std::find(one.devices.begin(), one.devices.end(), device.id) != one.devices.end();
  });
  std::vector<std::string> names;
  for (const auto& one : known) names.push_back(one.backend);
  if (found == known.end())
    return core::fail(
        core::ErrorCode::not_found,
        provider.empty() ? "no list of operators that " + device.id + " supports" : "unknown provider '" + provider + "'",
        "select one with --provider: " + core::join(names, ", "));
  if (!found->devices.empty() && std::find(found->devices.begin(), found->devices.end(), device.id) == found->devices.end())
    return core::fail(core::ErrorCode::invalid_argument, "provider " + found->backend + " does not support " + device.id,
                      "it supports " + core::join(found->devices, ", "));
  AACO_ASSIGN(hardware::Device host, find_device(name, services));
  if (host.id_with_state() == device.id_with_state())
    return core::fail(core::ErrorCode::invalid_argument, "--fallback is the same device as --hardware",
                      "pass the host that runs the unsupported operators");
  return Fallback{std::move(host), *found};
}

core::Result<estimation::GraphEstimate> analyze_parts(const graph::Graph& graph, const hardware::Device& device,
                                                      const Fallback& fallback, const estimation::Conditions& conditions,
                                                      const core::Paths& paths, estimation::PartitionReport& report) {
  const auto floats_as = estimation::element_type_of(conditions.dtype);
  const graph::Partition parts =
      partition_by(graph, fallback.support, floats_as.value_or(graph::ElementType::unknown), fallback.device.id_with_state());
  report.backend = fallback.support.backend;
  report.source = fallback.support.source;
  report.devices = {device.id_with_state(), fallback.device.id_with_state()};
  const graph::GraphCost cost = graph::cost_of(graph);
  std::array<Share, 2> shares;
  std::array<estimation::Conditions, 2> under{conditions, conditions};
  if (fallback.device.kind == hardware::DeviceKind::cpu) under[1].power_cap_watts.reset();
  const std::array<const hardware::Device*, 2> devices{&device, &fallback.device};
  for (std::size_t target = 0; target < 2; ++target) {
    std::vector<bool> only(graph.nodes.size(), false);
    for (std::size_t node = 0; node < only.size(); ++node) only[node] = parts.target_of[node] == target;
    if (!has_work(graph, cost, only, conditions.dtype)) continue;
    under[target].only = &only;
    graph::Fusion fusion;
    if (!conditions.eager) {
      AACO_ASSIGN(fusion, usual_fusion(graph, *devices[target], paths));
      fusion = within(std::move(fusion), parts.target_of, target);
      under[target].fusion = &fusion;
    }
    AACO_ASSIGN(const auto calibrations, calibrations_for(*devices[target], under[target], paths));
    AACO_ASSIGN(shares[target].estimate, estimation::analyze(graph, *devices[target], under[target], &calibrations));
    under[target].only = nullptr;
    under[target].fusion = nullptr;
    shares[target].device = devices[target];
    shares[target].conditions = &under[target];
  }
  if (shares[0].device == nullptr && shares[1].device == nullptr)
    return core::fail(core::ErrorCode::unsupported, "the graph has no operators that can be predicted",
                      "'aaco inspect' lists its nodes");
  estimation::GraphEstimate whole = join_shares(graph, parts, shares, report);
  whole.device_id = device.id_with_state();  // also where nothing is left for it
  whole.device_name = device.name;
  if (shares[0].device == nullptr)
    whole.notes.insert(whole.notes.begin(), device.name + " supports no operator in this graph: everything runs on " +
                                                fallback.device.name +
                                                (conditions.dtype.empty() ? "; try another data type with --dtype" : ""));
  return whole;
}

}  // namespace aaco::workflows
