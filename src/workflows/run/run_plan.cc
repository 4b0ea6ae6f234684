#include "workflows/run/run_plan.h"

#include <algorithm>
#include <thread>

#include "core/files.h"
#include "core/hash.h"
#include "core/numbers.h"
#include "graph/load.h"
#include "graph/onnx.h"
#include "hardware/usable_cpus.h"
#include "runner/memory_fit.h"
#include "runner/registry.h"
#include "runner/zoo.h"
#include "workflows/isolation.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr double kDefaultPrecision = 0.01;
constexpr std::int64_t kDefaultMaximumTimeNs = 20'000'000'000;
constexpr std::int64_t kInterleavedBlocks = 16;  // aimed at, where the number of iterations is fixed

core::Result<std::string> make_from_zoo(const runner::ModelConfig& config, const RunRequest& request, const Services& services) {
  AACO_ASSIGN(const auto zoo, runner::zoo::parse_request(config.zoo_request()));
  AACO_ASSIGN(const auto blueprint, runner::zoo::build_graph(*zoo.entry, zoo.config));
  if (const auto room = runner::memory_room())
    AACO_TRY(runner::require_memory(config.name, runner::zoo::footprint(blueprint).memory_bytes, *room));
  return runner::zoo::make(*zoo.entry, zoo.config, request.seed, services.paths.cache,
                           [&](std::int64_t done, std::int64_t total) {
                             services.progress("building " + config.name + ": " + core::format_bytes(static_cast<double>(done)) +
                                               " of " + core::format_bytes(static_cast<double>(total)));
                           });
}

core::Result<std::string> find_model_file(const runner::ModelConfig& config, const RunRequest& request,
                                          const Services& services) {
  if (config.from_zoo()) return make_from_zoo(config, request, services);
  if (!core::exists(config.path))
    return core::fail(ErrorCode::not_found, "model " + config.path + " does not exist",
                      config.where.empty() ? "'aaco zoo ls' lists the built-in models" : "fix its path in " + config.where);
  return core::absolute_path(config.path);
}

core::Result<runner::BackendOptions> backend_for(const runner::Registry& registry, const RunRequest& request) {
  AACO_ASSIGN(const auto config, registry.backend(request.backend));
  AACO_ASSIGN(runner::BackendOptions options, runner::backend_options(config));
  options.graph_level = request.graph_level;
  options.allow_fallback = request.allow_fallback;
  if (request.threads) options.intra_op_threads = *request.threads;
  const auto usable = hardware::usable_cpus();
  options.pool_threads = usable.pool_threads();
  options.pool_cpus = usable.pool_cpus();
  for (const auto& [key, value] : request.provider_options) options.provider_options[key] = value;
  options.session_options = request.session_options;
  if (request.session_options.contains("pinning") && options.pool_cpus.empty()) options.pool_cpus = usable.allowed;
  return options;
}

stats::StoppingOptions stopping_for(const RunRequest& request, const runner::ModelConfig& model) {
  stats::StoppingOptions stopping;
  stopping.maximum_iterations = 5'000'000;
  if (request.precision_ratio) {
    stopping.kind = stats::StoppingOptions::Kind::precision;
    stopping.precision_ratio = *request.precision_ratio;
    stopping.maximum_time_ns = request.duration ? request.duration->count() : 120'000'000'000;
    if (request.iterations) stopping.maximum_iterations = *request.iterations;
  } else if (request.iterations || (model.iterations && !request.duration)) {
    stopping.kind = stats::StoppingOptions::Kind::iterations;
    stopping.iterations = request.iterations ? *request.iterations : *model.iterations;
    stopping.maximum_iterations = stopping.iterations;
    stopping.maximum_time_ns = request.duration ? request.duration->count() : std::int64_t{3600} * 1'000'000'000;
  } else if (request.duration) {
    stopping.kind = stats::StoppingOptions::Kind::time;
    stopping.time_ns = request.duration->count();
    stopping.maximum_time_ns = stopping.time_ns;
  } else {
    stopping.kind = stats::StoppingOptions::Kind::precision;
    stopping.precision_ratio = kDefaultPrecision;
    stopping.maximum_time_ns = kDefaultMaximumTimeNs;
  }
  return stopping;
}

runner::LoopOptions loop_for(const RunRequest& request, const runner::ModelConfig& model,
                             const stats::StoppingOptions& stopping) {
  runner::LoopOptions loop;
  loop.warmup_iterations = request.warmup ? request.warmup : model.warmup;
  if (stopping.kind == stats::StoppingOptions::Kind::iterations)
    loop.block_max_calls = std::max<std::int64_t>(1, (stopping.iterations + kInterleavedBlocks - 1) / kInterleavedBlocks);
  return loop;
}

template <class Value>
Json map_json(const std::map<std::string, Value>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out.set(key, value);
  return out;
}

core::Status set_dtype(runner::ModelConfig& model, const std::string& dtype) {
  const auto type = graph::element_type_from_string(dtype);
  if (!type)
    return core::fail(ErrorCode::invalid_argument, "'" + dtype + "' is not a supported data type", "use float32 or float16");
  if (!model.from_zoo())
    return core::fail(ErrorCode::unsupported, model.name + " is a file: its data type is fixed",
                      "use a zoo model, or convert the file");
  model.dtype = type;
  return {};
}

