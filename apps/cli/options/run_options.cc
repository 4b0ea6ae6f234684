#include "cli/options/run_options.h"

#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "cli/options/isolation_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/ort_build.h"
#include "workflows/run_config.h"

namespace aaco::cli {

struct RunOptions::Texts {
  std::string positional;
  std::string duration, precision, period;
  std::vector<std::string> inputs, shapes, dimensions, provider_options, session_options;
  std::string config;
  workflows::RunRequest request;
  CLI::App* app = nullptr;
};

namespace {

using core::ErrorCode;

core::Result<std::pair<std::string, std::string>> name_and_value(const std::string& text, std::string_view option) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + std::string(option) + "': expected NAME=VALUE");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

core::Result<std::vector<std::int64_t>> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  for (std::string_view part : core::split(text, 'x')) {
    const auto size = core::parse_i64(part);
    if (!size || *size < 0)
      return core::fail(ErrorCode::invalid_argument,
                        "invalid value '" + text + "' for '--shape': expected a shape such as 1x3x224x224");
    shape.push_back(*size);
  }
  return shape;
}

// What the command line says.
void take_given(const CLI::App& app, const workflows::RunRequest& given, workflows::RunRequest& request) {
  using workflows::RunRequest;
  const auto take = [&](const char* option, auto member) {
    const CLI::Option* found = app.get_option_no_throw(option);
    if (found != nullptr && found->count() > 0) request.*member = given.*member;
  };
  take("--backend", &RunRequest::backend);
  take("--batch", &RunRequest::batch);
  take("--warmup", &RunRequest::warmup);
  take("--iterations", &RunRequest::iterations);
  take("--threads", &RunRequest::threads);
  take("--graph-level", &RunRequest::graph_level);
  take("--seed", &RunRequest::seed);
  take("--tag", &RunRequest::tag);
  take("--ort-lib", &RunRequest::ort_library);
  take("--run-file", &RunRequest::run_file);
  take("--optimized-file", &RunRequest::optimized_file);
  take("--model", &RunRequest::model);
  take("--allow-fallback", &RunRequest::allow_fallback);
  take("--drop-disturbed", &RunRequest::drop_disturbed);
  take("--telemetry", &RunRequest::telemetry);
  take("--ebpf", &RunRequest::ebpf);
  take("--profile", &RunRequest::profile);
  take("--profile-domains", &RunRequest::profile_domains);
  take("--counters", &RunRequest::counters);
  if (given.isolation.wanted()) request.isolation = given.isolation;
}

// The base without what the command line replaces as a whole: inputs belong to their model, options to their provider, and one
// of the options that end a measurement replaces the others.
workflows::RunRequest base_for(const CLI::App& app, workflows::RunRequest base, bool other_model) {
  const auto given = [&](const char* option) {
    const CLI::Option* found = app.get_option_no_throw(option);
    return found != nullptr && found->count() > 0;
  };
  if (other_model) {
    base.inputs.clear();
    base.shapes.clear();
    base.dimensions.clear();
    base.dtype.clear();
  }
  if (given("--backend")) base.provider_options.clear();
  if (given("--duration") || given("--iterations") || given("--precision")) {
    base.duration.reset();
    base.iterations.reset();
    base.precision_ratio.reset();
  }
  return base;
}

}  // namespace

core::Result<core::Nanoseconds> parse_time(const std::string& text, std::string_view option) {
  const auto value = core::parse_duration_ns(text);
  if (!value || *value <= 0)
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + std::string(option) + "': expected a duration such as 10s or 500ms");
  return core::Nanoseconds(*value);
}

