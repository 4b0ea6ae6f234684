#include "workflows/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectors/cpu_energy.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "graph/batch.h"
#include "graph/rewrite.h"
#include "hardware/usable_cpus.h"
#include "workflows/optimize/artifacts.h"
#include "workflows/optimize/as_advised.h"
#include "workflows/optimize/decompose.h"
#include "workflows/optimize/proof.h"
#include "workflows/optimize/search.h"
#include "workflows/optimize/winner.h"
#include "workflows/ort_build.h"
#include "workflows/run/run_plan.h"
#include "workflows/run_config.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

// A request with its space, checked against this machine and the model.
struct Prepared {
  OptimizeRequest request;
  RunPlan plan;
  Space space;
};

core::Status check_objective(const OptimizeRequest& request) {
  const std::string& objective = request.objective;
  if (objective == "latency" || objective == "throughput" || objective == "memory") return {};
  if (objective != "energy")
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + objective + "' for '--for': expected latency, throughput, memory or energy");
  if (auto meter = collectors::CpuEnergy::open({request.system_root}); !meter)
    return core::fail(
        meter.error().code, "--for energy requires a sensor of the CPU's energy: " + meter.error().message,
        meter.error().remedy.empty() ? "use --for latency, --for throughput or --for memory" : meter.error().remedy);
  return {};
}

core::Result<Prepared> prepare(const OptimizeRequest& asked, const Services& services) {
  AACO_TRY(check_objective(asked));
  Prepared made{asked, {}, {}};
  AACO_ASSIGN(made.plan, plan_run(asked.base, services));
  const auto usable = hardware::usable_cpus();
  SpaceContext context;
  context.objective = asked.objective;
  context.cpus = std::max(1, usable.pool_threads() > 0 ? usable.pool_threads() : static_cast<int>(usable.allowed.size()));
  context.batch_is_free = !graph::batch_symbol(made.plan.graph).empty();
  for (const auto& pass : graph::rewrite::passes())
    if (graph::rewrite::count_sites(made.plan.graph, pass.id) == 0) context.idle_rewrites.emplace(pass.id);
  context.absent_backends = absent_builds(asked.base.ort_library, services.environment, services.paths);
  const std::string path =
      asked.space_file.empty() ? core::join_path(services.paths.share, "data/optimize/space.yaml") : asked.space_file;
  AACO_ASSIGN(made.space, load_space(path, context));
  if (!asked.axes.empty()) keep_axes(made.space, asked.axes);
  for (const auto& [axis, value] : asked.fixed) AACO_TRY(fix_axis(made.space, axis, value, made.request.base));
  AACO_TRY(drop_unchanged(made.space, made.request.base));
  if (made.space.candidates().empty())
    return core::fail(ErrorCode::invalid_argument, "the space has no configuration besides the baseline",
                      "fix fewer axes, or add values to --space");
  return made;
}

Json space_json(const Space& space) {
  Json axes = Json::array();
  for (const Axis& axis : space.axes) {
    Json values = Json::array();
    for (const AxisValue& value : axis.values) values.push(value.id);
    axes.push(Json::object({{"axis", axis.id}, {"explain", axis.explain}, {"values", std::move(values)}})
                  .set_if("absent", axis.reason_absent.empty() ? Json() : Json(axis.reason_absent)));
  }
  return axes;
}

// What must be equal for a search to be resumed.
Json subject_of(const Prepared& made) {
  const OptimizeRequest& request = made.request;
  return Json::object(
      {{"model_hash", made.plan.model_hash},
       {"baseline", run_config_text(request.base)},
       {"for", request.objective},
       {"tolerance", request.tolerance.value},
       {"tolerance_kind", request.tolerance.kind == analytics::agreement::Tolerance::Kind::top1 ? "top1" : "error"},
       {"slo_p99_ns", request.slo_p99 ? Json(static_cast<long long>(request.slo_p99->count())) : Json()},
       {"check_inputs", request.check_inputs},
       {"space", space_json(made.space)}});
}

core::Status check_budget(const OptimizeRequest& request, const TrialBench& bench, std::int64_t spent_ns) {
  const std::int64_t need = spent_ns + least_time_ns(bench.start_ns(), bench.check_ns());
  if (request.budget.count() >= need) return {};
  return core::fail(
      ErrorCode::invalid_argument,
      fmt::format("--budget {} is too short: loading and warming up this model takes {}, and a search with its proof at least {}",
                  core::format_duration(static_cast<double>(request.budget.count())),
                  core::format_duration(static_cast<double>(bench.start_ns())), core::format_duration(static_cast<double>(need))),
      fmt::format("use --budget {:.0f}s or more", std::ceil(static_cast<double>(need) / 1e9)));
}

void count_trials(const std::vector<Trial>& trials, const Space& space, OptimizeOutcome& outcome) {
  const auto effect = [](const Trial& trial) { return analytics::configsearch::typical_effect({0, trial.log_effects}); };
  const Trial* best = nullptr;
  outcome.tried = trials.size();
  for (const Trial& trial : trials) {
    if (trial.outcome == "failed" || trial.outcome == "timed_out") ++outcome.failed;
    if (trial.outcome == "tolerance") ++outcome.out_of_tolerance;
    if (trial.outcome == "slo") ++outcome.out_of_slo;
    if (trial.outcome == "offered" && (best == nullptr || effect(trial) < effect(*best))) best = &trial;
    outcome.trials.push(to_json(trial));
  }
  if (best != nullptr && effect(*best) < 0)
    outcome.offered = OptimizeOffer{space.name(best->configuration), std::expm1(effect(*best)), best->reason, best->agreement};
}

