#include "workflows/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "graph/batch.h"
#include "hardware/usable_cpus.h"
#include "workflows/optimize/artifacts.h"
#include "workflows/optimize/decompose.h"
#include "workflows/optimize/proof.h"
#include "workflows/optimize/search.h"
#include "workflows/run/run_plan.h"
#include "workflows/run_config.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

// Starts of a model's process that a search needs at least: the baseline, a few trials, the check of outputs, the proof.
constexpr std::int64_t kMinStarts = 12;
constexpr std::int64_t kMaxCopiedBytes = std::int64_t{2} << 30;

// A request with its space, checked against this machine and the model.
struct Prepared {
  OptimizeRequest request;
  RunPlan plan;
  Space space;
};

core::Status check_objective(const std::string& objective) {
  if (objective == "latency" || objective == "throughput") return {};
  if (objective == "energy")
    return core::fail(ErrorCode::unsupported,
                      "--for energy requires a sensor that measures the energy of a trial; none is available",
                      "use --for latency or --for throughput");
  return core::fail(ErrorCode::invalid_argument,
                    "invalid value '" + objective + "' for '--for': expected latency, throughput or energy");
}

core::Result<Prepared> prepare(const OptimizeRequest& asked, const Services& services) {
  AACO_TRY(check_objective(asked.objective));
  Prepared made{asked, {}, {}};
  AACO_ASSIGN(made.plan, plan_run(asked.base, services));
  const auto usable = hardware::usable_cpus();
  SpaceContext context;
  context.objective = asked.objective;
  context.cpus = std::max(1, usable.pool_threads() > 0 ? usable.pool_threads() : static_cast<int>(usable.allowed.size()));
  context.batch_is_free = !graph::batch_symbol(made.plan.graph).empty();
  const std::string path =
      asked.space_file.empty() ? core::join_path(services.paths.share, "data/optimize/space.yaml") : asked.space_file;
  AACO_ASSIGN(made.space, load_space(path, context));
  for (const auto& [axis, value] : asked.fixed) AACO_TRY(fix_axis(made.space, axis, value, made.request.base));
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

core::Status check_budget(const OptimizeRequest& request, std::int64_t start_ns) {
  const std::int64_t need = kMinStarts * start_ns;
  if (request.budget.count() >= need) return {};
  return core::fail(
      ErrorCode::invalid_argument,
      fmt::format(
          "--budget {} is too short: loading and warming up this model takes {}, and a search with its proof needs at least {} "
          "of these",
          core::format_duration(static_cast<double>(request.budget.count())),
          core::format_duration(static_cast<double>(start_ns)), kMinStarts),
      fmt::format("use --budget {:.0f}s or more", std::ceil(static_cast<double>(need) / 1e9)));
}

void count_trials(const std::vector<Trial>& trials, OptimizeOutcome& outcome) {
  outcome.tried = trials.size();
  for (const Trial& trial : trials) {
    if (trial.outcome == "failed" || trial.outcome == "timed_out") ++outcome.failed;
    if (trial.outcome == "tolerance") ++outcome.out_of_tolerance;
    outcome.trials.push(to_json(trial));
  }
}

// The winner's files: best.yaml, run.py, run.cc and the model, if it is one file of a reasonable size.
core::Status write_winner(const Prepared& made, const Trial& winner, const Json& described, const Services& services,
                          OptimizeOutcome& outcome) {
  AACO_ASSIGN(const std::string python, core::read_file(core::join_path(services.paths.share, "data/optimize/run.py.in")));
  AACO_ASSIGN(const std::string cpp, core::read_file(core::join_path(services.paths.share, "data/optimize/run.cc.in")));
  const std::string& folder = made.request.folder;
  AACO_ASSIGN(RunRequest configuration, made.space.apply(winner.configuration, made.request.base));
  Deployment deployment{configuration, made.plan.model_path, std::string(described["provider"].text()), described["inputs"], {}};
  const bool external = core::exists(made.plan.model_path + ".data") || core::exists(made.plan.model_path + "_data");
  if (!external && made.plan.model_bytes <= kMaxCopiedBytes) {
    std::error_code error;
    std::filesystem::copy_file(made.plan.model_path, core::join_path(folder, "model.onnx"),
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return core::fail(ErrorCode::io, core::join_path(folder, "model.onnx") + ": " + error.message());
    deployment.model_path = "model.onnx";
    outcome.files.emplace_back("model.onnx");
  }
  const auto pinning = configuration.session_options.find("pinning");
  if (pinning != configuration.session_options.end() && pinning->second == "on" && configuration.threads) {
    const auto cpus = hardware::usable_cpus().allowed;
    const auto threads = static_cast<std::size_t>(*configuration.threads);
    for (std::size_t i = 1; i < std::min(threads, cpus.size()); ++i)
      deployment.affinities += (i == 1 ? "" : ";") + std::to_string(cpus[i] + 1);
  }
  RunRequest baseline = made.request.base;
  baseline.model = deployment.model_path;
  const std::int64_t old_batch = described["batch"].as_i64().value_or(1);
  configuration.model = deployment.model_path;
  Json inputs = Json::array();
  for (const Json& input : described["inputs"].items()) {
    std::vector<std::int64_t> shape;
    for (const Json& size : input["shape"].items()) shape.push_back(size.as_i64().value_or(1));
    if (!baseline.inputs.contains(std::string(input["name"].text()))) baseline.shapes[std::string(input["name"].text())] = shape;
    if (winner.batch != old_batch && !shape.empty() && shape.front() == old_batch) shape.front() = winner.batch;
    Json sizes = Json::array();
    for (const std::int64_t size : shape) sizes.push(size);
    inputs.push(Json(input).set("shape", std::move(sizes)));
    if (!configuration.inputs.contains(std::string(input["name"].text())))
      configuration.shapes[std::string(input["name"].text())] = shape;
  }
  deployment.inputs = std::move(inputs);
  const std::string head = "# Written by 'aaco optimize'. Use: aaco run --config best.yaml\n# " + outcome.summary + "\n";
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "best.yaml"), head + run_config_text(configuration)));
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "baseline.yaml"),
                                   "# What best.yaml is compared with.\n" + run_config_text(baseline)));
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "run.py"), python_program(deployment, python)));
  AACO_TRY(core::write_file_atomic(core::join_path(folder, "run.cc"), cpp_program(deployment, cpp)));
  outcome.files.insert(outcome.files.end(), {"best.yaml", "baseline.yaml", "run.py", "run.cc"});
  return {};
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
  AACO_ASSIGN(TrialBench bench, TrialBench::open(request, made.space, services, request.folder));
  AACO_TRY(check_budget(request, bench.start_ns()));
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
  const SearchTimes times = plan_times(now, std::max<std::int64_t>(begin + request.budget.count() - now, 0), bench.start_ns());
  const Json described = bench.baseline().described();
  AACO_ASSIGN(SearchResult found, search_space(request, made.space, bench, journal, times, services));
  mark_pareto(found.trials);
  outcome.untried = found.untried;
  count_trials(found.trials, outcome);
  if (found.winner && !services.stopping()) {
    const Trial& winner = found.trials[*found.winner];
    const std::int64_t left = std::max<std::int64_t>(times.end_ns - core::monotonic_ns(), 0);
    const std::string name = made.space.name(winner.configuration);
    services.progress("proving " + name + " on fresh runs");
    AACO_ASSIGN(const RunRequest candidate, made.space.apply(winner.configuration, request.base));
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
  if (outcome.proven) AACO_TRY(write_winner(made, found.trials[*found.winner], described, services, outcome));
  AACO_TRY(core::write_file_atomic(core::join_path(request.folder, "result.json"), to_json(outcome, request).dump() + "\n"));
  AACO_TRY(store_session(made, outcome, services));
  return outcome;
}

}  // namespace aaco::workflows
