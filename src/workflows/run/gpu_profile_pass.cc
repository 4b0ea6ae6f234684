#include "workflows/run/gpu_profile_pass.h"

#include <algorithm>
#include <csignal>

#include "core/clock.h"
#include "core/files.h"
#include "core/subprocess.h"
#include "hardware/secrets.h"
#include "workflows/gpu/gpu_analysis_json.h"
#include "workflows/gpu_analysis.h"
#include "workflows/import/import_read.h"

namespace aaco::workflows {
namespace {

using core::Json;
namespace profilers = runner::profilers;

constexpr std::string_view kFolder = "profiler/rocprof_raw";
constexpr std::int64_t kPollNs = 20'000'000;
constexpr std::size_t kMaxLogBytes = std::size_t{64} << 10;

struct Execution {
  int exit_code = 0;
  bool timed_out = false;
  bool stopped = false;
  std::int64_t wall_ns = 0;
  std::string log;  // the end of what it wrote to standard error
  [[nodiscard]] bool good() const { return exit_code == 0 && !timed_out && !stopped; }
};

// Keeps the end of a log, which says why a program failed.
std::string shorten_log(const std::string& path) {
  auto text = core::read_file(path);
  if (!text) return {};
  if (text->size() <= kMaxLogBytes) return *text;
  text->erase(0, text->size() - kMaxLogBytes);
  if (!core::write_file_atomic(path, *text)) return {};
  return *text;
}

// Standard output of the second execution says nothing new; standard error goes to a file.
core::Result<Execution> execute(const std::vector<std::string>& arguments, const std::string& log_path, std::int64_t timeout_ns,
                                const Services& services) {
  core::Command command;
  command.arguments = {"/bin/sh", "-c", "exec \"$@\" >/dev/null 2>\"$0\"", log_path};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.output = core::Command::Output::inherit;
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(core::Child child, core::Child::start(command));
  Execution execution;
  const core::SystemClock clock;
  for (;;) {
    if (const auto code = child.poll()) {
      execution.exit_code = *code;
      break;
    }
    const std::int64_t now = core::monotonic_ns();
    execution.timed_out = now - begin > timeout_ns;
    execution.stopped = services.stopping();
    if (execution.timed_out || execution.stopped) {
      child.signal(SIGKILL);
      execution.exit_code = child.wait();
      break;
    }
    clock.sleep_until(now + kPollNs);
  }
  execution.wall_ns = core::monotonic_ns() - begin;
  execution.log = shorten_log(log_path);
  return execution;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const auto newline = text.rfind('\n');
  return std::string(text.substr(newline == std::string_view::npos ? 0 : newline + 1).substr(0, 300));
}

void warn_of_execution(const profilers::ProfileCommand& command, const Execution& execution, SessionDraft& draft) {
  if (execution.good() || execution.stopped) return;
  const std::string said = last_line(execution.log);
  if (execution.timed_out)
    return draft.warn("profile.timed_out",
                      "the workload under the profiler (" + command.what + ") did not finish within " +
                          std::to_string(execution.wall_ns / 1'000'000'000) + " s and was killed; its partial output is imported",
                      "increase --profile-timeout, trace fewer domains, or use a shorter workload");
  draft.warn("profile.failed",
             "the workload under the profiler (" + command.what + ") failed with exit code " +
                 std::to_string(execution.exit_code) + (said.empty() ? "" : ": " + said) + "; its partial output is imported",
             "see profiler/rocprof_raw/" + command.what + ".log in the session");
}

Json execution_json(const profilers::ProfileCommand& command, const Execution& execution) {
  Json words = Json::texts(hardware::without_secrets(command.arguments));
  return Json::object({{"what", command.what},
                       {"command", std::move(words)},
                       {"exit_code", execution.exit_code},
                       {"timed_out", execution.timed_out},
                       {"wall_ns", execution.wall_ns}});
}

// Without a kernel: is there another tool that took them?
void warn_of_no_kernels(const std::string& logs, bool has_calls, SessionDraft& draft, const Services& services) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [name, value] : services.environment.all()) variables.emplace_back(name, value);
  const auto tools = profilers::other_tools(variables);
  const bool said = logs.find("already registered") != std::string::npos ||
                    logs.find("already configured") != std::string::npos ||
                    logs.find("already been configured") != std::string::npos;
  if (!tools.empty() || said)
    return draft.warn("profile.second_tool",
                      "the profiler recorded no kernels; another tool is registered with the runtime (" +
                          (tools.empty() ? std::string("according to the profiler's log") : tools.front()) +
                          "), and only the first tool receives kernels",
                      "unset it or disable the framework's profiler, then profile again");
  draft.warn("profile.no_kernels",
             has_calls ? "the profiler recorded runtime calls but no kernels: another profiler in the workload (such as "
                         "PyTorch's) may have claimed them"
                       : "the profiler recorded neither kernels nor runtime calls: the workload did not use the GPU",
             has_calls ? "disable the profiler in the workload and profile again"
                       : "run 'aaco info' to list the GPUs, and check that the workload can use them");
}

void warn_of_clock(const ImportCounts& counts, std::int64_t begin_ns, std::int64_t end_ns, SessionDraft& draft) {
  if (counts.first_ns > counts.last_ns || (counts.first_ns >= begin_ns && counts.last_ns <= end_ns)) return;
  draft.warn("profile.clock", "the profiler's timestamps are outside its run time: its clock is not the expected one (boottime)",
             "kernel and call times are consistent with each other; do not compare them with telemetry");
}

struct Imported {
  trace::Metrics metrics;
  Json files = Json::array();
};

core::Result<Imported> import_output(const GpuProfileRequest& request, const std::string& folder, const std::string& logs,
                                     std::int64_t begin_ns, SessionDraft& draft, const Services& services) {
  Imported imported;
  const auto no_output = [&](const core::Error& error) {
    draft.warn("profile.no_output", "the profiler wrote no readable output: " + error.message,
               "see the logs in profiler/rocprof_raw in the session");
    return imported;
  };
  const auto inputs = importers::grouping::find_inputs({folder});
  if (!inputs) return no_output(inputs.error());
  AACO_ASSIGN(const auto home, draft.manifest().clocks.convert({core::ClockId::boottime, 0}, core::ClockId::monotonic));
  ImportSink sink(draft.sink(), home.ns);
  auto read = read_files(*inputs, sink, draft, services);
  if (!read && read.error().code == core::ErrorCode::cancelled) return imported;
  if (!read) return no_output(read.error());
  imported.files = std::move(read->files);
  const ImportCounts& counts = sink.counts();
  warn_of_clock(counts, begin_ns, core::monotonic_ns(), draft);
  if (counts.kernels == 0) warn_of_no_kernels(logs, counts.calls > 0, draft, services);
  if (counts.kernels + counts.copies == 0) return imported;
  AACO_TRY(draft.writer().flush());
  GpuAnalysisOptions options;
  options.find_steps = counts.iterations == 0;
  options.keep_steps = request.keep_steps;
  options.graph = request.graph;
  options.devices = read->devices;
  AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft.writer().path(), options, draft.sink(), services));
  draft.manifest().outcome.gpu = to_json(analysis, options);
  imported.metrics = std::move(analysis.metrics);
  AACO_TRY(draft.writer().flush());
  return imported;
}

}  // namespace

