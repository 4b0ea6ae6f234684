#include "workflows/benchmark.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "core/files.h"

namespace aaco::cli {
namespace {

void list_cases(Context& context, const workflows::BenchmarkRequest& request, bool json) {
  const auto suites = workflows::list_benchmarks(request, make_services(context));
  if (!suites) return context.fail(suites.error());
  core::Json out = core::Json::array();
  for (const auto& suite : *suites) {
    core::Json cases = core::Json::array();
    for (const auto& one : suite.cases) {
      cases.push(one.id);
      if (!json) context.print(suite.name + ": " + one.id + "\n");
    }
    out.push(core::Json::object({{"suite", suite.name}, {"rounds", suite.rounds}, {"cases", std::move(cases)}}));
  }
  if (json) context.print_json(core::Json::object({{"schema_version", 1}, {"suites", std::move(out)}}));
}

void print_outcome(const Context& context, const workflows::BenchmarkOutcome& outcome, const std::string& backend) {
  context.print(fmt::format("{}{}: {} measurements of {} cases, {} with {}, {} failed\n", outcome.run_id,
                            outcome.resumed ? " (resumed)" : "", outcome.visits, outcome.cases, outcome.device, outcome.runtime,
                            outcome.failed));
  for (const std::string& failure : outcome.failures) context.print("  failed  " + failure + "\n");
  for (const std::string& one : outcome.not_applicable) context.print("  not applicable  " + one + "\n");
  for (const auto& table : outcome.tables)
    context.print(fmt::format("  {:<28} {:>6} rows\n", core::base_name(table.path), table.rows));
  context.note("\nregistry  " + outcome.folder);
  if (outcome.spread)
    context.note(fmt::format("rounds    spread {:.1f} % (median of {} cases), {:.0f} % (p90)", outcome.spread->median_ratio * 100,
                             outcome.spread->cases, outcome.spread->p90_ratio * 100));
  for (const std::string& text : outcome.warnings) context.note("warning   " + text);
  for (const std::string& text : outcome.absent) context.note("absent    " + text);
  if (!outcome.no_power.empty()) context.note("power     not measured: " + outcome.no_power);
  if (outcome.interrupted) return context.note("interrupted: run the same command again to resume");
  context.note("next      aaco calibrate --hardware " + outcome.device +
               (backend == workflows::kDefaultBackend ? "" : " --backend " + backend));
}

void run(Context& context, const workflows::BenchmarkRequest& request, bool json) {
  const auto outcome = workflows::benchmark(request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (outcome->interrupted || (outcome->failed > 0 && outcome->failed == outcome->visits)) context.exit_code = kEnvironment;
  if (json) return context.print_json(workflows::to_json(*outcome));
  print_outcome(context, *outcome, request.backend);
}

}  // namespace

void add_benchmark(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("benchmark", "Measure this device for 'aaco calibrate': single operators and whole models");
  auto request = std::make_shared<workflows::BenchmarkRequest>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("--suite", request->suite,
                   "micro (operators), workloads (models), all (both), llm (16-bit decoder operators, for GPUs), gpu (copies, "
                   "bandwidth, launches and products in every type, for cuda and hip), or a custom suite (FILE.yaml)")
      ->capture_default_str();
  verb->add_option("--hardware", request->hardware, "Device to attribute the results to; 'this' is this machine's CPU")
      ->capture_default_str();
  verb->add_option(
          "-b,--backend", request->backend,
          "Backend from configs/backends.yaml; pytorch (CPU) or pytorch-gpu, which run single operators in PyTorch; cuda or "
          "hip, which run them on a GPU without a framework (ort-cuda is ONNX Runtime's backend cuda)")
      ->capture_default_str();
  verb->add_option("--gpu", request->gpu, "GPU that cuda and hip measure, as the runtime numbers them")
      ->check(CLI::Range(0, 1023))
      ->capture_default_str();
  verb->add_option("--threads", request->threads, "Intra-op threads (default: the runtime's choice)")->check(positive_count());
  verb->add_option("--seed", request->seed, "Seed for order, weights and inputs")->check(seed_number())->capture_default_str();
  verb->add_option("--ort-lib", request->ort_library, "ONNX Runtime library to use");
  verb->add_option("--python", request->python, "Python interpreter with PyTorch (default: $AACO_PYTHON, then python3)");
  verb->add_flag_callback(
      "--no-power", [request] { request->power = false; }, "Do not measure power (which takes 0.85 s once per operator)");
  verb->add_flag("--fresh", request->fresh, "Start from scratch instead of resuming an unfinished run");
  verb->add_flag("--list", request->list, "List the cases without measuring");
  verb->add_flag("--json", *json, "Print JSON");
  verb->footer(
      "Cases are measured in shuffled rounds. If a run is stopped or killed, the same command resumes it. Results are stored in "
      "the\n"
      "benchmark registry ($AACO_REGISTRY) together with machine, runtime and seed, in a separate folder per backend.\n\n"
      "Examples:\n"
      "  aaco benchmark --suite micro\n"
      "  aaco benchmark --suite gpu --backend cuda\n"
      "  aaco benchmark --suite llm --backend pytorch-gpu --hardware mi300x --python ~/venv/bin/python");
  verb->callback([&context, request, json] {
    request->gpu_worker = {core::executable_path(), "gpu-worker"};
    if (request->list) return list_cases(context, *request, *json);
    run(context, *request, *json);
  });
}

}  // namespace aaco::cli
