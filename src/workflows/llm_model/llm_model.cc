#include "workflows/llm_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/resident_memory.h"
#include "hardware/process_facts.h"
#include "hardware/usable_cpus.h"
#include "runner/ort_runtime.h"
#include "workflows/hardware.h"
#include "workflows/isolation.h"
#include "workflows/llm_model/decoder_plan.h"
#include "workflows/llm_model/decoder_summary.h"
#include "workflows/llm_model/generate.h"
#include "workflows/llm_model/node_profile.h"
#include "workflows/llm_model/prediction.h"
#include "workflows/models/model_tables.h"
#include "workflows/placement.h"
#include "workflows/run/run_metrics.h"
#include "workflows/session/loop_blocks.h"
#include "workflows/session/noise.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"
#include "workflows/telemetry.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kMaxProfileNs = 5e9;
constexpr std::size_t kWarmupToJudge = 10;  // generations, below which nothing is said of a trend

struct OpenedDecoder {
  std::shared_ptr<runner::ort::Runtime> runtime;
  std::unique_ptr<runner::Backend> backend;
};

core::Result<OpenedDecoder> open_decoder(const DecoderPlan& plan, const LlmModelRequest& request, const Services& services) {
  OpenedDecoder opened;
  AACO_ASSIGN(opened.runtime, runner::ort::Runtime::open({request.run.ort_library, services.environment, services.paths}));
  AACO_ASSIGN(opened.backend, opened.runtime->open_model(plan.run.model_path, plan.run.backend));
  return opened;
}

// What must be equal for two of these sessions to be compared.
std::vector<hardware::Fact> subject_of(const DecoderPlan& plan, const Placement& placement, const std::string& version,
                                       const LlmModelRequest& request, const Isolation& isolation,
                                       const hardware::UsableCpus& usable) {
  std::vector<hardware::Fact> facts = isolation.facts();
  for (auto& fact : llm_model_facts(request)) facts.push_back(std::move(fact));
  facts.insert(facts.end(), {{"model.hash", plan.run.model_hash},
                             {"runtime.name", "onnxruntime"},
                             {"runtime.version", version},
                             {"provider", placement.provider},
                             {"threads.intra", std::to_string(plan.run.backend.intra_op_threads)},
                             {"graph_level", plan.run.backend.graph_level},
                             {"seed", std::to_string(request.run.seed)}});
  if (!usable.allowed.empty()) {
    facts.push_back({"cpu.allowed_cores", std::to_string(usable.allowed.size())});
    facts.push_back({"cpu.allowed_list", usable.allowed_list()});
  }
  for (auto& fact : hardware::process_facts()) facts.push_back(std::move(fact));
  return facts;
}

// Generations of the main level as iterations, so that whatever works on iterations works on them.
void store_iterations(const LevelRun& run, const std::map<std::int64_t, std::string>& disturbed, trace::Sink& sink) {
  const auto store = [&](const std::vector<runner::TimedCall>& calls, std::string_view phase, bool marked) {
    trace::IterationRow row;
    row.phase = sink.name(phase);
    for (const auto& call : calls) {
      row.block = call.block;
      row.start_ns = call.start_ns;
      row.duration_ns = call.duration_ns;
      const auto cause = disturbed.find(call.block);
      row.disturbance = !marked || cause == disturbed.end() ? trace::NameId{} : sink.name(cause->second);
      sink.add(row);
      ++row.iteration;
    }
  };
  store(run.loop.warmup, "warmup", false);
  store(run.loop.plain, "measure", true);
  store(run.loop.instrumented, "measure_telemetry", false);
}

void store_phases(const LevelRun& run, SessionDraft& draft) {
  const auto span = [&](const char* name, const std::vector<runner::TimedCall>& calls) {
    if (!calls.empty()) draft.phase(name, calls.front().start_ns, calls.back().start_ns + calls.back().duration_ns);
  };
  span("warmup", run.loop.warmup);
  span("measure", run.loop.plain);
}

struct MeasuredDecoder {
  std::vector<LevelRun> runs;
  std::map<std::int64_t, std::string> dropped_blocks;  // of the main level
  Json noise;
  std::vector<ProfiledPhase> profiled;
};

// The main level with everything around it: accounts of its blocks, telemetry in every other one.
core::Result<LevelRun> run_main(runner::Backend& backend, const DecoderPlan& plan, const LlmModelRequest& request,
                                SessionDraft& draft, MeasuredDecoder& measured, const Services& services) {
  std::optional<Telemetry> telemetry;
  if (request.run.telemetry) {
    telemetry.emplace(static_cast<std::int64_t>(::getpid()), request.run.telemetry_period);
    AACO_TRY(telemetry->start());
  }
  LoopBlocks blocks;
  auto run = run_level(backend, plan, plan.levels.front(), request, telemetry ? &*telemetry : nullptr, &blocks, services);
  if (telemetry) telemetry->finish(draft.sink(), draft.manifest(), kFreeCpu);
  if (!run) return run;
  blocks.store(draft.sink());
  const NoiseFound noise = watch_noise(blocks, run->loop.plain, request.run.drop_disturbed, draft, services.paths);
  measured.noise = noise_summary(noise.document);
  if (noise.document["dropped"].as_bool() == true) measured.dropped_blocks = noise.cause_of_block;
  store_iterations(*run, noise.cause_of_block, draft.sink());
  if (!run->loop.warmup_verdict.stationary && !request.warmup && run->loop.warmup.size() >= kWarmupToJudge)
    draft.warn("warmup.not_stationary", "the time of a generation was not stable at the end of warm-up",
               "close other programs, or set --warmup");
  return run;
}

