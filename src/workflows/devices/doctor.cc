#include "workflows/doctor.h"

#include <unistd.h>

#include <map>

#include "collectors/collector.h"
#include "collectors/scheduler_watch.h"
#include "core/files.h"
#include "core/private_library.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "hardware/inventory.h"
#include "hooks/recording.h"
#include "runner/opencv_runtime.h"
#include "runner/ort_runtime.h"
#include "runner/registry.h"
#include "runner/zoo.h"
#include "workflows/ort_build.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kBuildTimeoutNs = 60'000'000'000;

DoctorLine failed(std::string feature, const core::Error& error) {
  return {std::move(feature), false, error.message, error.remedy};
}

// A small model to open on each backend: that a provider was compiled in does not say that it loads.
core::Result<std::string> trial_model(const Services& services) {
  AACO_ASSIGN(const auto request, runner::zoo::parse_request("mlp"));
  return runner::zoo::make(*request.entry, request.config, 1, services.paths.cache);
}

DoctorLine try_opencv(const std::string& name, const runner::BackendConfig& config, const core::Result<std::string>& model) {
  const std::string feature = "backend " + name;
  if (!model) return failed(feature, model.error());
  const auto options = runner::backend_options(config);
  if (!options) return failed(feature, options.error());
  const auto opened = runner::opencv::open_model(*model, *options, core::executable_path());
  return opened
             ? DoctorLine{feature, true, "OpenCV " + std::string((*opened)->describe()["version"].text()) + " loads a model", {}}
             : failed(feature, opened.error());
}

// A fetched build is opened by another process: it may have its own C library.
DoctorLine try_build(const std::string& name, const runner::BackendConfig& config, const Services& services) {
  const std::string feature = "backend " + name;
  const std::string library = library_of_build(config.ort_build, services.paths);
  if (library.empty())
    return {
        feature, false, "the build '" + config.ort_build + "' of ONNX Runtime is not installed",
        "run scripts/bootstrap.sh --ort-providers, or pass a build that includes " + config.provider + " with --ort-lib FILE"};
  core::Command command;
  command.arguments = {core::executable_path(), "doctor", "--json", "--ort-lib", library};
  for (const auto& [key, value] : services.environment.all()) command.set_environment.emplace_back(key, value);
  command.timeout_ns = kBuildTimeoutNs;
  const auto ran = core::run_command(command);
  if (!ran) return failed(feature, ran.error());
  if (const auto document = Json::parse(ran->output); ran->exit_code == 0 && document)
    for (const Json& line : (*document)["features"].items())
      if (line["feature"].text() == feature)
        return {feature, line["works"].as_bool().value_or(false), std::string(line["reason"].text()) + " (" + library + ")",
                std::string(line["remedy"].text())};
  return {feature, false, library + " does not load: exit code " + std::to_string(ran->exit_code),
          "fetch it again: scripts/bootstrap.sh --ort-providers"};
}

DoctorLine try_backend(runner::ort::Runtime& runtime, const std::string& name, const runner::BackendConfig& config,
                       const core::Result<std::string>& model) {
  const std::string feature = "backend " + name;
  const auto& available = runtime.available_providers();
  if (std::find(available.begin(), available.end(), config.provider) == available.end())
    return {feature, false, config.provider + " is not available in this ONNX Runtime build",
            "pass a build that includes it with --ort-lib FILE or AACO_ORT_LIBRARY"};
  if (!model) return failed(feature, model.error());
  const auto options = runner::backend_options(config);
  if (!options) return failed(feature, options.error());
  const auto opened = runtime.open_model(*model, *options);
  if (opened) return {feature, true, config.provider + " loads a model", {}};
  return {feature, false, config.provider + " failed to load: " + std::string(core::split_lines(opened.error().message).front()),
          "check its libraries and that a supported device is present, or pass another build with --ort-lib FILE"};
}

void look_at_runtime(const Services& services, const std::string& ort_library, std::vector<DoctorLine>& lines) {
  const auto runtime = runner::ort::Runtime::open({ort_library, services.environment, services.paths});
  if (!runtime) {
    lines.push_back(failed("run models (ONNX Runtime)", runtime.error()));
    return;
  }
  lines.push_back(
      {"run models (ONNX Runtime)", true, "version " + (*runtime)->version() + ", " + (*runtime)->library_path(), {}});
  const auto registry = runner::Registry::load(services.paths);
  if (!registry) {
    lines.push_back(failed("model and backend configuration", registry.error()));
    return;
  }
  const auto model = trial_model(services);
  for (const auto& [name, entry] : registry->models())
    if (entry.problem) lines.push_back(failed("model " + name, *entry.problem));
  for (const auto& [name, backend] : registry->backends())
    lines.push_back(backend.problem                                     ? failed("backend " + name, *backend.problem)
                    : backend.provider == runner::opencv::kProvider     ? try_opencv(name, backend, model)
                    : ort_library.empty() && !backend.ort_build.empty() ? try_build(name, backend, services)
                                                                        : try_backend(**runtime, name, backend, model));
}

void look_at_collectors(std::vector<DoctorLine>& lines) {
  for (const auto& collector : collectors::builtin_collectors()) {
    const auto info = collector->info();
    const auto opened = collector->open({}, {});
    if (opened)
      lines.push_back({"telemetry " + info.name, true, info.measures, {}});
    else
      lines.push_back(failed("telemetry " + info.name, opened.error()));
    collector->close();
  }
}