core::Result<GpuProfileRequest> gpu_profile_request(const std::string& domains, const std::string& counters) {
  GpuProfileRequest request;
  if (!domains.empty()) {
    AACO_ASSIGN(request.domains, profilers::parse_domains(domains));
  }
  if (!counters.empty()) {
    AACO_ASSIGN(request.counters, profilers::parse_counters(counters));
  }
  return request;
}

std::int64_t profile_timeout_ns(std::int64_t wall_ns) {
  constexpr std::int64_t kAtLeastNs = 120'000'000'000;
  constexpr std::int64_t kSlowdown = 20;  // counters serialise kernels
  constexpr std::int64_t kAtMostNs = 24LL * 3600 * 1'000'000'000;
  return kAtLeastNs + kSlowdown * std::clamp<std::int64_t>(wall_ns, 0, kAtMostNs);
}

core::Result<trace::Metrics> gpu_profile_pass(const GpuProfileRequest& request, const profilers::Profiler& profiler,
                                              SessionDraft& draft, const Services& services) {
  const std::string folder = core::join_path(draft.writer().path(), kFolder);
  AACO_TRY(core::make_directories(folder));
  AACO_ASSIGN(const auto commands, build_commands(profiler, {request.command, request.domains, request.counters, folder}));
  const std::int64_t begin = core::monotonic_ns();
  Json executions = Json::array();
  std::string logs;
  for (const auto& command : commands) {
    if (services.stopping()) break;
    services.progress("running the workload again under " + std::string(to_string(profiler.tool)) + " (" + command.what + ")");
    AACO_ASSIGN(const Execution execution,
                execute(command.arguments, core::join_path(folder, command.what + ".log"), request.timeout_ns, services));
    warn_of_execution(command, execution, draft);
    executions.push(execution_json(command, execution));
    logs += execution.log;
  }
  draft.phase("gpu_profile", begin, core::monotonic_ns());
  AACO_ASSIGN(Imported imported, import_output(request, folder, logs, begin, draft, services));
  draft.manifest().outcome.gpu_profile = Json::object({{"profiler", to_string(profiler.tool)},
                                                       {"version", profiler.version},
                                                       {"executions", std::move(executions)},
                                                       {"files", std::move(imported.files)}});
  return std::move(imported.metrics);
}

}  // namespace aaco::workflows
