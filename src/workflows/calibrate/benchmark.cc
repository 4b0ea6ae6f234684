#include "workflows/benchmark.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>

#include "core/clock.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/numbers.h"
#include "hardware/inventory.h"
#include "hardware/usable_cpus.h"
#include "laboratory/gpu.h"
#include "laboratory/power_meter.h"
#include "runner/registry.h"
#include "workflows/calibrate/applicable_cases.h"
#include "workflows/hardware.h"
#include "workflows/zoo.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kShownFailures = 5;

// What measures: ONNX Runtime with a provider, PyTorch, or the GPU's own runtime.
struct Engine {
  std::string runtime;  // with its version
  std::string provider;
  std::string device_name;                    // PyTorch's or the runtime's of the GPU
  std::optional<laboratory::GpuFacts> facts;  // of cuda and hip
  std::vector<laboratory::GpuLibrary> libraries;
  bool gpu = false;
  std::string graph_level;
  int threads = 0;
  laboratory::BenchmarkVisitor visitor;
  std::shared_ptr<runner::ort::Runtime> ort;  // which the visitor uses
};

// What runs here is this machine's: results under another device's name would be taken for its own by every estimate.
core::Result<hardware::Device> device_for(const BenchmarkRequest& request, const Engine& engine, const Services& services) {
  const bool gpu = engine.gpu;
  auto own = engine.facts ? find_seen_gpu(*engine.facts, services) : find_own_device(gpu, services);
  if (request.hardware == "this") {
    if (own || gpu || own.error().code != core::ErrorCode::not_found) return own;
    AACO_ASSIGN(const ProbeOutcome probed, probe_hardware({}, services));
    return probed.device;
  }
  AACO_ASSIGN(hardware::Device named, find_device(request.hardware, services));
  const bool matches =
      own ? own->id == named.id : gpu && named.kind != hardware::DeviceKind::cpu;  // an unknown GPU: as it is named
  if (matches) return named;
  return core::fail(core::ErrorCode::invalid_argument,
                    fmt::format("backend {} measures this machine, which is {}, not {}", request.backend,
                                own ? own->id : "another device", named.id),
                    "omit --hardware, or run the benchmark on the machine with " + named.id);
}

core::Result<runner::BackendOptions> backend_of(const BenchmarkRequest& request, const Services& services) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  constexpr std::string_view kOrt = "ort-";
  const std::string name = request.backend.starts_with(kOrt) ? request.backend.substr(kOrt.size()) : request.backend;
  AACO_ASSIGN(const auto config, registry.backend(name));
  AACO_ASSIGN(auto options, runner::backend_options(config));
  if (request.threads) options.intra_op_threads = *request.threads;
  const auto usable = hardware::usable_cpus();
  options.pool_threads = usable.pool_threads();
  options.pool_cpus = usable.pool_cpus();
  return options;
}

// A file named directly, or a model of the zoo that is made now.
core::Result<std::string> model_file(const std::string& name, std::uint64_t seed, const Services& services) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  AACO_ASSIGN(const auto config, registry.model(name));
  if (!config.from_zoo()) return config.path;
  return make_zoo_model(name, seed, services);
}

// Before hours of measuring: every model that the suites name is one.
core::Status check_models(const std::vector<laboratory::BenchmarkSuite>& suites, const Services& services) {
  AACO_ASSIGN(const auto registry, runner::Registry::load(services.paths));
  for (const auto& suite : suites)
    for (const auto& one : suite.cases) {
      if (one.kind != laboratory::CaseKind::model) continue;
      if (auto config = registry.model(one.model); !config)
        return tl::unexpected<core::Error>(std::move(config).error().with("suite " + suite.name));
    }
  return {};
}

std::string suites_hash(const std::vector<laboratory::BenchmarkSuite>& suites) {
  std::string text;
  for (const auto& suite : suites) {
    text += fmt::format("{} {} {} {}\n", suite.name, suite.rounds, suite.visit_ns, suite.precision_ratio);
    for (const auto& one : suite.cases) text += one.id + "\n";
  }
  return core::sha256_hex(text);
}

Json facts_json(const hardware::Inventory& inventory) {
  Json facts = Json::object();
  for (const auto& fact : hardware::machine_facts(inventory)) facts.set(fact.key, fact.value);
  return facts;
}