// The main level must succeed; a level of a curve that fails is told of, and the others go on.
core::Result<MeasuredDecoder> measure_levels(runner::Backend& backend, const DecoderPlan& plan, const LlmModelRequest& request,
                                             SessionDraft& draft, const Services& services) {
  MeasuredDecoder measured;
  for (const DecoderLevel& level : plan.levels) {
    if (services.stopping()) break;
    services.progress("measuring " + level.name);
    auto run = level.main ? run_main(backend, plan, request, draft, measured, services)
                          : run_level(backend, plan, level, request, nullptr, nullptr, services);
    if (!run && level.main) return tl::unexpected(std::move(run).error());
    if (!run) {
      draft.warn("llm.level_failed", level.name + " failed: " + run.error().message, run.error().remedy);
      continue;
    }
    store_phases(*run, draft);
    measured.runs.push_back(*std::move(run));
  }
  return measured;
}

// Nodes of both phases, where --profile asked for them. The measurement is whole without them.
void profile_nodes(OpenedDecoder& decoder, const DecoderPlan& plan, const LlmModelRequest& request, MeasuredDecoder& measured,
                   SessionDraft& draft, const Services& services) {
  if (!request.run.profile || services.stopping() || measured.runs.empty()) return;
  services.progress("profiling " + plan.levels.front().name);
  decoder.backend.reset();  // both need not be in memory at once
  double measured_ns = 0;
  for (const auto& call : measured.runs.front().loop.plain) measured_ns += static_cast<double>(call.duration_ns);
  auto profiled =
      profile_decoder(*decoder.runtime, plan, request.run.seed, std::min(measured_ns, kMaxProfileNs), draft, services);
  if (profiled)
    measured.profiled = *std::move(profiled);
  else
    draft.warn("profile.failed", "the nodes were not profiled: " + profiled.error().message, profiled.error().remedy);
}

void write_all(const MeasuredDecoder& measured, bool chunks, trace::Sink& sink) {
  std::int64_t first = 0;
  for (const LevelRun& run : measured.runs)
    first +=
        write_rows(run, first, run.level.main ? measured.dropped_blocks : std::map<std::int64_t, std::string>{}, chunks, sink);
}

std::optional<double> joules_of(const trace::Metrics& metrics) {
  double joules = 0;
  bool known = false;
  for (const auto& metric : metrics)
    if (metric.id == "energy.cpu_per_iteration_joules" || metric.id == "energy.gpu_per_iteration_joules") {
      joules += metric.value;
      known = true;
    }
  return known ? std::optional(joules) : std::nullopt;
}

// Without this machine in the registry the measurement is whole all the same, and says how to get it there.
core::Result<DecoderFacts> facts_of(const DecoderPlan& plan, const std::vector<LevelRun>& runs, const Placement& placement,
                                    SessionDraft& draft, const Services& services) {
  DecoderFacts facts;
  if (runs.empty()) return facts;
  const DecoderLevel& main = runs.front().level;
  if (const auto bytes = weight_bytes_of(plan, main)) facts.weight_bytes = *bytes;
  const auto device = find_own_device(placement.provider != "CPUExecutionProvider", services);
  if (!device) {
    draft.warn("llm.no_prediction", "predictions and the bandwidth floor are unavailable: " + device.error().message,
               device.error().remedy);
    return facts;
  }
  const auto cache = static_cast<double>(plan.layout.cache_bytes(main.batch, main.cached()));
  facts.bandwidth = bandwidth_of(*device, facts.weight_bytes + cache, services.paths);
  for (const LevelRun& run : runs) {
    auto predicted = predict_level(plan, run.level, *device, services);
    if (!predicted) {
      draft.warn("llm.no_prediction", run.level.name + " was not predicted: " + predicted.error().message,
                 predicted.error().remedy);
      facts.predicted.emplace_back();
      continue;
    }
    if (run.level.main) AACO_TRY(draft.writer().write_json("predict/llm_nodes.json", nodes_json(*predicted, run.level)));
    facts.predicted.emplace_back(*std::move(predicted));
  }
  return facts;
}