Json baseline_json(const TrialProcess& baseline) {
  const Json& described = baseline.described();
  return Json::object({{"warm_median_ns", baseline.warm_median_ns()},
                       {"start_ns", baseline.start_ns()},
                       {"load_ns", baseline.load_ns()},
                       {"rss_peak_bytes", baseline.rss_peak_bytes()},
                       {"batch", baseline.batch()},
                       {"provider", described["provider"]},
                       {"runtime_version", described["runtime_version"]},
                       {"nodes_by_provider", described["runtime"]["nodes_by_provider"]}});
}

core::Status store_session(const Prepared& made, OptimizeOutcome& outcome, const Services& services) {
  if (!made.request.store) return {};
  Json asked = Json::object({{"model", made.request.base.model},
                             {"for", made.request.objective},
                             {"budget_ns", static_cast<long long>(made.request.budget.count())}});
  if (!made.request.advice_id.empty())
    asked.set("advice", Json::object({{"session", made.request.advice_session}, {"id", made.request.advice_id}})
                            .set("as_advised", !outcome.proof || is_as_advised(outcome.space, made.request.axes,
                                                                               outcome.proof->configuration)));
  AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("optimize", made.request.tag, std::move(asked), services));
  AACO_TRY(draft.writer().write_json("metrics/optimize.json", to_json(outcome, made.request)));
  draft.manifest().outcome.model = made.plan.model_name;
  draft.manifest().outcome.provider = outcome.baseline["provider"].text();
  draft.manifest().outcome.batch = outcome.baseline["batch"].as_i64();
  AACO_ASSIGN(outcome.session, draft.finish({}, outcome.interrupted));
  return {};
}

}  // namespace

core::Result<Json> describe_space(const OptimizeRequest& request, const Services& services) {
  AACO_ASSIGN(const Prepared made, prepare(request, services));
  return Json::object({{"schema_version", 1},
                       {"for", request.objective},
                       {"configurations", made.space.candidates().size() + 1},
                       {"space", space_json(made.space)}});
}

core::Result<OptimizeOutcome> optimize(const OptimizeRequest& asked, const Services& services) {
  const std::int64_t begin = core::monotonic_ns();
  AACO_ASSIGN(const Prepared made, prepare(asked, services));
  const OptimizeRequest& request = made.request;
  AACO_ASSIGN(Journal journal, Journal::open(request.folder, subject_of(made)));
  services.progress("loading the baseline");
  AACO_ASSIGN(TrialBench bench, TrialBench::open(request, made.space, made.plan.model_path, services));
  AACO_TRY(check_budget(request, bench, core::monotonic_ns() - begin));
  OptimizeOutcome outcome;
  outcome.space = space_json(made.space);
  outcome.configurations = made.space.candidates().size() + 1;
  outcome.resumed = journal.earlier().size();
  outcome.baseline = baseline_json(bench.baseline());
  outcome.inputs =
      request.base.inputs.empty()
          ? fmt::format("outputs compared on {} generated inputs; accuracy on real data is unknown", request.check_inputs)
          : fmt::format("outputs compared on the given input and {} generated ones", request.check_inputs);
  const std::int64_t now = core::monotonic_ns();
  const SearchTimes times =
      plan_times(now, std::max<std::int64_t>(begin + request.budget.count() - now, 0), bench.start_ns(), bench.check_ns());
  const Json described = bench.baseline().described();
  std::string winner_file;  // its rewritten model; empty: the model as it is
  AACO_ASSIGN(SearchResult found, search_space(request, made.space, bench, journal, times, services));
  mark_pareto(found.trials);
  outcome.untried = found.untried;
  count_trials(found.trials, made.space, outcome);
  if (found.winner && !services.stopping()) {
    const Trial& winner = found.trials[*found.winner];
    const std::int64_t left = std::max<std::int64_t>(times.end_ns - core::monotonic_ns(), 0);
    const std::string name = made.space.name(winner.configuration);
    services.progress("proving " + name + " on fresh runs");
    AACO_ASSIGN(const RunRequest applied, made.space.apply(winner.configuration, request.base));
    AACO_ASSIGN(const RunRequest candidate, bench.resolve(applied));
    winner_file = candidate.run_file;
    const bool several = analytics::configsearch::changes(winner.configuration) > 1;
    AACO_ASSIGN(outcome.proof,
                prove(request, candidate, name, core::Nanoseconds(several ? left / 4 * 3 : left), bench.warmup(), services));
    conclude(request, outcome);
    if (outcome.proven) {
      AACO_ASSIGN(outcome.parts, decompose(winner, bench, made.space, times.end_ns, services));
    }
  }
  outcome.interrupted = services.stopping();
  outcome.wall_ns = core::monotonic_ns() - begin;
  conclude(request, outcome);
  AACO_TRY(write_trials_table(found.trials, request.folder));
  outcome.files = {"journal.jsonl", "result.json"};
  if (!found.trials.empty()) outcome.files.emplace_back("trials.parquet");
  if (outcome.proven) {
    const Trial& winner = found.trials[*found.winner];
    AACO_ASSIGN(const RunRequest configuration, made.space.apply(winner.configuration, request.base));
    AACO_ASSIGN(const auto files, write_winner({request, made.plan, configuration, winner_file, described, winner.batch},
                                               outcome.summary, services));
    outcome.files.insert(outcome.files.end(), files.begin(), files.end());
  }
  if (!services.stopping()) (void)core::remove_tree(core::join_path(request.folder, "models"));
  if (!outcome.proven && !outcome.interrupted) AACO_TRY(set_aside(request.folder));
  AACO_TRY(core::write_file_atomic(core::join_path(request.folder, "result.json"), to_json(outcome, request).dump() + "\n"));
  AACO_TRY(store_session(made, outcome, services));
  return outcome;
}

}  // namespace aaco::workflows