bool is_gpu(const runner::BackendOptions& backend) {
  if (backend.provider == "OpenVINOExecutionProvider") {
    const auto device = backend.provider_options.find("device_type");
    return device != backend.provider_options.end() && !device->second.starts_with("CPU");
  }
  constexpr std::array<std::string_view, 3> kOnProcessors{"CPUExecutionProvider", "DnnlExecutionProvider",
                                                          "XnnpackExecutionProvider"};
  return std::find(kOnProcessors.begin(), kOnProcessors.end(), backend.provider) == kOnProcessors.end();
}

Json provenance_of(const BenchmarkRequest& request, const hardware::Device& device, const Engine& engine,
                   const Services& services) {
  Json out = Json::object({{"device", device.id},
                           {"suite", request.suite},
                           {"backend", request.backend},
                           {"provider", engine.provider},
                           {"threads", engine.threads},
                           {"seed", request.seed},
                           {"runtime", engine.runtime},
                           {"tool_version", services.tool_version},
                           {"started", core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime))},
                           {"machine", facts_json(hardware::take_inventory("/", services.environment))}});
  if (!engine.graph_level.empty()) out.set("graph_level", engine.graph_level);
  if (!engine.device_name.empty()) out.set("device_name", engine.device_name);
  if (engine.facts) out.set("gpu", request.gpu);
  return out;
}

// What must be equal for a run to go on where another ended.
std::string key_of(const Json& provenance, const std::vector<laboratory::BenchmarkSuite>& suites) {
  std::string text = suites_hash(suites);
  for (const char* part : {"device", "backend", "provider", "threads", "seed", "runtime", "tool_version", "gpu"})
    text += "\n" + provenance[part].dump(-1);
  return core::sha256_hex(text).substr(0, 16);
}

const std::atomic<bool>& stop_of(const Services& services) {
  static const std::atomic<bool> kNever{false};
  return services.stop != nullptr ? *services.stop : kNever;
}

// The meter of the device that is measured, or why there is none.
struct Power {
  bool wanted = true;
  std::optional<laboratory::PowerMeter> meter;
  std::string absent;

  laboratory::PowerMeter* meter_of(bool gpu) {
    absent = "not requested";
    if (!wanted) return nullptr;
    auto opened = laboratory::PowerMeter::open({}, gpu ? laboratory::PowerMeter::Of::gpu : laboratory::PowerMeter::Of::processor);
    absent = opened ? "" : opened.error().message;
    if (!opened) return nullptr;
    meter = std::move(*opened);
    return &*meter;
  }
};

bool on_pytorch(const BenchmarkRequest& request) { return request.backend == "pytorch" || request.backend == "pytorch-gpu"; }

std::optional<laboratory::GpuRuntime> gpu_runtime_of(const std::string& backend) {
  if (backend == "cuda") return laboratory::GpuRuntime::cuda;
  if (backend == "hip") return laboratory::GpuRuntime::hip;
  return std::nullopt;
}

core::Status check_operators_only(const std::string& backends, const std::vector<laboratory::BenchmarkSuite>& suites) {
  for (const auto& suite : suites)
    for (const auto& one : suite.cases)
      if (one.kind == laboratory::CaseKind::model)
        return core::fail(
            core::ErrorCode::invalid_argument,
            backends + " run single operators only, but suite " + suite.name + " contains models, which need ONNX Runtime",
            "use --suite micro, --suite llm, --suite gpu, or a custom suite without models");
  return {};
}

core::Result<Engine> gpu_engine(const BenchmarkRequest& request, const std::vector<laboratory::BenchmarkSuite>& suites,
                                Power& power, const Services& services) {
  AACO_TRY(check_operators_only("the backends cuda and hip", suites));
  laboratory::GpuOptions options;
  options.runtime = *gpu_runtime_of(request.backend);
  options.device = request.gpu;
  options.worker = request.gpu_worker;
  options.stop = &stop_of(services);
  options.power = power.meter_of(true);
  AACO_ASSIGN(auto process, laboratory::on_gpu(options));
  Engine engine;
  engine.runtime = process.version;
  engine.provider = request.backend;
  engine.gpu = true;
  engine.device_name = process.facts.name;
  engine.facts = process.facts;
  engine.libraries = std::move(process.libraries);
  engine.visitor = std::move(process.visitor);
  return engine;
}