Json request_json(const RunRequest& request, const RunPlan& plan) {
  Json shapes = Json::object();
  for (const auto& [name, shape] : request.shapes) {
    Json sizes = Json::array();
    for (std::int64_t size : shape) sizes.push(size);
    shapes.set(name, std::move(sizes));
  }
  Json document =
      Json::object({{"model", request.model},
                    {"backend", request.backend},
                    {"batch", request.batch},
                    {"dimensions", map_json(request.dimensions)},
                    {"shapes", std::move(shapes)},
                    {"inputs", map_json(request.inputs)},
                    {"provider_options", map_json(plan.backend.provider_options)},
                    {"warmup", plan.loop.warmup_iterations},
                    {"iterations", request.iterations},
                    {"duration_ns", request.duration ? Json(static_cast<long long>(request.duration->count())) : Json()},
                    {"precision_ratio", request.precision_ratio},
                    {"threads", plan.backend.intra_op_threads},
                    {"graph_level", request.graph_level},
                    {"seed", request.seed},
                    {"telemetry", request.telemetry},
                    {"ebpf", request.ebpf},
                    {"telemetry_period_ns", static_cast<long long>(request.telemetry_period.count())},
                    {"profile", request.profile},
                    {"allow_fallback", request.allow_fallback},
                    {"dtype", request.dtype.empty() ? Json() : Json(request.dtype)},
                    {"isolation", to_json(request.isolation)},
                    {"drop_disturbed", request.drop_disturbed},
                    {"fault", request.fault}});
  if (!request.session_options.empty()) document.set("session_options", map_json(request.session_options));
  return document;
}

// The runtime starts as many threads as it is told, each of which spins: beyond this the machine is lost, not measured.
core::Status check_threads(const RunRequest& request) {
  constexpr unsigned kFewest = 64, kOfEachCpu = 8;
  const unsigned most = std::max(kFewest, kOfEachCpu * std::thread::hardware_concurrency());
  if (!request.threads || static_cast<unsigned>(*request.threads) <= most) return {};
  return core::fail(core::ErrorCode::invalid_argument,
                    std::to_string(*request.threads) + " threads are too many for " +
                        std::to_string(std::thread::hardware_concurrency()) + " CPUs",
                    "the maximum here is " + std::to_string(most) + "; one thread per core is usually best");
}

// ONNX Runtime runs ONNX; other formats are read for what they say.
core::Status check_runs(const std::string& path) {
  AACO_ASSIGN(const graph::ModelFormat format, graph::sniff_model(path));
  if (format == graph::ModelFormat::onnx) return {};
  return core::fail(core::ErrorCode::unsupported,
                    path + " is a " + (format == graph::ModelFormat::pt2 ? "PyTorch export" : "TFLite model") +
                        ", which ONNX Runtime does not support",
                    "convert it to ONNX; 'aaco inspect', 'analyze' and 'compare' read it directly");
}

// The graph stays the model's own: it says what the inputs mean.
core::Status run_another_file(const std::string& path, RunPlan& plan) {
  plan.model_path = core::absolute_path(path);
  AACO_ASSIGN(plan.model_hash, core::sha256_file(path));
  AACO_ASSIGN(plan.model_bytes, core::file_size(path));
  return {};
}

}  // namespace

std::string session_options_text(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string inputs_hash_text(const std::map<std::string, std::string>& files) {
  constexpr std::size_t kDigits = 12;
  std::string text;
  for (const auto& [input, file] : files) {
    const auto hash = core::sha256_file(file);
    text += (text.empty() ? "" : " ") + input + "=" + (hash ? hash->substr(0, kDigits) : "unreadable");
  }
  return text;
}

core::Result<RunPlan> plan_run(const RunRequest& request, const Services& services) {
  AACO_TRY(check_threads(request));
  if (!request.rewrites.empty())
    return core::fail(ErrorCode::unsupported, "'rewrite' is an axis of 'aaco optimize'; a run cannot rewrite its model",
                      "run the model.onnx that 'aaco optimize' leaves");
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  AACO_ASSIGN(auto model, registry.model(request.model));
  if (!request.dtype.empty()) AACO_TRY(set_dtype(model, request.dtype));
  RunPlan plan;
  AACO_ASSIGN(plan.backend, backend_for(registry, request));
  AACO_ASSIGN(plan.model_path, find_model_file(model, request, services));
  AACO_TRY(check_runs(plan.model_path));
  if (request.edit_model) {
    AACO_ASSIGN(plan.model_path, request.edit_model(plan.model_path));
  }
  plan.model_name = model.name.find('/') == std::string::npos ? model.name : core::base_name(model.name);
  services.progress("hashing " + plan.model_name);
  AACO_ASSIGN(plan.model_hash, core::sha256_file(plan.model_path));
  AACO_ASSIGN(plan.model_bytes, core::file_size(plan.model_path));
  AACO_ASSIGN(plan.graph, graph::onnx::load(plan.model_path));
  AACO_TRY(graph::onnx::check_external_data(plan.graph, plan.model_path));
  AACO_TRY(runner::check_dtype(model, plan.graph));
  if (!request.run_file.empty()) AACO_TRY(run_another_file(request.run_file, plan));
  plan.backend.optimized_model_path = request.optimized_file;
  plan.model_shapes = model.input_shapes;
  plan.stopping = stopping_for(request, model);
  plan.loop = loop_for(request, model, plan.stopping);
  plan.request = request_json(request, plan);
  return plan;
}

}  // namespace aaco::workflows
