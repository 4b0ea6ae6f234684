#include "workflows/compiler/against.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "core/worker_process.h"
#include "graph/partition.h"
#include "runner/registry.h"
#include "workflows/compiler/backend_fallback.h"
#include "workflows/compiler/kernel_times.h"
#include "workflows/ort_build.h"
#include "workflows/run/run_again.h"
#include "workflows/worker_answer.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::node_name;
using core::ErrorCode;
using core::Json;

constexpr std::int64_t kOtherLibraryTimeoutNs = 600'000'000'000;

// A file that is no library, or a name of configs/models.yaml.
bool is_model(const std::string& text, const Services& services) {
  if (text.ends_with(".onnx") || text.ends_with(".ort") || (core::exists(text) && text.find(".so") == std::string::npos))
    return true;
  const auto registry = runner::Registry::load(services.paths);
  return registry && registry->models().contains(text);
}

}  // namespace

bool is_built_backend(const std::string& name, const Services& services) {
  const auto registry = runner::Registry::load(services.paths);
  if (!registry) return false;
  const auto found = registry->backends().find(name);
  return found != registry->backends().end() && !found->second.ort_build.empty();
}

core::Result<Against> resolve_against(const std::string& text, const Services& services) {
  Against out;
  if (text.empty()) return out;
  out.name = text;
  const auto& levels = analytics::compiler::kLevels;
  const std::string support = core::join_path(services.paths.share, "data/support/" + text + ".yaml");
  if (std::find(std::begin(levels), std::end(levels), text) != std::end(levels)) {
    out.kind = Against::Kind::level;
  } else if (text.find('/') == std::string::npos && core::exists(support)) {
    out.kind = Against::Kind::provider;
    out.path = support;
  } else if (const std::string build = library_of_build(text, services.paths); !build.empty()) {
    out.kind = Against::Kind::library;
    out.name = build;
  } else if (is_built_backend(text, services)) {
    out.kind = Against::Kind::backend;
  } else if (text.find(".so") != std::string::npos) {
    if (!core::exists(text)) return core::fail(ErrorCode::not_found, "library " + text + " does not exist");
    out.kind = Against::Kind::library;
  } else if (is_model(text, services)) {
    out.kind = Against::Kind::model;
  } else {
    std::vector<std::string> providers;
    if (const auto files = core::list_directory(core::join_path(services.paths.share, "data/support")))
      for (const std::string& file : *files) providers.push_back(file.substr(0, file.find('.')));
    if (const auto registry = runner::Registry::load(services.paths))
      for (const auto& [name, backend] : registry->backends())
        if (!backend.ort_build.empty()) providers.push_back(name);
    return core::fail(ErrorCode::invalid_argument, "invalid value '" + text + "' for '--against'",
                      "use another model (a file or a name of 'aaco zoo list'), a level (disabled, basic, extended, all), a "
                      "libonnxruntime.so, a "
                      "build fetched with scripts/bootstrap.sh, or a provider: " +
                          core::join(providers, ", "));
  }
  return out;
}

core::Result<Json> inspect_with_library(const CompilerRequest& request, const std::string& library, const Services& services) {
  RunRequest run = request.run;
  run.ort_library = library;
  core::Command command;
  command.arguments = request.program;
  const auto words = configuration_words(run);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.arguments.insert(command.arguments.end(), {"--this-level", "--no-store", "--json"});
  if (request.timed) command.arguments.emplace_back("--time");
  for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
  command.timeout_ns = kOtherLibraryTimeoutNs;
  services.progress("optimising the graph with " + core::base_name(library));
  AACO_ASSIGN(const core::CommandResult ran, core::run_command(command));
  if (ran.timed_out) return core::fail(ErrorCode::timed_out, library + " took longer than 10 minutes to load the model");
  if (ran.exit_code != 0) {
    const std::string said = ran.error_output.substr(0, ran.error_output.find('\n'));
    return core::fail(
        ErrorCode::unsupported,
        library + ": " + (ran.exit_code >= 128 ? "the process crashed (exit code " + std::to_string(ran.exit_code) + ")" : said));
  }
  return Json::parse(ran.output);
}