struct KernelEvents {
  std::string by_way;            // "tp_btf: switch, wakeup; kprobe: GPU buffer"
  std::vector<std::string> gpu;  // those of GPU drivers that are traced
};

core::Result<KernelEvents> try_ebpf() {
  collectors::WatchOptions options;
  options.process_id = ::getpid();
  AACO_ASSIGN(const auto watch, collectors::SchedulerWatch::open(options));
  std::map<std::string, std::vector<std::string>> by_way;
  KernelEvents out;
  for (const auto& attached : watch->attachments()) {
    by_way[attached.way.empty() ? "not attached" : attached.way].push_back(attached.event);
    if (!attached.way.empty() && attached.event.find("GPU ") != std::string::npos) out.gpu.push_back(attached.event);
  }
  std::vector<std::string> parts;
  for (const auto& [way, events] : by_way) parts.push_back(way + ": " + core::join(events, ", "));
  out.by_way = core::join(parts, "; ");
  return out;
}

void look_at_ebpf(std::vector<DoctorLine>& lines) {
  const std::string feature = "kernel scheduler events (eBPF)";
  const auto heard = try_ebpf();
  lines.push_back(heard ? DoctorLine{feature, true, heard->by_way, {}} : failed(feature, heard.error()));
  const std::string gpu = "GPU driver events (eBPF)";
  if (!core::exists("/sys/module/drm"))
    lines.push_back(
        {gpu, false, "no DRM driver is loaded (/sys/module/drm)", "if the machine has a GPU: load its kernel driver"});
  else if (!heard)
    lines.push_back(failed(gpu, heard.error()));
  else if (heard->gpu.empty())
    lines.push_back({gpu, false, "the kernel has none of the events", "use a kernel with tracefs and kprobes"});
  else
    lines.push_back({gpu, true, core::join(heard->gpu, ", "), {}});
}

void look_at_hooks(const Services& services, std::vector<DoctorLine>& lines) {
  const std::string feature = "GPU runtime calls (record --hooks)";
  hooks::RecordingOptions options;
  options.library = core::private_library(services.paths, "libaaco_hooks.so");
  const auto recording = hooks::Recording::begin(options, services.environment.get("LD_PRELOAD"));
  lines.push_back(recording ? DoctorLine{feature, true, options.library, {}} : failed(feature, recording.error()));
}

void look_at_programs(const Services& services, std::vector<DoctorLine>& lines) {
  const std::string path = services.environment.get("PATH").value_or("");
  const auto rocprof = core::find_program("rocprofv3", path);
  lines.push_back({"GPU kernel profiling (AMD)", rocprof.has_value(), rocprof ? *rocprof : "rocprofv3 is not on PATH",
                   rocprof ? "" : "install the rocprofiler-sdk package of your ROCm version and put its bin folder on PATH"});
}

void look_at_page(const Services& services, std::vector<DoctorLine>& lines) {
  const bool there = core::exists(core::join_path(services.paths.share, "web/report.html"));
  lines.push_back({"report page (HTML)", there, there ? "web/report.html is installed" : "this build does not include the page",
                   there ? "" : "run scripts/bootstrap.sh (it installs the page's build tools), then build again"});
}

void look_at_sessions(const Services& services, std::vector<DoctorLine>& lines) {
  const std::string root = services.paths.sessions;
  const std::string probe = core::exists(root) ? root : core::parent_path(root);
  const auto trial = core::TemporaryDirectory::make(probe, ".doctor");
  if (trial)
    lines.push_back({"store sessions", true, "in " + root, {}});
  else
    lines.push_back({"store sessions", false, trial.error().message, "pass a writable folder with --sessions or AACO_SESSIONS"});
}

}  // namespace

std::vector<DoctorLine> diagnose(const Services& services, const std::string& ort_library) {
  std::vector<DoctorLine> lines;
  look_at_runtime(services, ort_library, lines);
  look_at_collectors(lines);
  look_at_ebpf(lines);
  look_at_hooks(services, lines);
  look_at_programs(services, lines);
  look_at_page(services, lines);
  look_at_sessions(services, lines);
  return lines;
}

Json describe_machine(const Services& services, const std::string& ort_library) {
  Json out = to_json(hardware::take_inventory("/", services.environment));
  const auto runtime = runner::ort::Runtime::open({ort_library, services.environment, services.paths});
  if (runtime) {
    Json providers = Json::texts((*runtime)->available_providers());
    out.set("onnxruntime", Json::object({{"version", (*runtime)->version()},
                                         {"library", (*runtime)->library_path()},
                                         {"providers", std::move(providers)}}));
  } else {
    out.set("onnxruntime", Json::object({{"missing", runtime.error().message}}));
  }
  Json sources = Json::object();
  for (const auto& collector : collectors::builtin_collectors()) {
    const auto opened = collector->open({}, {});
    sources.set(collector->info().name, opened ? std::string("ok") : opened.error().message);
    collector->close();
  }
  const auto heard = try_ebpf();
  sources.set("ebpf", heard ? std::string("ok") : heard.error().message);
  out.set("collectors", std::move(sources));
  out.set("paths", Json::object({{"share", services.paths.share},
                                 {"cache", services.paths.cache},
                                 {"registry", services.paths.registry},
                                 {"sessions", services.paths.sessions}}));
  return out;
}

}  // namespace aaco::workflows
