#include "workflows/record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hardware/secrets.h"
#include "workflows/explain/insight.h"
#include "workflows/isolation.h"
#include "workflows/isolation/attended_child.h"
#include "workflows/live_record.h"
#include "workflows/recorded_run.h"
#include "workflows/run/cpu_account.h"
#include "workflows/run/gpu_profile_pass.h"
#include "workflows/run/hooked_calls.h"
#include "workflows/run/hooked_trace.h"
#include "workflows/run/marked_ranges.h"
#include "workflows/run/memory_limit.h"
#include "workflows/run/python_watch.h"
#include "workflows/run/scheduler_plane.h"
#include "workflows/run/tracer_watch.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

using core::Json;

// As shells have them.
constexpr int kCannotExecute = 126, kCommandNotFound = 127;

// No signal ends the program before the session is written.
class Holding {
 public:
  explicit Holding(SignalRelay* relay) : relay_(relay) {
    if (relay_ != nullptr) relay_->holding = true;
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  ~Holding() {
    if (relay_ != nullptr) relay_->holding = false;
  }

 private:
  SignalRelay* relay_;
};

// The command line of the process to observe, without secrets; empty: none, or it cannot be read.
std::vector<std::string> process_command(const RecordRequest& request) {
  if (!request.process_id) return {};
  const auto text = core::read_file("/proc/" + std::to_string(*request.process_id) + "/cmdline");
  std::vector<std::string> words;
  if (text)
    for (const auto& word : core::split(*text, '\0')) words.emplace_back(word);
  while (!words.empty() && words.back().empty()) words.pop_back();
  return hardware::without_secrets(words);
}

Json request_json(const RecordRequest& request) {
  Json words = Json::texts(hardware::without_secrets(request.command));
  return Json::object({{"command", std::move(words)},
                       {"process_id", request.process_id},
                       {"process_command", Json::texts(process_command(request))},
                       {"duration_ns", request.duration ? Json(static_cast<long long>(request.duration->count())) : Json()},
                       {"telemetry_period_ns", static_cast<long long>(request.telemetry_period.count())},
                       {"ebpf", request.ebpf},
                       {"hooks", request.hooks},
                       {"hook_libraries", request.hook_libraries},
                       {"traces", Json::texts(request.traces)},
                       {"isolation", to_json(request.isolation)},
                       {"profile", request.profile},
                       {"profile_domains", request.profile_domains},
                       {"counters", request.counters}});
}

void wait_for_process(std::int64_t process_id, const RecordRequest& request, const Services& services,
                      const std::function<void()>& drain, bool& interrupted) {
  const std::int64_t begin = core::monotonic_ns();
  const core::SystemClock clock;
  while (::kill(static_cast<pid_t>(process_id), 0) == 0 || errno == EPERM) {
    const std::int64_t now = core::monotonic_ns();
    if (request.duration && now - begin >= request.duration->count()) return;
    if (services.stopping()) {
      interrupted = request.duration.has_value();  // without a duration the user's stop is the way to end
      return;
    }
    drain();
    clock.sleep_until(now + kAttendingPeriodNs);
  }
}

struct Profiling {
  runner::profilers::Profiler profiler;
  GpuProfileRequest pass;
};

// Tells once per second how long the recording has lasted and, where it has an end, how much is left.
class Elapsed {
 public:
  Elapsed(std::string name, const RecordRequest& request, const Services& services)
      : name_(std::move(name)),
        duration_(request.duration),
        tell_(request.process_id ? services.progress : request.beside_command) {}

  void look() {
    const std::int64_t second = (core::monotonic_ns() - begin_ns_) / kSecondNs;
    if (second == told_) return;
    told_ = second;
    const std::string whole = duration_ ? " of " + core::format_duration(static_cast<double>(duration_->count())) : "";
    std::string text = fmt::format("recording {}: {} s{}", name_, second, whole);
    if (duration_ && duration_->count() > second * kSecondNs) {
      const std::int64_t left_ns = duration_->count() - second * kSecondNs;
      text += fmt::format(", {}, {} s left",
                          core::format_percent(1 - static_cast<double>(left_ns) / static_cast<double>(duration_->count())),
                          (left_ns + kSecondNs - 1) / kSecondNs);
    }
    tell_(text);
  }

