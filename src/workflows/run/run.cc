#include "workflows/run.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "collectors/clock_state.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/resident_memory.h"
#include "hardware/process_facts.h"
#include "hardware/tracer.h"
#include "hardware/usable_cpus.h"
#include "stats/observer.h"
#include "workflows/explain/insight.h"
#include "workflows/hardware.h"
#include "workflows/isolation.h"
#include "workflows/live_record.h"
#include "workflows/models/model_tables.h"
#include "workflows/models/model_work.h"
#include "workflows/placement.h"
#include "workflows/predict/session_estimates.h"
#include "workflows/run/gpu_profile_pass.h"
#include "workflows/run/live_blocks.h"
#include "workflows/run/loaded_model.h"
#include "workflows/run/profile_pass.h"
#include "workflows/run/run_again.h"
#include "workflows/run/run_metrics.h"
#include "workflows/run/run_plan.h"
#include "workflows/run/scheduler_plane.h"
#include "workflows/run/tracer_watch.h"
#include "workflows/session/loop_blocks.h"
#include "workflows/session/noise.h"
#include "workflows/session_draft.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::string_view kPlain = "measure";
constexpr std::string_view kInstrumented = "measure_telemetry";

using analytics::scheduling::IterationSums;

// `sums`: what the operating system did in each call; empty where nobody watched.
void store_calls(trace::Sink& sink, const std::vector<runner::TimedCall>& calls, std::string_view phase,
                 const std::vector<IterationSums>& sums = {}, const std::map<std::int64_t, std::string>& disturbed_blocks = {}) {
  trace::IterationRow row;
  row.phase = sink.name(phase);
  for (const runner::TimedCall& call : calls) {
    row.block = call.block;
    row.start_ns = call.start_ns;
    row.duration_ns = call.duration_ns;
    if (static_cast<std::size_t>(row.iteration) < sums.size()) {
      const IterationSums& sum = sums[static_cast<std::size_t>(row.iteration)];
      row.caller_run_queue_ns = sum.caller_run_queue_ns;
      row.caller_off_cpu_ns = sum.caller_off_cpu_ns;
      row.process_run_queue_ns = sum.process_run_queue_ns;
      row.page_faults = sum.page_faults;
      row.interrupt_ns = sum.interrupt_ns;
      row.migrations = sum.migrations;
    }
    const auto disturbed = disturbed_blocks.find(call.block);
    row.disturbance = disturbed == disturbed_blocks.end() ? trace::NameId{} : sink.name(disturbed->second);
    sink.add(row);
    ++row.iteration;
  }
}

// The phases as spans: they follow from the calls themselves.
void store_phases(SessionDraft& draft, const runner::LoopResult& loop) {
  auto span = [&](std::string name, const std::vector<runner::TimedCall>& calls) {
    if (!calls.empty()) draft.phase(std::move(name), calls.front().start_ns, calls.back().start_ns + calls.back().duration_ns);
  };
  span("warmup", loop.warmup);
  span("measure", loop.plain);
}

struct Measured {
  runner::LoopResult loop;
  std::int64_t rss_peak_bytes = 0;
  Json noise;  // what session.json keeps of it
  trace::Metrics sleep;
  trace::Metrics freezes;
};

