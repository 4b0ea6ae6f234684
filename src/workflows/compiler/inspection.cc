#include "workflows/compiler/inspection.h"

#include <algorithm>

#include "graph/near_miss.h"
#include "graph/shapes.h"
#include "runner/input_shapes.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::node_name;
using core::Json;

constexpr std::string_view kCpu = "CPUExecutionProvider";

using MissedByGraph = std::map<std::string, std::vector<graph::NearMiss>>;  // by CompiledGraph::within

bool has_pattern(const graph::FusionRules& rules, const std::string& name) {
  return std::any_of(rules.patterns.begin(), rules.patterns.end(), [&](const auto& one) { return one.name == name; });
}

core::Status load_rules(Inspection& inspection, const Services& services) {
  const auto file = [&](const char* name) { return core::join_path(services.paths.share, name); };
  AACO_ASSIGN(inspection.rules, analytics::compiler::load_compiler_rules(file("data/rules/compiler.yaml")));
  AACO_ASSIGN(inspection.fusions, graph::load_fusion_rules(file("data/fusion/onnxruntime_cpu.yaml")));
  AACO_ASSIGN(const auto further, graph::load_fusion_rules(file("data/rules/compiler_onnxruntime.yaml")));
  auto& patterns = inspection.fusions.patterns;
  std::erase_if(patterns, [&](const graph::FusionPattern& one) { return has_pattern(further, one.name); });
  patterns.insert(patterns.end(), further.patterns.begin(), further.patterns.end());
  inspection.fusions.eliminations = further.eliminations;
  return {};
}

// Opens the model with the sizes that were asked for, here and in other processes; without them it stays as it is.
core::Status fix_dimensions(Inspection& inspection) {
  RunRequest& run = inspection.request.run;
  auto& sizes = inspection.plan.backend.free_dimensions;
  AACO_ASSIGN(sizes,
              runner::given_dimensions(inspection.plan.graph, {run.inputs, run.shapes, run.dimensions, run.batch, {}, run.seed}));
  if (sizes.empty()) return {};
  run.session_options[std::string(runner::kFixedDimensions)] = "on";
  graph::substitute_dimensions(inspection.before, sizes);
  return {};
}

core::Status open_folder(Inspection& inspection, const Services& services) {
  inspection.folder = inspection.request.folder;
  if (!inspection.folder.empty()) return core::make_directories(inspection.folder);
  AACO_TRY(core::make_directories(services.paths.cache));
  AACO_ASSIGN(inspection.temporary, core::TemporaryDirectory::make(services.paths.cache, "compiler"));
  inspection.folder = inspection.temporary->path();
  return {};
}

void show_cpu(RunPlan& plan) {
  plan.backend.provider = kCpu;
  plan.backend.provider_options.clear();
}

Json miss_json(const graph::Graph& before, const std::string& within, const graph::NearMiss& miss,
               const analytics::compiler::CompilerRules& rules) {
  Json nodes = Json::array();
  for (const std::size_t node : miss.nodes) nodes.push(node_name(before, node));
  const auto* reason = rules.find(miss.reason);
  Json out = Json::object({{"reason", miss.reason},
                           {"pattern", miss.pattern},
                           {"first", node_name(before, miss.first)},
                           {"second", node_name(before, miss.second)},
                           {"condition", miss.condition},
                           {"nodes", std::move(nodes)}});
  if (!within.empty()) out.set("within", within);
  if (miss.cause) out.set("cause", node_name(before, *miss.cause));
  if (reason != nullptr) out.set("title", reason->title).set("remedy", reason->remedy);
  return out;
}

// `both_ns`: what the two kernels that stay apart take together.
Json with_times(Json not_fused, const Json& nodes) {
  std::map<std::string, double> time_of;
  for (const Json& row : nodes.items())
    if (const auto time = row["time_ns"].as_f64(); time && !row["node"].is_null())
      time_of[std::string(row["node"].text())] = *time;
  Json out = Json::array();
  for (Json miss : not_fused.items()) {
    const auto first = time_of.find(std::string(miss["first"].text())), second = time_of.find(std::string(miss["second"].text()));
    if (first != time_of.end() && second != time_of.end()) miss.set("both_ns", first->second + second->second);
    out.push(std::move(miss));
  }
  return out;
}

}  // namespace

core::Result<Inspection> open_inspection(const CompilerRequest& request, const Services& services) {
  Inspection out;
  out.request = request;
  AACO_ASSIGN(out.plan, plan_run(request.run, services));
  out.asked = out.plan.backend.provider;
  out.before = out.plan.graph;
  AACO_TRY(graph::inline_functions(out.before));
  AACO_TRY(fix_dimensions(out));
  graph::infer_shapes(out.before);
  AACO_TRY(load_rules(out, services));
  AACO_ASSIGN(out.runtime, runner::ort::Runtime::open({request.run.ort_library, services.environment, services.paths}));
  const auto& provided = out.runtime->available_providers();
  AACO_TRY(out.runtime->check_provider(out.plan.backend));
  out.absent = std::find(provided.begin(), provided.end(), out.asked) == provided.end();
  if (out.absent) show_cpu(out.plan);
  AACO_TRY(open_folder(out, services));
  return out;
}

core::Result<CompiledGraph> compile_writable(Inspection& inspection, const std::string& level) {
  constexpr std::string_view kCompiled = "compiled nodes";
  auto compiled = compile_graph(*inspection.runtime, inspection.plan, inspection.before, level, inspection.folder);
  const bool is_taken = inspection.plan.backend.provider != kCpu && !compiled &&
                        (compiled.error().message.find(kCompiled) != std::string::npos ||
                         compiled.error().message.find("runs none of the model's nodes") != std::string::npos);
  if (!is_taken) return compiled;
  show_cpu(inspection.plan);
  return compile_graph(*inspection.runtime, inspection.plan, inspection.before, level, inspection.folder);
}

core::Result<LevelLists> lists_of(const Inspection& inspection, const CompiledGraph& compiled, const Services& services) {
  LevelLists out;
  MissedByGraph missed;
  out.not_fused = Json::array();
  visit_graphs(inspection.before, compiled, [&](const graph::Graph& one, const CompiledGraph& within) {
    auto& found = missed[within.within];
    found = analytics::compiler::missed_fusions(within.diff, graph::near_misses(one, inspection.fusions, inspection.rules.slack),
                                                compiled.level);
    for (const auto& miss : found) out.not_fused.push(miss_json(one, within.within, miss, inspection.rules));
  });
  out.fused = fused_json(inspection.before, compiled);
  out.inserted = inserted_json(inspection.before, compiled);
  out.nodes = nodes_json(inspection.before, compiled, missed);
  if (!inspection.request.timed) return out;
  AACO_ASSIGN(out.times, measure_kernels(*inspection.runtime, inspection.plan, inspection.request.run, compiled.level,
                                         inspection.folder, services));
  for (Json* list : {&out.fused, &out.inserted, &out.nodes}) set_times(*list, *out.times);
  out.not_fused = with_times(std::move(out.not_fused), out.nodes);
  return out;
}

FusedSide level_side(const std::string& level, const LevelLists& lists) {
  return {"level",     level,           lists.fused,
          lists.nodes, lists.not_fused, lists.times ? std::optional(lists.times->call_ns) : std::nullopt};
}

}  // namespace aaco::workflows
