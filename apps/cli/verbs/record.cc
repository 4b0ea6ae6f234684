#include "workflows/record.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/isolation_options.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "cli/output/session_output.h"
#include "cli/signals.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

struct RecordOptions {
  workflows::RecordRequest request;
  std::string duration, period, profile_timeout, report_to;
  bool json = false;
  bool no_report = false;
};

core::Status read_times(RecordOptions& options) {
  if (!options.duration.empty()) {
    const auto value = core::parse_duration_ns(options.duration);
    if (!value || *value <= 0)
      return core::fail(core::ErrorCode::invalid_argument,
                        "invalid value '" + options.duration + "' for '--duration': expected a duration such as 10s");
    options.request.duration = core::Nanoseconds(*value);
  }
  if (!options.period.empty()) {
    AACO_ASSIGN(const std::int64_t ns, time_with_unit(options.period, "--telemetry-period", "10ms"));
    if (ns < 5'000'000)
      return core::fail(core::ErrorCode::invalid_argument,
                        "invalid value '" + options.period + "' for '--telemetry-period': the minimum is 5ms");
    options.request.telemetry_period = core::Nanoseconds(ns);
  }
  if (!options.profile_timeout.empty()) {
    const auto value = core::parse_duration_ns(options.profile_timeout);
    if (!value || *value <= 0)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + options.profile_timeout +
                                                               "' for '--profile-timeout': expected a duration such as 10min");
    options.request.profile_timeout = core::Nanoseconds(*value);
  }
  auto& request = options.request;
  if (!request.profile && (!request.profile_domains.empty() || !request.counters.empty() || request.profile_timeout))
    return core::fail(core::ErrorCode::invalid_argument, "--profile-domains, --counters and --profile-timeout require --profile",
                      "add --profile");
  if (request.hook_libraries && !request.hooks)
    return core::fail(core::ErrorCode::invalid_argument, "--hook-libraries requires --hooks", "add --hooks");
  if (!request.traces.empty() && !request.hooks)
    return core::fail(core::ErrorCode::invalid_argument,
                      "--trace requires --hooks, whose calls the trace's kernels are joined to",
                      "add --hooks, or import the trace with 'aaco import'");
  if (!request.traces.empty() && request.profile)
    return core::fail(core::ErrorCode::invalid_argument,
                      "--trace and --profile cannot be used together: each brings the kernels of another run",
                      "remove one of them");
  return {};
}

void record_program(Context& context, RecordOptions& options) {
  if (auto times = read_times(options); !times) return context.fail(times.error());
  if (options.request.command.empty() == !options.request.process_id.has_value())
    return context.fail({core::ErrorCode::invalid_argument,
                         options.request.command.empty() ? "missing command after '--', or --pid PID"
                                                         : "a command and --pid cannot be used together",
                         "for example: aaco record -- python3 train.py",
                         {}});
  options.request.relay = &relay_signals();
  options.request.beside_command = [&context](std::string_view text) {
    if (!context.progress_file.empty()) context.progress(text);
  };
  const auto outcome = workflows::record(options.request, make_services(context));
  if (!outcome) {
    context.fail(outcome.error());
    context.exit_code = outcome.error().code == core::ErrorCode::invalid_argument ? kUsage : kRecordFailed;
    return;
  }
  if (outcome->not_started) {
    context.fail(*outcome->not_started);
    context.exit_code = outcome->exit_code;
    return;
  }
  finish_recorded_session(context, outcome->session, options.json, options.no_report, options.report_to);
  context.exit_code = context.exit_code == kFine ? outcome->exit_code : kRecordFailed;
}

}  // namespace

void add_record(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("record", "Observe any program and its child processes: aaco record [options] -- COMMAND");
  auto options = std::make_shared<RecordOptions>();
  verb->add_option("--pid", options->request.process_id, "Observe this running process and its children instead of a command")
      ->check(positive_count());
  verb->add_option(
          "--duration", options->duration,
          "Stop after this time; a process observed with --pid keeps running, but a command is terminated (SIGTERM first)")
      ->type_name("TIME");
  verb->add_option("--telemetry-period", options->period, "Sampling period, at least 5ms (default: 10ms)")->type_name("TIME");
  verb->add_flag("--ebpf", options->request.ebpf,
                 "Record operating system events (scheduling delays, sleeps, faults, interrupts, I/O); requires root or CAP_BPF "
                 "and CAP_PERFMON, otherwise skipped with a warning");
  verb->add_flag(
      "--hooks", options->request.hooks,
      "Record the command's calls of the HIP and CUDA runtimes and drivers with a preloaded library; kill -RTMIN+8 PID, "
      "with the PID of aaco, pauses and resumes it");
  verb->add_flag("--hook-libraries", options->request.hook_libraries,
                 "With --hooks: also calls of cuBLAS, cuDNN, NCCL, hipBLAS, MIOpen and RCCL");
  verb->add_option(
          "--trace", options->request.traces,
          "With --hooks: a file or folder that the command's own profiler writes (PyTorch, rocprofv3, Nsight Systems ...); its "
          "kernels are joined to the recorded calls. May be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  verb->add_option("--tag", options->request.tag, "Tag for the session, to refer to it as tag:NAME");
  verb->add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  add_isolation_options(*verb, options->request.isolation);
  verb->add_flag("--profile", options->request.profile, "Run the command a second time under the GPU profiler found in PATH");
  verb->add_option(
          "--profile-domains", options->request.profile_domains,
          "With --profile: what to trace: kernel,hip,hsa,marker,copy,memory,scratch,rccl (default: kernel,hip,marker,copy)")
      ->type_name("LIST");
  verb->add_option("--counters", options->request.counters,
                   "With --profile: hardware counters to collect in an additional run, e.g. SQ_WAVES,GRBM_GUI_ACTIVE")
      ->type_name("LIST");
  verb->add_option("--profile-timeout", options->profile_timeout,
                   "With --profile: kill a profiled run after this time (default: 2min plus 20 times the measured run)")
      ->type_name("TIME");
  verb->add_flag("--json", options->json, "Print JSON (to standard output) instead of the report");
  verb->add_option("--report-to", options->report_to, "Write the report (or the JSON) to this file instead of standard error")
      ->type_name("FILE");
  verb->add_flag("--no-report", options->no_report, "Do not write the HTML page");
  verb->add_option("command", options->request.command, "Command and its arguments, after '--'");
  verb->positionals_at_end();
  verb->footer(
      "The exit code is the command's; 127 means that it was not found, 126 that it could not be started, 125 that record itself "
      "failed.\nSignals are passed to the command unchanged. Standard output is the command's: the report goes to standard "
      "error.\n"
      "--profile runs the command a second time under rocprofv3 (or rocprof), so that profiling does not affect the "
      "measurement.\n\n"
      "Examples:\n  aaco record -- python3 train.py\n  aaco record --profile --counters SQ_WAVES -- ./app\n  aaco record --pid "
      "4711 --duration 10s");
  verb->callback([&context, options] { record_program(context, *options); });
}

}  // namespace aaco::cli
