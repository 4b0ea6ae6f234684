#include "workflows/gate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/injected_delay.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/llm_side.h"
#include "cli/options/on_fleet.h"
#include "cli/options/parse_problem.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/verdict_output.h"
#include "core/files.h"

namespace aaco::cli {
namespace {

struct GateOptions {
  workflows::GateRequest request;
  std::string sessions, on, delay, markdown, junit, bencher, github;
  std::vector<std::string> run;
  bool no_history = false, llm = false;
  VerdictOutput output;
};

core::Status resolve(GateOptions& options, const workflows::Services& services) {
  auto& request = options.request;
  request.sessions = list_of(options.sessions);
  request.use_history = !options.no_history;
  AACO_ASSIGN(request.delay, parse_delay(options.delay));
  if (!options.on.empty() && (request.sessions.empty() || request.retries > 0 || !options.run.empty()))
    return core::fail(core::ErrorCode::invalid_argument, "--on checks stored sessions and measures none",
                      "name the sessions with --session, and remove --retries and options after '--'");
  if (options.run.empty()) return {};
  if (options.llm || side_names_url(options.run)) {
    AACO_ASSIGN(request.llm, parse_llm_side(options.run, "after '--'"));
    return {};
  }
  CLI::App app("run", "run");
  app.set_help_flag();
  RunOptions run(app);
  try {
    app.parse(std::vector<std::string>(options.run.rbegin(), options.run.rend()));
  } catch (const CLI::ParseError& problem) {
    return core::fail(core::ErrorCode::invalid_argument, "after '--': " + parse_problem(problem),
                      "see 'aaco run --help' for the accepted options");
  }
  AACO_ASSIGN(const auto of_baseline, workflows::run_of_baseline(request.baseline, services));
  AACO_ASSIGN(request.run, run.resolve(of_baseline.value_or(workflows::RunRequest())));
  return {};
}

// "F.json" -> "F.bigger.json"
std::string beside(const std::string& path) {
  const auto dot = path.rfind(".json");
  return dot == std::string::npos ? path + ".bigger" : path.substr(0, dot) + ".bigger" + path.substr(dot);
}

core::Status write_files(const Context& context, const GateOptions& options, const governance::GateReport& report) {
  const auto write = [](const std::string& path, const std::string& text) {
    return path.empty() ? core::Status() : core::write_file_atomic(path, text);
  };
  AACO_TRY(write(options.markdown, gate_markdown(report)));
  AACO_TRY(write(options.junit, gate_junit(report)));
  AACO_TRY(write(options.bencher, gate_bencher(report).dump() + "\n"));
  if (options.github.empty()) return {};
  AACO_TRY(write(options.github, gate_github_benchmark(report, true).dump() + "\n"));
  const auto bigger = gate_github_benchmark(report, false);
  if (bigger.items().empty()) return {};
  AACO_TRY(write(beside(options.github), bigger.dump() + "\n"));
  context.note("metrics where higher is better (customBiggerIsBetter): " + beside(options.github));
  return {};
}

void judge(Context& context, GateOptions& options) {
  const auto services = make_services(context);
  if (const auto resolved = resolve(options, services); !resolved) return context.fail(resolved.error());
  const auto on_services =
      services_on(options.on, {.names = options.request.sessions, .history = options.request.use_history}, context);
  if (!on_services) return context.fail(on_services.error());
  const auto outcome = workflows::gate(options.request, *on_services);
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  context.exit_code = exit_code_for(outcome->verdict.verdict);
  if (const auto written = write_files(context, options, gate_report(*outcome)); !written) return context.fail(written.error());
  show_verdict(context, outcome->verdict, to_json(*outcome), options.output);
  if (options.output.json) return;
  for (const auto& session : outcome->measured) context.note("measured " + session);
}

}  // namespace

void add_gate(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "gate", "Check for regressions against a baseline, for CI: exit 0 (pass), 1 (regression) or 4 (inconclusive)");
  auto options = std::make_shared<GateOptions>();
  auto& request = options->request;
  verb->add_option("--baseline", request.baseline, "Baseline name (see 'aaco baseline ls') or file")->required();
  verb->add_option("--session", options->sessions,
                   "Sessions to check: ID,ID,... or tag:NAME (default: measure a new run with the baseline's options)");
  verb->add_option("--retries", request.retries, "Measure up to this many more sessions while the result is inconclusive")
      ->check(whole_number(0, 100))
      ->capture_default_str();
  verb->add_option("--inject-delay", options->delay,
                   "Slow each measured call down by 5% or 200us, to test whether the gate would detect it")
      ->type_name("RATIO|TIME");
  verb->add_option("--markdown", options->markdown, "Write a pull request comment")->type_name("FILE");
  verb->add_option("--junit", options->junit, "Write the result as JUnit XML")->type_name("FILE");
  verb->add_option("--bencher", options->bencher, "Write the metrics in Bencher Metric Format")->type_name("FILE");
  verb->add_option("--github-benchmark", options->github, "Write the metrics for github-action-benchmark (customSmallerIsBetter)")
      ->type_name("FILE");
  verb->add_flag("--require-approval", request.require_approval, "Accept only a baseline approved in its current state");
  verb->add_flag("--no-history", options->no_history, "Do not estimate run-to-run variation from stored sessions");
  verb->add_flag("--force", request.force, "Allow an expired baseline and sessions that are not comparable");
  add_on_fleet(*verb, options->on);
  add_verdict_output(*verb, options->output);
  verb->add_flag("--llm", options->llm, "The options after '--' are those of 'aaco llm' (implied by --url)");
  verb->add_option("run", options->run,
                   "After '--': 'aaco run' options for the measurement; those not given are the baseline's. With --url or --llm "
                   "those of 'aaco llm'");
  verb->positionals_at_end();
  verb->footer(
      "Examples:\n  aaco gate --baseline resnet50 --retries 3 --markdown comment.md --junit gate.xml\n  aaco gate --baseline "
      "resnet50 --session latest\n\nA metric that gets worse by more than its budget is a regression; otherwise the first metric "
      "decides.\nExit codes: 0 equivalent or improvement, 1 regression, 4 inconclusive, not comparable, or an expired baseline.");
  verb->callback([&context, options] { judge(context, *options); });
}

}  // namespace aaco::cli