core::Result<Engine> pytorch_engine(const BenchmarkRequest& request, const std::vector<laboratory::BenchmarkSuite>& suites,
                                    Power& power, const Services& services) {
  AACO_TRY(check_operators_only("the pytorch backends", suites));
  laboratory::PyTorchOptions options;
  options.python = !request.python.empty() ? request.python : services.environment.get("AACO_PYTHON").value_or("python3");
  options.share = services.paths.share;
  options.gpu = request.backend == "pytorch-gpu";
  options.threads = request.threads.value_or(0);
  options.seed = request.seed;
  options.stop = &stop_of(services);
  options.power = power.meter_of(options.gpu);
  AACO_ASSIGN(auto process, laboratory::on_pytorch(options));
  Engine engine;
  engine.runtime = "pytorch " + process.version;
  engine.provider = options.gpu ? "gpu" : "cpu";
  engine.gpu = options.gpu;
  if (options.gpu) engine.device_name = process.device_name;
  engine.threads = process.threads;
  engine.visitor = std::move(process.visitor);
  return engine;
}

core::Result<Engine> ort_engine(const BenchmarkRequest& request, const std::string& scratch, Power& power,
                                const Services& services) {
  AACO_ASSIGN(runner::BackendOptions backend, backend_of(request, services));
  Engine engine;
  AACO_ASSIGN(engine.ort, runner::ort::Runtime::open({request.ort_library, services.environment, services.paths}));
  AACO_TRY(engine.ort->check_provider(backend));
  engine.runtime = "onnxruntime " + engine.ort->version();
  engine.provider = backend.provider;
  engine.gpu = is_gpu(backend);
  engine.threads = backend.intra_op_threads;
  engine.graph_level = backend.graph_level;
  laboratory::OrtBenchmarkOptions options;
  options.backend = std::move(backend);
  options.seed = request.seed;
  options.scratch = scratch;
  options.stop = &stop_of(services);
  options.power = power.meter_of(engine.gpu);
  options.model_file = [seed = request.seed, &services](const std::string& name) { return model_file(name, seed, services); };
  engine.visitor = laboratory::on_onnx_runtime(*engine.ort, std::move(options));
  return engine;
}

laboratory::BenchmarkOptions options_of(const BenchmarkRequest& request, const Services& services) {
  laboratory::BenchmarkOptions options;
  options.seed = request.seed;
  options.stop = &stop_of(services);
  const std::int64_t start = core::monotonic_ns();
  options.progress = [&services, start](std::int64_t done, std::int64_t total, const std::string& what) {
    const auto elapsed = static_cast<double>(core::monotonic_ns() - start);
    services.progress(fmt::format("{} of {} ({}), {}", done, total, core::format_duration(elapsed), what));
  };
  return options;
}

void count(const laboratory::BenchmarkJournal& journal, BenchmarkOutcome& outcome) {
  outcome.visits = static_cast<std::int64_t>(journal.visits().size());
  for (const auto& visit : journal.visits()) {
    if (visit.error.empty()) continue;
    ++outcome.failed;
    std::string text = visit.one.id + ": " + visit.error;
    const auto& shown = outcome.failures;  // a case fails in each round alike
    if (shown.size() < kShownFailures && std::find(shown.begin(), shown.end(), text) == shown.end())
      outcome.failures.push_back(std::move(text));
  }
}

void judge(const laboratory::BenchmarkJournal& journal, BenchmarkOutcome& outcome) {
  outcome.spread = laboratory::spread_of(journal);
  constexpr double kQuiet = 0.05;
  if (outcome.spread && outcome.spread->median_ratio > kQuiet)
    outcome.warnings.push_back(
        fmt::format("half of the cases vary by {:.0f} % or more between rounds: the machine was not idle, which limits the "
                    "accuracy of any estimate based on these results; repeat with --fresh on an idle machine, or isolate the run "
                    "with 'aaco capsule --level standard -- aaco benchmark ...'",
                    outcome.spread->median_ratio * 100));
}

}  // namespace

