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
  context.print(fmt::format("{}{}: {} visits to {} cases of {} on {}, {} failed\n", outcome.run_id,
                            outcome.resumed ? " (went on)" : "", outcome.visits, outcome.cases, outcome.device, outcome.runtime,
                            outcome.failed));
  for (const std::string& failure : outcome.failures) context.print("  failed  " + failure + "\n");
  for (const auto& table : outcome.tables)
    context.print(fmt::format("  {:<28} {:>6} rows\n", core::base_name(table.path), table.rows));
  context.note("\nregistry  " + outcome.folder);
  if (outcome.spread)
    context.note(fmt::format("rounds    {:.1f} % apart in the median of {} cases, {:.0f} % at the ninth decile",
                             outcome.spread->median_ratio * 100, outcome.spread->cases, outcome.spread->p90_ratio * 100));
  for (const std::string& text : outcome.warnings) context.note("warning   " + text);
  if (!outcome.no_power.empty()) context.note("power     not measured: " + outcome.no_power);
  if (outcome.interrupted) return context.note("interrupted: the same command goes on from here");
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
  CLI::App* verb =
      app.add_subcommand("benchmark", "Measure this device: single operators and whole models, for 'aaco calibrate'");
  auto request = std::make_shared<workflows::BenchmarkRequest>();
  auto json = std::make_shared<bool>(false);
  verb->add_option(
          "--suite", request->suite,
          "micro (operators), workloads (models), all (both), llm (16-bit operators of decoders, for GPUs), or a suite of your "
          "own (FILE.yaml)")
      ->capture_default_str();
  verb->add_option("--hardware", request->hardware, "Device whose results these are; 'this' is this machine's processor")
      ->capture_default_str();
  verb->add_option(
          "-b,--backend", request->backend,
          "Backend of configs/backends.yaml; or pytorch (on the processor) and pytorch-gpu, single operators by a Python with "
          "PyTorch")
      ->capture_default_str();
  verb->add_option("--threads", request->threads, "Intra-op threads (default: the runtime's choice)")->check(positive_count());
  verb->add_option("--seed", request->seed, "Seed of the order, of weights and of inputs")
      ->check(seed_number())
      ->capture_default_str();
  verb->add_option("--ort-lib", request->ort_library, "ONNX Runtime library to use");
  verb->add_option("--python", request->python, "Python that has PyTorch (default: $AACO_PYTHON, then python3)");
  verb->add_flag_callback(
      "--no-power", [request] { request->power = false; },
      "Do not measure power (where a sensor can be read: 0.85 s more for each operator, once)");
  verb->add_flag("--fresh", request->fresh, "Begin anew, even where an unfinished run could go on");
  verb->add_flag("--list", request->list, "Only say what would be measured");
  verb->add_flag("--json", *json, "As JSON");
  verb->footer(
      "Cases are visited in shuffled rounds; a run that was stopped or killed goes on where it was when the same command is "
      "given again. Results lie in the benchmark registry (AACO_REGISTRY), with the machine, runtime and seed they came from; "
      "of each backend but cpu in a folder of their own.\n"
      "Examples:\n  aaco benchmark --suite micro\n"
      "  aaco benchmark --suite llm --backend pytorch-gpu --hardware mi300x --python ~/venv/bin/python");
  verb->callback([&context, request, json] {
    if (request->list) return list_cases(context, *request, *json);
    run(context, *request, *json);
  });
}

}  // namespace aaco::cli