RunOptions::RunOptions(CLI::App& app) : texts_(std::make_unique<Texts>()) {
  Texts& t = *texts_;
  workflows::RunRequest& r = t.request;
  t.app = &app;
  app.add_option("model_file", t.positional,
                 "Model to run: a name from configs/models.yaml (see 'aaco zoo ls') or an .onnx file");
  app.add_option("-m,--model", r.model, "Same as model_file");
  app.add_option("-b,--backend,--provider", r.backend,
                 "Backend from configs/backends.yaml: cpu, dnnl, xnnpack, migraphx, rocm, cuda, tensorrt, ...")
      ->capture_default_str();
  app.add_option("--batch", r.batch, "Batch size; applies to every symbolic batch dimension")->check(positive_count());
  app.add_option("--dim", t.dimensions, "Size of a symbolic dimension, NAME=SIZE (repeatable)")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  app.add_option("--shape", t.shapes, "Shape of an input, NAME=1x3x224x224 (repeatable)")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  app.add_option("--input", t.inputs, "Real data for an input, NAME=FILE with .npy, .npz or .pb (repeatable)")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--provider-option", t.provider_options, "Execution provider option, KEY=VALUE (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--session-option", t.session_options,
                 "ONNX Runtime session option, KEY=VALUE (repeatable): execution_mode, inter_op_threads, memory_arena, "
                 "memory_pattern, pinning, fixed_dimensions, or a configuration entry such as session.intra_op.allow_spinning")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--config", t.config,
                 "YAML file with the model and its options, such as best.yaml of 'aaco optimize'; options given here override it")
      ->type_name("FILE");
  app.add_option("--warmup", r.warmup, "Warm-up iterations (default: until the series is stationary)")
      ->check(whole_number(0, kMaxCount, "NONNEGATIVE"));
  app.add_option("-n,--iterations", r.iterations, "Measured iterations")->check(positive_count());
  app.add_option("--duration", t.duration, "Measure for this long, e.g. 10s")->type_name("TIME");
  app.add_option("--precision", t.precision, "Measure until the 95 % CI of the median is at most this wide, e.g. 1%")
      ->type_name("RATIO");
  app.add_option("--threads", r.threads, "Intra-op threads (default: the runtime's choice)")->check(positive_count());
  app.add_option("--graph-level", r.graph_level, "Graph optimisation level")
      ->check(CLI::IsMember({"disabled", "basic", "extended", "all"}))
      ->capture_default_str();
  app.add_option("--seed", r.seed, "Seed for generated weights and inputs")->check(seed_number())->capture_default_str();
  app.add_option("--tag", r.tag, "Tag for the session, to refer to it as tag:NAME");
  app.add_option(
      "--ort-lib", r.ort_library,
      "ONNX Runtime library to use, or the name of a fetched build such as 1.20.1 (default: $AACO_ORT_LIBRARY, then the "
      "backend's build, then the one shipped with AACO)");
  // For the worker processes of 'aaco optimize'.
  app.add_option("--run-file", r.run_file, "Rewritten copy of the model to open")->group("");
  app.add_option("--optimized-file", r.optimized_file, "Where ONNX Runtime writes its optimized graph")->group("");
  app.add_flag("--allow-fallback", r.allow_fallback,
               "Run on another provider, with a warning, if the requested one is not available");
  add_isolation_options(app, r.isolation);
  app.add_flag("--drop-disturbed", r.drop_disturbed,
               "Exclude iterations affected by external load from the results, and report how many");
  app.add_flag("--telemetry", r.telemetry, "Sample system telemetry during every other block, and measure its overhead");
  app.add_flag("--ebpf", r.ebpf,
               "Record operating system events (scheduling delays, sleeps, faults, interrupts, I/O) during every other block; "
               "requires root or CAP_BPF and CAP_PERFMON, otherwise skipped with a warning");
  app.add_option("--telemetry-period", t.period, "Sampling period, at least 5ms (default: 10ms)")->type_name("TIME");
  app.add_flag("--profile", r.profile,
               "Profile nodes, and kernels on ROCm backends (with rocprofv3), in separate passes after the measurement");
  app.add_option("--profile-domains", r.profile_domains,
                 "With --profile: what the GPU profiler traces: kernel,hip,hsa,marker,copy,memory,scratch,rccl")
      ->type_name("LIST");
  app.add_option("--counters", r.counters, "With --profile: GPU hardware counters, e.g. SQ_WAVES,GRBM_GUI_ACTIVE")
      ->type_name("LIST");
}

RunOptions::~RunOptions() = default;

