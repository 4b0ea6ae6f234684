#include "workflows/gate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/verdict_output.h"
#include "core/files.h"

namespace aaco::cli {
namespace {

struct GateOptions {
  workflows::GateRequest request;
  std::string sessions, markdown, junit, bencher, github;
  std::vector<std::string> run;
  bool no_history = false, json = false;
};

core::Status resolve(GateOptions& options) {
  auto& request = options.request;
  request.sessions = list_of(options.sessions);
  request.use_history = !options.no_history;
  if (options.run.empty()) return {};
  CLI::App app("run", "run");
  app.set_help_flag();
  RunOptions run(app);
  try {
    app.parse(std::vector<std::string>(options.run.rbegin(), options.run.rend()));
  } catch (const CLI::ParseError& problem) {
    return core::fail(core::ErrorCode::invalid_argument, std::string("after '--': ") + problem.what(),
                      "'aaco run --help' lists what may stand there");
  }
  AACO_ASSIGN(request.run, run.resolve());
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
  context.note("metrics of which more is better (customBiggerIsBetter): " + beside(options.github));
  return {};
}

void judge(Context& context, GateOptions& options) {
  if (const auto resolved = resolve(options); !resolved) return context.fail(resolved.error());
  const auto outcome = workflows::gate(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  context.exit_code = exit_code_for(outcome->verdict.verdict);
  if (const auto written = write_files(context, options, gate_report(*outcome)); !written) return context.fail(written.error());
  if (options.json) return context.print_json(to_json(*outcome));
  print_verdict(context, outcome->verdict);
  for (const auto& session : outcome->measured) context.note("measured " + session);
}

}  // namespace

void add_gate(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "gate", "Judge a change by a baseline, for continuous integration: exit 0, 1 (regression) or 4 (undecided)");
  auto options = std::make_shared<GateOptions>();
  auto& request = options->request;
  verb->add_option("--baseline", request.baseline, "Name of a baseline ('aaco baseline ls'), or its file")->required();
  verb->add_option("--session", options->sessions,
                   "What is judged: sessions ID,ID,... or tag:NAME (default: a run is measured now, as the baseline's was)");
  verb->add_option("--retries", request.retries, "Measure so many more sessions while it is not decided")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  verb->add_option("--markdown", options->markdown, "Write a comment for a pull request")->type_name("FILE");
  verb->add_option("--junit", options->junit, "Write the result as JUnit")->type_name("FILE");
  verb->add_option("--bencher", options->bencher, "Write the metrics for Bencher (Bencher Metric Format)")->type_name("FILE");
  verb->add_option("--github-benchmark", options->github, "Write the metrics for github-action-benchmark (customSmallerIsBetter)")
      ->type_name("FILE");
  verb->add_flag("--require-approval", request.require_approval, "Judge only by a baseline that is approved as it is");
  verb->add_flag("--no-history", options->no_history, "Do not learn from the lake how much equal sessions differ");
  verb->add_flag("--force", request.force, "Judge even by an expired baseline, or of what is not comparable");
  verb->add_flag("--json", options->json, "Print the verdict as JSON");
  verb->add_option("run", options->run, "After '--': options of 'aaco run' for what is measured, in place of the baseline's own");
  verb->positionals_at_end();
  verb->footer(
      "Examples:\n  aaco gate --baseline resnet50 --retries 3 --markdown comment.md --junit gate.xml\n  aaco gate --baseline "
      "resnet50 --session latest\n"
      "Any metric of the baseline that loses more than its budget is a regression; otherwise its leading metric decides.\n"
      "Exit codes: 0 equivalent or improvement, 1 regression, 4 inconclusive, not comparable, or an expired baseline.");
  verb->callback([&context, options] { judge(context, *options); });
}

}  // namespace aaco::cli
