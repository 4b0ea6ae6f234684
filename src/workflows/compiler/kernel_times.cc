#include "workflows/compiler/kernel_times.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/files.h"
#include "runner/inputs.h"
#include "stats/robust.h"
#include "trace/sink.h"
#include "workflows/run/profile_pass.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kBudgetNs = 1e9;

}  // namespace

core::Result<KernelTimes> measure_kernels(runner::ort::Runtime& runtime, const RunPlan& plan, const RunRequest& request,
                                          const std::string& level, const std::string& folder, const Services& services) {
  services.progress("measuring the kernels of level " + level);
  runner::BackendOptions options = plan.backend;
  options.graph_level = level;
  options.profile = true;
  options.profile_prefix = core::join_path(folder, "profile_" + level);
  AACO_ASSIGN(const auto backend, runtime.open_model(plan.model_path, options));
  AACO_ASSIGN(const runner::ModelInputs inputs,
              runner::make_inputs(plan.graph, {request.inputs, request.shapes, request.dimensions, request.batch,
                                               plan.model_shapes, request.seed}));
  AACO_TRY(backend->bind(inputs.tensors));
  trace::MemorySink sink;
  trace::SessionManifest manifest;
  AACO_ASSIGN(const ProfilePass pass,
              profile_pass(*backend, profile_calls(plan.graph.nodes.size()), kBudgetNs, {}, sink, manifest, services));
  std::map<std::string, std::map<std::int64_t, double>> calls;
  for (const auto& row : sink.rows<trace::NodeExecutionRow>())
    calls[std::string(sink.text(row.node_name))][row.iteration] += static_cast<double>(row.duration_ns);
  KernelTimes times{pass.iterations, pass.median_ns, {}};
  for (const auto& [kernel, by_call] : calls) {
    std::vector<double> durations;
    for (const auto& [call, duration] : by_call) durations.push_back(duration);
    times.by_kernel[kernel] = stats::median(durations);
  }
  return times;
}

void set_times(Json& rows, const KernelTimes& times) {
  Json out = Json::array();
  for (Json row : rows.items()) {
    const auto found = times.by_kernel.find(std::string(row["kernel"].text()));
    if (!row["kernel"].is_null() && found != times.by_kernel.end()) row.set("time_ns", found->second);
    out.push(std::move(row));
  }
  rows = std::move(out);
}

void set_changes(Json& only, const Json& there) {
  std::map<std::string, std::string> kernel_of;
  std::map<std::string, std::set<std::string>> nodes_of;
  std::map<std::string, double> time_of;
  for (const Json& row : there.items()) {
    if (row["kernel"].is_null() || row["node"].is_null()) continue;
    const std::string kernel(row["kernel"].text()), node(row["node"].text());
    kernel_of[node] = kernel;
    nodes_of[kernel].insert(node);
    if (const auto time = row["time_ns"].as_f64()) time_of[kernel] = *time;
  }
  Json out = Json::array();
  for (Json one : only.items()) {
    std::set<std::string> nodes, kernels;
    for (const Json& node : one["nodes"].items()) nodes.emplace(node.text());
    for (const std::string& node : nodes)
      if (const auto found = kernel_of.find(node); found != kernel_of.end()) kernels.insert(found->second);
    double sum = 0;
    bool more = false;
    bool known = std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return kernel_of.contains(node); });
    for (const std::string& kernel : kernels) {
      const auto time = time_of.find(kernel);
      known = known && time != time_of.end();
      sum += time == time_of.end() ? 0 : time->second;
      for (const std::string& node : nodes_of[kernel]) more = more || !nodes.contains(node);
    }
    if (const auto here = one["time_ns"].as_f64(); here && known) {
      one.set("other_ns", sum).set("change_ns", *here - sum);
      if (more) one.set("other_has_more", true);
    }
    out.push(std::move(one));
  }
  only = std::move(out);
}

}  // namespace aaco::workflows