core::Status serve_gpu_worker(const std::string& backend, int gpu, double patience_seconds) {
  const auto runtime = gpu_runtime_of(backend);
  if (!runtime) return core::fail(core::ErrorCode::invalid_argument, "'" + backend + "' is not a GPU backend", "use cuda or hip");
  // What the libraries print must not stand between the answers.
  const core::FileDescriptor own(::dup(STDOUT_FILENO));
  if (!own.valid() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return core::fail_errno(errno, "the worker's standard output");
  laboratory::GpuWorkerOptions options;
  options.runtime = *runtime;
  options.device = gpu;
  options.patience_ns = static_cast<std::int64_t>(patience_seconds * 1e9);
  return laboratory::serve_gpu(options, std::cin, [&own](const std::string& answer) {
    const std::string line = answer + "\n";
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t wrote = ::write(own.get(), line.data() + done, line.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return;  // nobody reads: the input ends next
      done += static_cast<std::size_t>(wrote);
    }
  });
}

std::string benchmark_folder(const core::Paths& paths, const std::string& device, const std::string& backend) {
  const std::string folder = core::join_path(core::join_path(paths.registry, "benchmarks"), device);
  return backend == kDefaultBackend ? folder : core::join_path(folder, backend);
}

core::Result<std::vector<laboratory::BenchmarkSuite>> list_benchmarks(const BenchmarkRequest& request, const Services& services) {
  return laboratory::load_suites(request.suite, services.paths);
}

core::Result<BenchmarkOutcome> benchmark(const BenchmarkRequest& request, const Services& services) {
  AACO_ASSIGN(auto suites, laboratory::load_suites(request.suite, services.paths));
  AACO_TRY(check_models(suites, services));
  AACO_ASSIGN(const auto scratch, core::TemporaryDirectory::make("/tmp"));
  Power power;
  power.wanted = request.power;
  AACO_ASSIGN(const Engine engine, on_pytorch(request)               ? pytorch_engine(request, suites, power, services)
                                   : gpu_runtime_of(request.backend) ? gpu_engine(request, suites, power, services)
                                                                     : ort_engine(request, scratch.path(), power, services));
  AACO_ASSIGN(const hardware::Device device, device_for(request, engine, services));
  BenchmarkOutcome outcome;
  if (engine.facts) AACO_TRY(leave_out_peers(engine.facts->devices, suites, outcome.not_applicable));
  outcome.device = device.id;
  outcome.runtime = engine.runtime;
  outcome.no_power = power.absent;
  for (const auto& library : engine.libraries)
    if (!library.absent.empty()) outcome.absent.push_back(library.name + ": " + library.absent + "; " + library.remedy);
  outcome.folder = benchmark_folder(services.paths, device.id, request.backend);
  AACO_ASSIGN(const core::FileDescriptor held,
              laboratory::hold_benchmarks(benchmark_folder(services.paths, device.id, kDefaultBackend)));
  const Json provenance = provenance_of(request, device, engine, services);
  AACO_ASSIGN(auto journal,
              laboratory::BenchmarkJournal::open(outcome.folder, provenance, key_of(provenance, suites), request.fresh));
  outcome.run_id = journal.run_id();
  outcome.resumed = journal.resumed();
  const auto options = options_of(request, services);
  for (const auto& suite : suites) {
    outcome.cases += static_cast<std::int64_t>(suite.cases.size());
    const auto status = laboratory::run_suite(suite, engine.visitor, options, journal);
    if (!status && status.error().code == core::ErrorCode::cancelled)
      outcome.interrupted = true;
    else if (!status)
      return tl::unexpected<core::Error>(status.error());
    if (outcome.interrupted) break;
  }
  if (!outcome.interrupted) AACO_TRY(journal.finish());
  count(journal, outcome);
  judge(journal, outcome);
  AACO_ASSIGN(outcome.tables, laboratory::write_tables(outcome.folder, device.id));
  return outcome;
}

Json to_json(const BenchmarkOutcome& outcome) {
  Json tables = Json::array(), failures = Json::array();
  for (const auto& table : outcome.tables) tables.push(Json::object({{"path", table.path}, {"rows", table.rows}}));
  for (const std::string& text : outcome.failures) failures.push(text);
  Json warnings = Json::array();
  for (const std::string& text : outcome.warnings) warnings.push(text);
  Json out = Json::object({{"schema_version", 1},
                           {"device", outcome.device},
                           {"runtime", outcome.runtime},
                           {"folder", outcome.folder},
                           {"run", outcome.run_id},
                           {"power", outcome.no_power.empty() ? Json("measured") : Json("not measured: " + outcome.no_power)},
                           {"resumed", outcome.resumed},
                           {"interrupted", outcome.interrupted},
                           {"cases", outcome.cases},
                           {"visits", outcome.visits},
                           {"failed", outcome.failed},
                           {"failures", std::move(failures)},
                           {"tables", std::move(tables)},
                           {"warnings", std::move(warnings)}});
  if (!outcome.not_applicable.empty())
    out.set("not_applicable", static_cast<long long>(outcome.not_applicable.size()))
        .set("not_applicable_cases", Json::texts(outcome.not_applicable));
  if (!outcome.absent.empty()) out.set("absent", Json::texts(outcome.absent));
  if (outcome.spread)
    out.set("rounds_apart", Json::object({{"cases", outcome.spread->cases},
                                          {"median_ratio", outcome.spread->median_ratio},
                                          {"p90_ratio", outcome.spread->p90_ratio}}));
  return out;
}

}  // namespace aaco::workflows