void fill_outcome(trace::Outcome& outcome, const DecoderPlan& plan, const Placement& placement, const MeasuredDecoder& measured,
                  const DecoderSummary& summary) {
  outcome.model = plan.run.model_name;
  outcome.backend = placement.backend;
  outcome.provider = placement.provider;
  outcome.requested_backend = placement.requested_backend;
  outcome.requested_provider = placement.requested_provider;
  outcome.batch = plan.levels.front().batch;
  outcome.threads = plan.run.backend.intra_op_threads;
  outcome.graph_level = plan.run.backend.graph_level;
  outcome.noise = measured.noise;
  outcome.llm = Json::object({{"mode", "in_process"},
                              {"layout", to_string(plan.layout.family)},
                              {"summary", summary.sentence},
                              {"causes", Json::texts(summary.causes)}});
  if (measured.runs.empty()) return;
  const auto& loop = measured.runs.front().loop;
  outcome.warmup_iterations = static_cast<std::int64_t>(loop.warmup.size());
  outcome.warmup_ended = loop.warmup_reason;
  outcome.iterations = static_cast<std::int64_t>(loop.plain.size());
  outcome.measuring_ended = loop.stop_reason;
}

core::Result<SessionOutcome> finish(const DecoderPlan& plan, const LlmModelRequest& request, const Placement& placement,
                                    const MeasuredDecoder& measured, std::int64_t rss_load_bytes, SessionDraft& draft,
                                    const Services& services) {
  services.progress("computing metrics");
  trace::MemorySink rows;
  write_all(measured, true, rows);
  write_all(measured, request.keep_chunks, draft.sink());
  AACO_TRY(store_model_tables(plan.run.graph, draft));
  AACO_ASSIGN(DecoderFacts facts, facts_of(plan, measured.runs, placement, draft, services));
  if (!measured.profiled.empty())
    AACO_TRY(draft.writer().write_json("metrics/llm_nodes.json",
                                       profiled_nodes_json(measured.profiled, plan.levels.front(),
                                                           facts.predicted.empty() ? std::nullopt : facts.predicted.front())));
  AACO_TRY(draft.writer().flush());
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, 1));
  std::erase_if(metrics, [](const trace::MetricValue& metric) { return metric.id.starts_with("throughput."); });
  facts.joules_per_generation = joules_of(metrics);
  if (measured.noise["dropped"].as_bool() != true) facts.disturbed_ratio = measured.noise["disturbed_ratio"].as_f64();
  DecoderSummary summary = summarize_decoder(measured.runs, rows, plan, facts);
  metrics.insert(metrics.end(), summary.metrics.begin(), summary.metrics.end());
  std::erase_if(metrics, [](const trace::MetricValue& metric) { return metric.id.starts_with("memory.rss_peak_bytes"); });
  metrics.push_back({"memory.rss_load_bytes", static_cast<double>(rss_load_bytes), "bytes", {}, {}});
  metrics.push_back({"memory.rss_peak_bytes", static_cast<double>(core::resident_peak_bytes()), "bytes", {}, {}});
  AACO_TRY(draft.writer().write_json("metrics/llm_summary.json", summary.document));
  fill_outcome(draft.manifest().outcome, plan, placement, measured, summary);
  return draft.finish(std::move(metrics), services.stopping());
}

}  // namespace

std::vector<hardware::Fact> llm_model_facts(const LlmModelRequest& request) {
  const DecoderLevel main = decoder_levels(request).front();
  return {{"mode", "llm in process"},
          {"input_shapes", fmt::format("prompt {}, response {} tokens", main.prompt, main.output)},
          {"batch", std::to_string(main.batch)}};
}

core::Result<SessionOutcome> llm_model(const LlmModelRequest& asked, const Services& services) {
  services.progress("preparing " + asked.run.model);
  AACO_ASSIGN(auto isolation, Isolation::enter(asked.run.isolation, false, asked.run.threads, services));
  const auto usable = hardware::usable_cpus();  // before the runtime pins threads
  LlmModelRequest request = asked;
  if (!request.run.threads) request.run.threads = isolation.cpus();
  AACO_ASSIGN(const DecoderPlan plan, plan_decoder(request, services));
  services.progress("loading " + plan.run.model_name);
  const std::int64_t load_begin = core::monotonic_ns();
  AACO_ASSIGN(OpenedDecoder decoder, open_decoder(plan, request, services));
  const std::int64_t load_end = core::monotonic_ns();
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("llm", request.run.tag, to_json(request, plan), services));
  draft.phase("load", load_begin, load_end);
  const std::int64_t rss_load_bytes = core::resident_bytes().value_or(core::resident_peak_bytes());
  const Placement placement = placement_of(plan.run.backend, decoder.backend->describe());
  const Json runtime = described(decoder.backend->describe(), placement);
  AACO_TRY(draft.writer().write_json("runtime/ort_config.json", runtime));
  isolation.tell(draft);
  AACO_TRY(draft.write_lockbox(subject_of(plan, placement, decoder.runtime->version(), request, isolation, usable),
                               Json::object({{"onnxruntime", decoder.runtime->version()}})));
  warn_of_placement(draft, plan.run, runtime);
  AACO_ASSIGN(MeasuredDecoder measured, measure_levels(*decoder.backend, plan, request, draft, services));
  profile_nodes(decoder, plan, request, measured, draft, services);
  draft.manifest().outcome.isolation = isolation.describe();
  isolation.leave(draft);
  return finish(plan, request, placement, measured, rss_load_bytes, draft, services);
}

}  // namespace aaco::workflows