bool RunOptions::names_model() const {
  return !texts_->request.model.empty() || !texts_->positional.empty() || !texts_->config.empty();
}

core::Result<workflows::RunRequest> RunOptions::resolve(const workflows::RunRequest& base) const {
  const Texts& t = *texts_;
  workflows::RunRequest request = base_for(*t.app, base, names_model());
  if (!t.config.empty()) AACO_TRY(read_run_config(t.config, request));
  take_given(*t.app, t.request, request);
  if (!t.positional.empty() && t.request.model.empty())
    request.model = t.positional;
  else if (!t.positional.empty())
    return core::fail(ErrorCode::invalid_argument, "two models given, '" + request.model + "' and '" + t.positional + "'",
                      "pass only one");
  if (request.model.empty()) {
    const std::string verb = t.app->get_name();
    const bool takes_model = verb == "compiler" || verb == "optimize" || verb == "sweep";
    return core::fail(ErrorCode::invalid_argument, "no model given",
                      "for example: aaco " + (takes_model ? verb : "run") + " --model resnet50");
  }
  if (!t.duration.empty()) {
    AACO_ASSIGN(request.duration, parse_time(t.duration, "--duration"));
  }
  if (!t.period.empty()) {
    AACO_ASSIGN(const std::int64_t ns, time_with_unit(t.period, "--telemetry-period", "10ms"));
    if (ns < 5'000'000)
      return core::fail(ErrorCode::invalid_argument,
                        "invalid value '" + t.period + "' for '--telemetry-period': the minimum is 5ms");
    request.telemetry_period = core::Nanoseconds(ns);
  }
  if (!request.profile && (!request.profile_domains.empty() || !request.counters.empty()))
    return core::fail(ErrorCode::invalid_argument, "--profile-domains and --counters require --profile", "add --profile");
  if (!t.precision.empty()) {
    request.precision_ratio = core::parse_ratio(t.precision);
    if (!request.precision_ratio || *request.precision_ratio <= 0 || *request.precision_ratio >= 1)
      return core::fail(ErrorCode::invalid_argument,
                        "invalid value '" + t.precision + "' for '--precision': expected a ratio such as 1% or 0.01");
  }
  for (const auto& text : t.inputs) {
    AACO_ASSIGN(auto pair, name_and_value(text, "--input"));
    request.inputs.insert_or_assign(std::move(pair.first), std::move(pair.second));
  }
  for (const auto& text : t.provider_options) {
    AACO_ASSIGN(auto pair, name_and_value(text, "--provider-option"));
    request.provider_options.insert_or_assign(std::move(pair.first), std::move(pair.second));
  }
  for (const auto& text : t.session_options) {
    AACO_ASSIGN(auto pair, name_and_value(text, "--session-option"));
    request.session_options.insert_or_assign(std::move(pair.first), std::move(pair.second));
  }
  for (const auto& text : t.shapes) {
    AACO_ASSIGN(const auto pair, name_and_value(text, "--shape"));
    AACO_ASSIGN(request.shapes[pair.first], parse_shape(pair.second));
  }
  for (const auto& text : t.dimensions) {
    AACO_ASSIGN(const auto pair, name_and_value(text, "--dim"));
    const auto size = core::parse_i64(pair.second);
    if (!size || *size <= 0)
      return core::fail(ErrorCode::invalid_argument, "invalid value '" + text + "' for '--dim': expected a size of at least 1");
    request.dimensions[pair.first] = *size;
  }
  return request;
}

workflows::Services make_services(const Context& context) {
  workflows::Services services;
  services.environment = context.environment;
  services.paths = context.paths;
  services.progress = [&context](std::string_view text) { context.progress(text); };
  services.stop = context.stop;
  services.terminal_lent = context.terminal_lent;
  services.tool_version = AACO_VERSION;
  services.command_line = context.command_line;
  return services;
}

core::Status enter_build(workflows::RunRequest& request, const Context& context) {
  const std::string library = workflows::library_of(request.ort_library, request.backend, context.environment, context.paths);
  AACO_TRY(workflows::enter_build(library, context.command_line));
  request.ort_library = library;
  return {};
}

}  // namespace aaco::cli