 private:
  static constexpr std::int64_t kSecondNs = 1'000'000'000;
  std::string name_;
  std::optional<core::Nanoseconds> duration_;
  std::function<void(std::string_view)> tell_;
  std::int64_t begin_ns_ = core::monotonic_ns(), told_ = -1;
};

// --profile needs a GPU profiler that can wrap the command.
core::Result<std::optional<Profiling>> profiling_for(const RecordRequest& request, const Services& services) {
  if (!request.profile) return std::optional<Profiling>();
  if (request.process_id)
    return core::fail(core::ErrorCode::invalid_argument,
                      "--profile requires a command to start: a profiler cannot attach to a running process",
                      "remove --profile or --pid");
  Profiling profiling;
  AACO_ASSIGN(profiling.pass, gpu_profile_request(request.profile_domains, request.counters));
  profiling.pass.command = request.command;
  AACO_ASSIGN(profiling.profiler, runner::profilers::find_profiler(services.environment.get("PATH").value_or("")));
  return std::optional(std::move(profiling));
}

}  // namespace

core::Result<RecordOutcome> record(const RecordRequest& request, const Services& services) {
  if (request.process_id && ::kill(static_cast<pid_t>(*request.process_id), 0) != 0 && errno == ESRCH)
    return core::fail(core::ErrorCode::not_found, "no process with pid " + std::to_string(*request.process_id),
                      "'ps' lists the running processes");
  if (!request.process_id && (request.command.empty() || request.command.front().empty()))
    return core::fail(core::ErrorCode::invalid_argument, "the command is empty", "for example: aaco record -- python3 train.py");
  if (request.process_id && request.isolation.wanted())
    return core::fail(core::ErrorCode::invalid_argument,
                      "--isolate requires a command to start: a running process cannot be isolated", "remove --isolate or --pid");
  if (request.process_id && request.hooks)
    return core::fail(core::ErrorCode::invalid_argument,
                      "--hooks requires a command to start: a running process cannot preload a library",
                      "remove --hooks or --pid");
  AACO_ASSIGN(auto profiling, profiling_for(request, services));
  AACO_ASSIGN(auto isolation, Isolation::enter(request.isolation, true, std::nullopt, services));
  const Holding holding(request.relay);
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("record", request.tag, request_json(request), services));
  isolation.tell(draft);
  RecordOutcome outcome;
  bool interrupted = false;
  // The child is watched from its birth; a process that runs already, from now on.
  std::optional<SchedulerPlane> plane;
  if (request.ebpf) plane.emplace(request.process_id.value_or(::getpid()), request.process_id.has_value());
  if (plane) plane->resume();
  std::optional<HookedCalls> hooked;
  if (request.hooks) hooked.emplace(request.hook_libraries, !request.traces.empty(), services);
  MarkedRanges ranges;
  const std::int64_t begin = core::monotonic_ns();
  std::optional<AttendedChild> child;
  if (!request.process_id) {
    AttendedChild::Variables variables = hooked ? hooked->environment() : AttendedChild::Variables();
    variables.emplace_back(ranges.variable());
    auto started = AttendedChild::start(request.command, services, request.relay, variables);
    if (!started) {
      (void)core::remove_tree(draft.writer().path());
      outcome.not_started = std::move(started.error());
      outcome.exit_code = outcome.not_started->code == core::ErrorCode::not_found ? kCommandNotFound : kCannotExecute;
      return outcome;
    }
    child.emplace(std::move(*started));
    if (plane) plane->stop_adopting();
  }
  isolation.step_out();
  const std::int64_t observed = child ? child->pid() : *request.process_id;
  const std::string name = request.command.empty() ? "pid " + std::to_string(observed) : program_of(request.command);
  LiveRecord live(services.paths.sessions, draft.manifest(), name);
  live.phase("recording");
  Telemetry telemetry(observed, request.telemetry_period);
  AACO_TRY(telemetry.start());
  telemetry.resume();
  PythonWatch python(observed);
  Elapsed elapsed(name, request, services);
  MemoryLimit memory_limit("/", observed);
  TracerWatch tracer("/", observed);
  const auto drain = [&] {
    telemetry.drain(draft.sink());
    if (plane) plane->drain(draft.sink());
    if (hooked && request.relay != nullptr) hooked->set_enabled(!request.relay->hooks_off);
    if (hooked) hooked->drain(draft.sink());
    ranges.drain(draft.sink());
    python.look();
    elapsed.look();
    memory_limit.look();
    tracer.look(core::monotonic_ns());
  };
  std::optional<CpuTotal> total;
  if (child) {
    const auto ended = child->wait(request.duration, services, drain);
    outcome.exit_code = ended.exit_code;
    interrupted = ended.interrupted;
    if (ended.usage) total = cpu_total(*ended.usage);
  } else
    wait_for_process(*request.process_id, request, services, drain, interrupted);
  const std::int64_t end = core::monotonic_ns();
  live.phase("writing the session");
  services.progress("writing the session");
  isolation.leave(draft);
  if (child && !interrupted && request.duration && end - begin >= request.duration->count())
    draft.warn("record.command_ended",
               "the command was stopped after " + core::format_duration(static_cast<double>(request.duration->count())) +
                   " (--duration); its run time and exit code are not those of a complete run",
               "remove --duration to let it finish, or observe it with --pid");
  draft.phase("record", begin, end);
  telemetry.finish(draft.sink(), draft.manifest(), kLongerPeriod);
  if (plane) {
    plane->finish(draft.sink(), draft.manifest());
    AACO_TRY(store_stacks(*plane, draft.writer()));
  }
  if (hooked) hooked->finish(observed, draft);
  if (auto marked = ranges.finish(draft.sink()); !marked.source.empty()) draft.manifest().accounts.push_back(std::move(marked));
  trace::Outcome& what = draft.manifest().outcome;
  what.model = name;
  what.process_id = observed;
  if (child) what.exit_code = outcome.exit_code;
  what.wall_ns = end - begin;
  draft.manifest().outcome.isolation = isolation.describe();
  hardware::Fingerprint of_command;
  add_command_facts(draft.manifest().request, of_command);
  std::vector<hardware::Fact> subject = {{"mode", "record"}};
  subject.insert(subject.end(), of_command.facts.begin(), of_command.facts.end());
  for (auto& fact : isolation.facts()) subject.push_back(std::move(fact));
  subject.push_back({"process.tracer", tracer.names()});
  warn_of_tracer(tracer.names(), draft);
  AACO_TRY(draft.write_lockbox(std::move(subject), python.libraries()));
  AACO_TRY(draft.writer().flush());
  trace::Metrics gpu_metrics, call_metrics;
  const std::int64_t started_ns = draft.manifest().created_realtime_ns;
  if (hooked) {
    const bool traced = !request.traces.empty() && has_new_trace(request.traces, started_ns);
    AACO_ASSIGN(call_metrics, hooked->analyse(draft, services, !profiling && !traced));
  }
  if (!request.traces.empty()) {
    AACO_ASSIGN(gpu_metrics, import_hooked_trace(request.traces, started_ns, draft, services));
    interrupted = interrupted || services.stopping();
  }
  if (profiling && !interrupted) {
    profiling->pass.timeout_ns = request.profile_timeout ? request.profile_timeout->count() : profile_timeout_ns(end - begin);
    AACO_ASSIGN(gpu_metrics, gpu_profile_pass(profiling->pass, profiling->profiler, draft, services));
    interrupted = services.stopping();
  }
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, 1));
  AACO_ASSIGN(const auto events, loaded.rows<trace::SystemEventRow>());
  if (!total) total = cpu_total(events, loaded.names());
  if (total) account_cpu(*total, static_cast<double>(end - begin), metrics);
  account_states(events, loaded.names(), metrics);
  memory_limit.account(metrics);
  draft.manifest().state = interrupted ? "interrupted" : draft.manifest().state;
  if (const auto run_time = run_time_ns(draft.manifest())) metrics.push_back({std::string(kRunTime), *run_time, "ns", {}, {}});
  metrics.insert(metrics.end(), std::make_move_iterator(gpu_metrics.begin()), std::make_move_iterator(gpu_metrics.end()));
  metrics.insert(metrics.end(), std::make_move_iterator(call_metrics.begin()), std::make_move_iterator(call_metrics.end()));
  if (draft.manifest().outcome.gpu.is_object()) write_bottleneck(draft, loaded, metrics, services.paths);
  AACO_ASSIGN(outcome.session, draft.finish(std::move(metrics), interrupted));
  return outcome;
}

}  // namespace aaco::workflows