core::Result<Measured> measure_model(LoadedModel& model, const RunPlan& plan, const RunRequest& request, SessionDraft& draft,
                                     LiveRecord& live, const Services& services) {
  stats::StoppingRule rule(plan.stopping);
  rule.reserve();
  std::optional<Telemetry> telemetry;
  if (request.telemetry) {
    telemetry.emplace(static_cast<std::int64_t>(::getpid()), request.telemetry_period);
    AACO_TRY(telemetry->start());
  }
  std::optional<SchedulerPlane> plane;
  if (request.ebpf) plane.emplace(static_cast<std::int64_t>(::getpid()), true);
  Instruments instruments;
  if (telemetry) instruments.add(&*telemetry);
  if (plane && plane->watches()) instruments.add(&*plane);
  static const std::atomic<bool> kNever{false};
  LoopBlocks blocks;
  LiveBlocks told(blocks, live, plan.stopping, plan.model_name, services);
  std::function<core::Status()> once = [&] { return model.backend->run_once(); };
  if (request.before_call)
    once = [&] {
      request.before_call();
      return model.backend->run_once();
    };
  if (request.delay != InjectedDelay{})
    once = [&, call = std::move(once)]() -> core::Status {
      const std::int64_t start_ns = core::monotonic_ns();
      AACO_TRY(call());
      (void)request.delay.end_of_call(start_ns);
      return {};
    };
  AACO_ASSIGN(runner::LoopResult loop, runner::measure(once, plan.loop, rule, instruments.get(),
                                                       services.stop != nullptr ? *services.stop : kNever, &told));
  Measured measured{std::move(loop), 0, {}, {}};
  measured.rss_peak_bytes = core::resident_peak_bytes();
  if (telemetry) telemetry->finish(draft.sink(), draft.manifest(), kLongerPeriod);
  WatchedCalls watched;
  if (plane) {
    watched = finish_with_calls(*plane, measured.loop.instrumented, ::getpid(), ::gettid(), draft.sink(), draft.manifest());
    AACO_TRY(store_stacks(*plane, draft.writer()));
  }
  blocks.store(draft.sink());
  const NoiseFound noise = watch_noise(blocks, measured.loop.plain, request.drop_disturbed, draft, services.paths);
  measured.noise = noise_summary(noise.document);
  store_calls(draft.sink(), measured.loop.warmup, "warmup");
  store_calls(draft.sink(), measured.loop.plain, kPlain, {}, noise.cause_of_block);
  store_calls(draft.sink(), measured.loop.instrumented, kInstrumented, watched.sums);
  measured.sleep = std::move(watched.sleep);
  measured.freezes = blocks.freezes();
  store_phases(draft, measured.loop);
  return measured;
}

// The profiled pass takes no longer than the measurement was to take, or took where no time was set.
double profile_budget_ns(const RunRequest& request, const runner::LoopResult& loop) {
  constexpr double kMost = 5e9, kLeast = 3e8, kMinUnasked = 1e9;
  if (request.duration) return std::clamp(static_cast<double>(request.duration->count()), kLeast, kMost);
  double measured_ns = 0;
  for (const auto* calls : {&loop.plain, &loop.instrumented})
    for (const runner::TimedCall& call : *calls) measured_ns += static_cast<double>(call.duration_ns);
  return std::clamp(measured_ns, kMinUnasked, kMost);
}

// The profiled pass has a session of its own; the measured one is gone by then, so that both do not need memory at once.
core::Result<std::optional<double>> profile_model(LoadedModel& model, const RunPlan& plan, const RunRequest& request,
                                                  const runner::LoopResult& loop, double median_ns, SessionDraft& draft,
                                                  const Services& services) {
  services.progress("profiling " + plan.model_name);
  model.backend.reset();
  RunPlan profiled = plan;
  profiled.backend.profile = true;
  profiled.backend.profile_prefix = core::join_path(draft.writer().path(), "ort_profile");
  AACO_ASSIGN(LoadedModel again, load_model(profiled, request, services));
  AACO_ASSIGN(const ProfilePass pass,
              profile_pass(*again.backend, profile_calls(plan.graph.nodes.size()), profile_budget_ns(request, loop),
                           request.before_call, draft.sink(), draft.manifest(), services));
  if (pass.iterations == 0 || median_ns <= 0) return std::optional<double>();
  return std::optional(pass.median_ns / median_ns - 1);
}

struct GpuProfiling {
  runner::profilers::Profiler profiler;
  GpuProfileRequest pass;
};

// The GPU's pass: on a backend of ROCm, and wherever it is asked for by name. Looked up before anything is measured; only where
// it was asked for by name is a missing profiler an error.
core::Result<std::optional<GpuProfiling>> gpu_profiling_for(const RunPlan& plan, const RunRequest& request,
                                                            const Services& services, std::vector<trace::Warning>& warnings) {
  const bool by_name = !request.profile_domains.empty() || !request.counters.empty();
  if (!request.profile || (!by_name && !is_rocm_provider(plan.backend.provider))) return std::optional<GpuProfiling>();
  GpuProfiling profiling;
  AACO_ASSIGN(profiling.pass, gpu_profile_request(request.profile_domains, request.counters));
  profiling.pass.keep_steps = false;
  auto profiler = runner::profilers::find_profiler(services.environment.get("PATH").value_or(""));
  if (!profiler && by_name) return tl::unexpected<core::Error>(std::move(profiler.error()));
  if (!profiler) {
    warnings.push_back(
        {"profile.no_profiler", "kernels were not profiled: " + profiler.error().message, profiler.error().remedy});
    return std::optional<GpuProfiling>();
  }
  profiling.profiler = std::move(*profiler);
  return std::optional(std::move(profiling));
}

