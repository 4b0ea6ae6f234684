#include "workflows/explain/insight.h"

#include "analytics/advice.h"
#include "analytics/latency.h"
#include "core/files.h"
#include "core/numbers.h"
#include "stats/robust.h"
#include "tracelake/lake.h"
#include "workflows/explain/arithmetic_rate.h"
#include "workflows/explain/attributed_sleep.h"
#include "workflows/explain/gpu_bottleneck.h"
#include "workflows/explain/host_bottleneck.h"
#include "workflows/explain/no_work.h"

namespace aaco::workflows {
namespace {

using analytics::advice::recommend;
using analytics::bottleneck::LearnedModel;
using core::Json;

// Instruction sets as src/hardware/inventory names them.
analytics::advice::Processor processor_of(const std::string& path) {
  const auto environment = core::read_json_file(core::join_path(path, "env.json"));
  if (!environment) return {};
  for (const Json& one : (*environment)["cpu"]["simd"].items())
    for (const std::string_view name : {"avx_vnni", "avx512_vnni", "amx_int8", "asimddp", "i8mm"})
      if (one.text() == name) return {.byte_dot_products = true};
  return {};
}

// CPUs of the machine, and those that the session's process could use.
void read_cpus(const std::string& path, analytics::signals::SignalInput& input) {
  const auto environment = core::read_json_file(core::join_path(path, "env.json"));
  if (!environment) return;
  const Json& facts = (*environment)["fingerprint"]["facts"];
  input.cpus = core::parse_f64(facts["cpu.cores"].text());
  input.allowed_cpus = core::parse_f64(facts["cpu.allowed_cores"].text());
  input.cpu_limit = core::parse_f64(facts["cpu.limit_cores"].text());  // "none" where there is none
}

core::Result<std::optional<LearnedModel>> load_model(const std::string& path, const std::vector<std::string>& known) {
  if (!core::exists(path)) return std::optional<LearnedModel>();
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  auto model = analytics::bottleneck::model_from_json(document, known);
  if (!model) return tl::unexpected<core::Error>(std::move(model).error().with("reading " + path));
  return std::optional(std::move(*model));
}

constexpr std::string_view kHost = "host_computing";

// Without a profiled pass, a caller that computes may do so in the model or around it.
Json compute_of_the_call(Json document) {
  return document.set("bottleneck_class", analytics::bottleneck::kInconclusive)
      .set("confidence", 0.0)
      .set("title", "undecided: computing in the call")
      .set("meaning",
           "The calling thread computes almost all of the call. Whether in the model or in the work around it is not recorded: "
           "'aaco run --profile' tells.")
      .set("optimization_priority", Json::array())
      .set("recommendations", Json::array());
}

}  // namespace

core::Result<std::unique_ptr<SessionFacts>> session_facts(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                                          const trace::Metrics& metrics) {
  auto facts = std::make_unique<SessionFacts>();
  facts->names = loaded.shared_names();
  trace::NameTable& names = *facts->names;
  AACO_ASSIGN(const auto blocks, loaded.rows<trace::LoopBlockRow>());
  AACO_ASSIGN(const auto iterations, loaded.rows<trace::IterationRow>());
  AACO_ASSIGN(const auto nodes, loaded.rows<trace::NodeExecutionRow>());
  AACO_ASSIGN(const auto gpu_events, loaded.rows<trace::GpuEventRow>());
  AACO_ASSIGN(const auto* node_time, loaded.node_time());
  auto& side = facts->side;
  side.names = &names;
  side.nodes = *node_time;
  side.account = analytics::signals::account_of(blocks, names);
  if (side.account) count_freezes(metrics, *side.account);
  side.metrics = metrics;
  facts->iterations = analytics::metrics::durations_of(iterations, names, "measure");
  side.typical = analytics::scheduling::typical_call(iterations, names);
  for (const double ns : facts->iterations) side.call_ns += ns / static_cast<double>(facts->iterations.size());
  analytics::signals::SignalInput input;
  for (const char* phase : {"profile", "step"})
    if (const auto profiled = analytics::metrics::durations_of(iterations, names, phase); !profiled.empty() && !nodes.empty()) {
      input.profiled_model_ns = stats::median(profiled);
      break;
    }
  input.blocks = blocks;
  input.names = &names;
  input.gpu_events = gpu_events;
  input.nodes = &side.nodes;
  input.metrics = metrics;
  const trace::OutcomeWork work = manifest.outcome.work.value_or(trace::OutcomeWork{});
  input.flops = work.flops;
  input.bytes = work.bytes;
  input.graph_nodes = work.node_count;
  read_cpus(loaded.path(), input);
  side.signals = analytics::signals::signals_of(input);
  return facts;
}

core::Result<Judges> load_judges(const core::Paths& paths) {
  Judges judges;
  const auto data = [&](std::string_view file) { return core::join_path(paths.share, core::join_path("data", file)); };
  AACO_ASSIGN(judges.book, analytics::bottleneck::RuleBook::load(data("rules/bottleneck.yaml")));
  AACO_ASSIGN(judges.confidences, analytics::confidence::Table::load(data("rules/confidence.yaml")));
  const auto signals = analytics::bottleneck::features_of(judges.book, analytics::signals::Signals()).names;
  AACO_ASSIGN(judges.bottleneck, load_model(data("bottleneck/classifier.json"), signals));
  AACO_ASSIGN(judges.cause, load_model(data("bottleneck/causes.json"), analytics::rootcause::feature_names(judges.book)));
  return judges;
}

void write_bottleneck(SessionDraft& draft, LoadedSession& loaded, const trace::Metrics& metrics, const core::Paths& paths) {
  const auto written = [&]() -> core::Status {
    AACO_ASSIGN(const Json document, bottleneck_document(loaded, draft.manifest(), metrics, paths));
    return document.is_null() ? core::Status() : draft.writer().write_json("metrics/bottleneck.json", document);
  }();
  if (!written) draft.warn("bottleneck.failed", "bottleneck not determined: " + written.error().message, written.error().remedy);
}

core::Result<Json> bottleneck_document(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                       const trace::Metrics& metrics, const core::Paths& paths) {
  AACO_ASSIGN(const Judges judges, load_judges(paths));
  if (const auto of_gpu = judge_gpu(loaded, manifest, metrics, judges.confidences, paths))
    return to_json(of_gpu->bottleneck, judges.book)
        .set_if("cause", of_gpu->cause)
        .set("recommendations", to_json(of_gpu->recommendations));
  AACO_ASSIGN(const Json of_host, judge_host(loaded.path(), manifest, paths));
  if (!of_host.is_null()) return of_host;
  AACO_ASSIGN(const auto facts, session_facts(loaded, manifest, metrics));
  const auto found = with_calls(classify(judges.book, judges.bottleneck ? &*judges.bottleneck : nullptr, facts->side.signals),
                                facts->iterations.size());
  if (found.class_id.empty()) return nothing_to_judge(manifest);
  const auto& side = facts->side;
  const bool unseen = found.class_id == kHost && !side.signals.get("host.around_ratio");
  if (found.class_id == analytics::bottleneck::kInconclusive)
    return with_stops(to_json(found, judges.book).set("recommendations", Json::array()), side.account);
  auto recommendations = recommend(found, judges.book, side.signals, side.nodes, *facts->names, processor_of(loaded.path()));
  if (const auto attributed = attributed_sleep(metrics)) follow_sleep(*attributed, recommendations);
  follow_stops(side.account, recommendations);
  follow_arithmetic_rate(side.signals, recommendations);
  core::Json document = with_arithmetic_rate(to_json(found, judges.book), side.signals);
  if (unseen) return with_stops(compute_of_the_call(std::move(document)), side.account);
  return with_stops(std::move(document.set("recommendations", to_json(recommendations))), side.account);
}

}  // namespace aaco::workflows