core::Result<Json> place_on_backend(const CompilerRequest& request, const graph::Graph& graph,
                                    const analytics::compiler::CompilerRules& rules, const std::string& backend,
                                    const Services& services) {
  std::optional<graph::BackendSupport> support;
  const std::string file = core::join_path(services.paths.share, "data/rules/provider_" + backend + ".yaml");
  if (core::exists(file)) {
    AACO_ASSIGN(support, graph::load_backend_support(file));
  }
  RunRequest run = request.run;
  run.backend = backend;
  run.ort_library.clear();
  run.allow_fallback = true;  // that it takes no node at all is an answer, too
  core::Command command;
  command.arguments = {request.program.front(), "ab-worker", "--"};
  const auto words = configuration_words(run);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.arguments.insert(command.arguments.end(), {"--warmup", "1"});
  for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
  services.progress("loading the model on " + backend);
  AACO_ASSIGN(core::WorkerProcess process, core::WorkerProcess::start(command));
  AACO_ASSIGN(const Json answer, worker_answer(process, kOtherLibraryTimeoutNs));
  if (answer["sides"].items().empty()) return core::fail(ErrorCode::io, "the worker did not load the model");
  const Json& runtime = answer["sides"].items().front()["runtime"];
  return Json::object({{"kind", "backend"},
                       {"there", backend},
                       {"version", runtime["version"]},
                       {"nodes_by_provider", runtime["nodes_by_provider"]},
                       {"refused", fallen_nodes(graph, runtime, support, rules)}})
      .set_if("source", support ? Json(support->source) : Json());
}

Json provider_json(const graph::Graph& graph, const graph::BackendSupport& support,
                   const analytics::compiler::CompilerRules& rules) {
  const graph::Partition parts = graph::partition_by(graph, support, graph::ElementType::unknown, "host");
  const graph::SupportCheck check(support, graph::ElementType::unknown, graph);
  Json refused = Json::array(), seams = Json::array(), list = Json::array();
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (parts.target_of[node] == 0) continue;
    const auto why = check.refusal(node);
    const std::string id = why ? why->reason : support.most_refused || support.one_part ? "provider_all" : "provider_follows";
    Json row = Json::object({{"reason", id},
                             {"node", node_name(graph, node)},
                             {"op_type", graph.nodes[node].qualified_type()},
                             {"condition", why ? why->text : "follows a node that " + support.backend + " does not take"}});
    if (const auto* reason = rules.find(id)) row.set("title", reason->title).set("remedy", reason->remedy);
    refused.push(std::move(row));
  }
  for (const graph::Part& part : parts.parts)
    list.push(Json::object({{"target", part.target == 0 ? support.backend : "host"},
                            {"nodes", part.nodes.size()},
                            {"first", node_name(graph, part.nodes.front())},
                            {"last", node_name(graph, part.nodes.back())}}));
  for (const graph::Transfer& one : parts.transfers) {
    std::string made, read;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      const auto& item = graph.nodes[node];
      if (std::find(item.outputs.begin(), item.outputs.end(), one.tensor) != item.outputs.end()) made = node_name(graph, node);
      if (read.empty() && parts.target_of[node] == one.to &&
          std::find(item.inputs.begin(), item.inputs.end(), one.tensor) != item.inputs.end())
        read = node_name(graph, node);
    }
    Json seam = Json::object({{"tensor", graph.tensor(one.tensor).name},
                              {"first", made},
                              {"second", read},
                              {"from", one.from == 0 ? support.backend : "host"},
                              {"to", one.to == 0 ? support.backend : "host"}});
    const auto& shape = graph.tensor(one.tensor).shape;
    if (shape && graph::element_count(*shape)) {
      seam.set("bytes", one.bytes);
      if (support.link) seam.set("least_ns", one.bytes / support.link->bytes_per_s * 1e9);
    }
    seams.push(std::move(seam));
  }
  Json out = Json::object({{"kind", "provider"},
                           {"there", support.backend},
                           {"source", support.source},
                           {"parts", std::move(list)},
                           {"refused", std::move(refused)},
                           {"seams", std::move(seams)}});
  if (support.link) out.set("link", Json::object({{"name", support.link->name}, {"bytes_per_s", support.link->bytes_per_s}}));
  return out;
}

}  // namespace aaco::workflows