// The same model again, as a process of its own under the profiler.
core::Result<trace::Metrics> profile_gpu(GpuProfiling& profiling, const RunPlan& plan, const LoadedModel& model,
                                         const RunRequest& request, const Measured& measured, SessionDraft& draft,
                                         const Services& services) {
  constexpr std::int64_t kMaxIterations = 100;
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make("/tmp", "aaco-profile"));
  const auto iterations = static_cast<std::int64_t>(measured.loop.plain.size());
  // Within another program, such as a Python interpreter, AACO_PROGRAM names aaco.
  const std::string program = services.environment.get("AACO_PROGRAM").value_or(core::executable_path());
  profiling.pass.command = run_again(program, request, std::clamp<std::int64_t>(iterations, 1, kMaxIterations), folder.path());
  profiling.pass.timeout_ns =
      profile_timeout_ns(draft.manifest().phases.back().end_ns - draft.manifest().phases.front().start_ns);
  if (const auto as_run = model_as_run(plan.graph, model.inputs)) profiling.pass.graph = nodes_of(*as_run, plan.model_name);
  return gpu_profile_pass(profiling.pass, profiling.profiler, draft, services);
}

trace::Outcome outcome_of(const RunPlan& plan, const Placement& placement, const LoadedModel& model, const Measured& measured) {
  trace::Outcome outcome;
  outcome.model = plan.model_name;
  outcome.backend = placement.backend;
  outcome.provider = placement.provider;
  outcome.requested_backend = placement.requested_backend;
  outcome.requested_provider = placement.requested_provider;
  outcome.batch = model.batch;
  outcome.threads = plan.backend.intra_op_threads;
  outcome.graph_level = plan.backend.graph_level;
  outcome.inputs = model.inputs;
  outcome.warmup_iterations = static_cast<std::int64_t>(measured.loop.warmup.size());
  outcome.warmup_ended = measured.loop.warmup_reason;
  outcome.warmup_stationary = measured.loop.warmup_verdict.stationary;
  outcome.iterations = static_cast<std::int64_t>(measured.loop.plain.size());
  outcome.measuring_ended = measured.loop.stop_reason;
  return outcome;
}

// What the nodes could take, where this machine is in the hardware registry: without that the run is whole all the same, and says
// how to get it there where it was asked for each node.
core::Status predict_nodes(const RunPlan& plan, const Placement& placement, const LoadedModel& model, bool asked,
                           SessionDraft& draft, const Services& services) {
  if (placement.provider != "CPUExecutionProvider") return {};
  const auto device = find_device("this", services);
  const core::Status stored =
      device ? store_estimates(plan.graph, model.inputs, *device, draft, services) : tl::unexpected<core::Error>(device.error());
  if (!stored && asked)
    draft.warn("attainable.unknown", "hardware efficiency of the nodes is unavailable: " + stored.error().message,
               stored.error().remedy);
  return draft.sink().status();
}

// What must be equal for two runs to be compared.
std::vector<hardware::Fact> subject_facts(const RunPlan& plan, const Placement& placement, const LoadedModel& model,
                                          const RunRequest& request, const Isolation& isolation,
                                          const hardware::UsableCpus& usable) {
  std::vector<hardware::Fact> facts = isolation.facts();
  facts.insert(facts.end(), {{"model.hash", plan.model_hash},
                             {"runtime.name", model.runtime_name},
                             {"runtime.version", model.runtime_version},
                             {"runtime.hash", model.runtime_build},
                             {"provider", placement.provider},
                             {"threads.intra", std::to_string(plan.backend.intra_op_threads)},
                             {"threads.inter", std::to_string(plan.backend.inter_op_threads)},
                             {"graph_level", plan.backend.graph_level},
                             {"session_options", session_options_text(plan.backend.session_options)},
                             {"inputs.hash", inputs_hash_text(request.inputs)},
                             {"input_shapes", model.shapes_text},
                             {"batch", std::to_string(model.batch)},
                             {"seed", std::to_string(request.seed)},
                             {"mode", "run"}});
  if (!usable.allowed.empty()) {
    facts.push_back({"cpu.allowed_cores", std::to_string(usable.allowed.size())});
    facts.push_back({"cpu.allowed_list", usable.allowed_list()});
  }
  for (auto& fact : hardware::process_facts()) facts.push_back(std::move(fact));
  return facts;
}

}  // namespace

core::Result<SessionOutcome> run(const RunRequest& asked, const Services& services) {
  services.progress("preparing " + asked.model);
  AACO_ASSIGN(auto isolation, Isolation::enter(asked.isolation, false, asked.threads, services));
  const auto usable = hardware::usable_cpus();  // before the runtime pins threads
  RunRequest request = asked;
  if (!request.threads) request.threads = isolation.cpus();  // the runtime counts the machine's CPUs, not those inside
  AACO_ASSIGN(const RunPlan plan, plan_run(request, services));
  std::vector<trace::Warning> warnings;
  AACO_ASSIGN(auto gpu_profiling, gpu_profiling_for(plan, request, services, warnings));
  // The model is loaded before the session begins: what cannot run leaves nothing behind.
  const std::int64_t load_begin = core::monotonic_ns();
  services.progress("loading " + plan.model_name);
  AACO_ASSIGN(LoadedModel model, load_model(plan, request, services));
  const std::int64_t load_end = core::monotonic_ns();
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("run", request.tag, plan.request, services));
  LiveRecord live(services.paths.sessions, draft.manifest(),
                  plan.model_name + ", " + request.backend + ", batch " + std::to_string(model.batch));
  draft.phase("load", load_begin, load_end);
  const std::int64_t rss_load_bytes = core::resident_peak_bytes();
  for (auto& warning : model.warnings) draft.manifest().warnings.push_back(std::move(warning));
  for (auto& warning : warnings) draft.manifest().warnings.push_back(std::move(warning));
  const Placement placement = placement_of(plan.backend, model.backend->describe());
  const Json runtime = described(model.backend->describe(), placement);
  AACO_TRY(draft.writer().write_json("runtime/ort_config.json", runtime));
  isolation.tell(draft);
  AACO_TRY(draft.write_lockbox(subject_facts(plan, placement, model, request, isolation, usable),
                               Json::object({{model.runtime_name, model.runtime_version}})));
  warn_of_placement(draft, plan, runtime);
  if (!request.fault.is_null())
    draft.warn("lab.fault", "this run contains an injected fault: " + std::string(request.fault["means"].text()),
               "do not compare it with undisturbed runs, except to study the effect of the fault");

  if (request.delay != InjectedDelay{})
    draft.warn("run.injected", "each call was delayed by --inject-delay", "omit --inject-delay to measure the model itself");

  const Json clocks_before = request.telemetry ? collectors::clock_state({}) : Json();
  AACO_ASSIGN(const Measured measured, measure_model(model, plan, request, draft, live, services));
  warn_of_tracer(hardware::tracer_of("/", ::getpid()), draft);
  if (request.telemetry)
    AACO_TRY(draft.writer().write_json("telemetry/clock_state.json",
                                       Json::object({{"before", clocks_before}, {"after", collectors::clock_state({})}})));
  if (!measured.loop.warmup_verdict.stationary && !request.warmup)
    draft.warn("warmup.not_stationary", "the latency was not stable at the end of warm-up: " + measured.loop.warmup_reason,
               "close other programs, or set --warmup; 'aaco capsule check' lists possible disturbances");
  draft.manifest().outcome = outcome_of(plan, placement, model, measured);
  draft.manifest().outcome.noise = measured.noise;
  draft.manifest().outcome.isolation = isolation.describe();
  draft.manifest().outcome.work = model_work(plan.graph, model.inputs);
  RunFacts facts{model.batch, rss_load_bytes, measured.rss_peak_bytes, std::nullopt, measured.sleep, measured.freezes};
  const double median_ns = median_of(measured.loop.plain);
  if (request.profile && !services.stopping()) {
    live.phase("profiling");
    AACO_ASSIGN(facts.profile_slowdown_ratio, profile_model(model, plan, request, measured.loop, median_ns, draft, services));
  }
  trace::Metrics gpu_metrics;
  if (gpu_profiling && !services.stopping()) {
    AACO_ASSIGN(gpu_metrics, profile_gpu(*gpu_profiling, plan, model, request, measured, draft, services));
  }
  isolation.leave(draft);
  services.progress("writing the session");
  live.phase("writing the session");
  AACO_TRY(store_model_tables(plan.graph, draft));
  AACO_TRY(predict_nodes(plan, placement, model, request.profile, draft, services));
  AACO_TRY(draft.writer().flush());
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, run_metrics(facts, draft, loaded));
  metrics.insert(metrics.end(), std::make_move_iterator(gpu_metrics.begin()), std::make_move_iterator(gpu_metrics.end()));
  write_bottleneck(draft, loaded, metrics, services.paths);
  return draft.finish(std::move(metrics), measured.loop.interrupted);
}

}  // namespace aaco::workflows
