#include "workflows/lab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/parse_problem.h"
#include "cli/options/run_options.h"
#include "cli/output/session_output.h"
#include "cli/verbs/lab_corpus.h"
#include "cli/verbs/lab_fleet.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/isolation.h"
#include "workflows/lab_score.h"
#include "workflows/lab_simulate.h"

namespace aaco::cli {
namespace {

using core::Json;

struct InjectOptions {
  std::string fault, generator;
  double intensity = 0.5;
  std::vector<std::string> words;  // after "--"
};

void inject_fault(Context& context, InjectOptions& options) {
  if (!options.words.empty() && options.words.front() == "run") options.words.erase(options.words.begin());
  CLI::App run_app("Run to inject the fault into", "aaco lab inject " + options.fault + " -- run");
  const RunOptions run_options(run_app);
  bool json = false, no_report = false;
  run_app.add_flag("--json", json, "Print JSON instead of the report");
  run_app.add_flag("--no-report", no_report, "Do not write the HTML page");
  run_app.add_option("-o,--out", context.paths.sessions, "Root folder for sessions");
  std::reverse(options.words.begin(), options.words.end());
  try {
    run_app.parse(options.words);
  } catch (const CLI::CallForHelp& asked) {
    run_app.exit(asked);
    return;
  } catch (const CLI::ParseError& problem) {
    return context.fail({core::ErrorCode::invalid_argument,
                         parse_problem(problem),
                         "put 'run' and its options after '--'; see 'aaco run --help'",
                         {}});
  }
  const auto run_request = run_options.resolve();
  if (!run_request) return context.fail(run_request.error());
  workflows::restart_for(run_request->isolation, make_services(context));
  workflows::InjectRequest request{options.fault, options.intensity, options.generator, *run_request};
  finish_session(context, workflows::inject(request, make_services(context)), json, no_report);
}

void add_inject(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("inject", "Run a model with an injected fault: aaco lab inject FAULT -- run ...");
  auto options = std::make_shared<InjectOptions>();
  verb->add_option("fault", options->fault, "Fault name (see 'aaco lab faults')")->required();
  verb->add_option("--intensity", options->intensity, "Fault intensity, above 0 and at most 1")->capture_default_str();
  verb->add_option("--generator", options->generator, "How to produce the fault (default: the first generator listed)");
  verb->add_option("run", options->words, "'run' and its options, after '--'");
  verb->footer(
      "The fault is recorded in the session (request.fault in session.json), and every report on the session warns about it.\n"
      "Changes made outside the run are undone when it ends, or by the next 'aaco lab' command.\n\n"
      "Examples:\n  aaco lab inject cpu_hog_same_core --intensity 0.8 -- run --model squeezenet --profile\n  aaco lab inject "
      "cpu_quota --intensity 0.5 -- run --model mlp --duration 2s");
  verb->callback([&context, options] { inject_fault(context, *options); });
}

void add_simulate(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("simulate", "Simulate a GPU fault on an imported trace");
  auto request = std::make_shared<workflows::SimulateRequest>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("fault", request->fault, "Fault name (see 'aaco lab faults')")->required();
  verb->add_option("session", request->session, "Session with a GPU trace: id, path, latest or tag:NAME")->required();
  verb->add_option("--intensity", request->intensity, "Fault intensity, above 0 and at most 1")->capture_default_str();
  verb->add_option("--variant", request->variant, "Which of the fault's event names to record (faults of the host)")
      ->capture_default_str();
  verb->add_option("--tag", request->tag, "Tag for the new session");
  verb->add_flag("--json", *json, "Print JSON instead of the report");
  verb->footer(
      "Examples:\n  aaco import trace.json.gz --tag real\n  aaco lab simulate gpu_clock_cap tag:real --tag capped\n  aaco diff "
      "tag:real tag:capped");
  verb->callback(
      [&context, request, json] { finish_session(context, workflows::simulate(*request, make_services(context)), *json, true); });
}

void list_faults(const Context& context, bool json) {
  Json list = Json::array();
  for (const auto& kind : laboratory::faults::fault_kinds()) {
    if (!json) {
      context.print(fmt::format("{:<24} {:<20} {}; intensity 1: {}; generators: {}\n", kind.id, kind.cause, kind.title,
                                kind.intensity, core::join(kind.generators, ", ")));
      continue;
    }
    Json generators = Json::texts(kind.generators);
    list.push(Json::object({{"fault", kind.id},
                            {"cause", kind.cause},
                            {"title", kind.title},
                            {"intensity", kind.intensity},
                            {"generators", std::move(generators)}}));
  }
  for (const auto& kind : laboratory::trace_faults::trace_fault_kinds()) {
    if (!json) {
      context.print(fmt::format("{:<24} {:<20} {}; intensity 1: {}; simulated on a trace\n", kind.id, kind.cause, kind.title,
                                kind.intensity));
      continue;
    }
    list.push(Json::object({{"fault", kind.id},
                            {"cause", kind.cause},
                            {"title", kind.title},
                            {"intensity", kind.intensity},
                            {"generators", Json::array({"simulated"})}}));
  }
  if (json) context.print_json(Json::object({{"schema_version", 1}, {"faults", std::move(list)}}));
}

void add_faults(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("faults", "List the faults and the cause each one represents");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Print JSON");
  verb->callback([&context, json] { list_faults(context, *json); });
}

void add_clean(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("clean", "Undo changes left behind by killed injections");
  verb->callback([&context] {
    const auto undone = workflows::clean_up_faults(make_services(context));
    if (!undone) return context.fail(undone.error());
    context.print(fmt::format("{} leftover change{} undone\n", *undone, *undone == 1 ? "" : "s"));
  });
}

std::string score_text(const laboratory::scoring::Score& score) {
  if (score.count == 0) return "nothing to score\n";
  const auto [low, high] = score.interval();
  return fmt::format("{} of {} correct ({}, 95 % CI {} to {}), top two {}, calibration error {:.3f}\n", score.first, score.count,
                     core::format_percent(score.accuracy()), core::format_percent(low), core::format_percent(high),
                     core::format_percent(score.within_two()), score.calibration_error);
}

void print_scores(const Context& context, std::string_view what, const workflows::LabJudgement& judgement) {
  if (judgement.in_use)
    context.print(
        fmt::format("{}, model in use (may have been trained on these sessions): {}", what, score_text(*judgement.in_use)));
  if (judgement.in_use_unprofiled)
    context.print(fmt::format("{}, model in use without a profiled pass: {}", what, score_text(*judgement.in_use_unprofiled)));
  for (const auto& [held, score] : judgement.scores) {
    context.print(fmt::format("{}, held out by {}: {}", what, held, score_text(score)));
    if (held == "model" && score.count > 0) context.print("\n" + confusion_table(score) + "\n");
  }
}

void print_alone(const Context& context, const laboratory::corpus::Score& alone) {
  if (alone.all.cause.count == 0) return;
  const auto& calibration = alone.calibration;
  context.print(fmt::format(
      "verdicts on the simulated traces alone: class {} of {} first, cause {} of {}, {} claims that must not be made, {} above "
      "90 % "
      "and false; calibration error {:.3f} (95 % interval {:.3f} to {:.3f}) over {} claims\n",
      alone.all.first.right, alone.all.first.count, alone.all.cause.right, alone.all.cause.count, alone.all.violations,
      alone.all.sure_and_wrong, calibration.error_ratio, calibration.low, calibration.high, calibration.claims));
  for (const auto& [fault, tally] : alone.groups.at("origin"))
    context.print(fmt::format("  {:<24} class {} of {}, cause {} of {}\n", fault, tally.first.right, tally.first.count,
                              tally.cause.right, tally.cause.count));
}

void print_traces(const Context& context, const workflows::LabTraceScore& traces) {
  if (traces.pairs == 0) return;
  context.print(
      fmt::format("simulated traces: {} pairs; {} equivalent (fault not visible in the trace), {} inconclusive, {} judged an "
                  "improvement, {} with a missing trace\n",
                  traces.pairs, traces.without_effect, traces.undecided, traces.wrong_direction, traces.without_original));
  print_alone(context, traces.alone);
  if (traces.causes.count == 0) return;
  context.print(fmt::format("cause of the regressions: {} of {} correct ({}), top two {}\n\n{}\n", traces.causes.first,
                            traces.causes.count, core::format_percent(traces.causes.accuracy()),
                            core::format_percent(traces.causes.within_two()), confusion_table(traces.causes)));
}

void print_score(const Context& context, const workflows::LabReport& report, bool json) {
  context.progress("");
  if (json) return context.print_json(to_json(report));
  print_traces(context, report.traces);
  const auto& examples = report.examples;
  if (examples.sessions == 0) return;
  context.print(fmt::format(
      "{} labelled sessions; excluded: {} also disturbed by other programs, {} where the fault had no effect, {} with an effect "
      "too weak to be the bottleneck (cause only), {} without a matching undisturbed run\n\n",
      examples.sessions, examples.disturbed_otherwise, examples.without_effect, examples.weak, examples.without_partner));
  print_scores(context, "bottleneck", report.bottlenecks);
  print_scores(context, "cause", report.causes);
  const auto configured = laboratory::scoring::score_of(examples.by_configuration);
  context.print(fmt::format("configuration causes: {} of {} ranked first\n", configured.first, configured.count));
  std::int64_t within = 0;
  for (const double share : examples.unexplained) within += share <= 0.15 ? 1 : 0;
  context.print(fmt::format("decompositions with at most 15 % unexplained: {} of {}\n", within, examples.unexplained.size()));
}

void score_simulated(Context& context, bool json) {
  const auto score = workflows::score_simulated_traces(make_services(context), false);
  if (!score) return context.fail(score.error());
  context.progress("");
  if (json) return context.print_json(workflows::cases_json(*score));
  print_alone(context, score->alone);
}

void add_score(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("score", "Score the bottleneck classifier and the cause analysis against injected faults");
  auto json = std::make_shared<bool>(false);
  auto file = std::make_shared<std::string>();
  verb->add_flag("--json", *json, "Print JSON");
  auto alone = std::make_shared<bool>(false);
  verb->add_flag("--simulated", *alone, "Judge simulated traces only, each by itself; --json lists every case");
  verb->add_option("--examples", *file, "Write each example with features and predictions, one JSON object per line");
  auto corpus = std::make_shared<CorpusOptions>();
  CLI::Option* cases =
      verb->add_option("--corpus", corpus->folder, "Score the verdicts on real traces against this folder of known answers")
          ->expected(0, 1)
          ->default_str("tests/corpus");
  verb->add_option("--data", corpus->data, "Root folder of the corpus's traces (default: AACO_REAL_DATA, ../shared/data)")
      ->needs(cases);
  verb->add_flag("--show-held", corpus->show_held, "List held-out cases by name too (final checks only)")->needs(cases);
  verb->footer(
      "Uses all stored sessions (--sessions) created by 'aaco lab inject', and undisturbed runs tagged class=CLASS. "
      "Cross-validation\n"
      "holds out whole models, intensities and generators. Traces created by 'aaco lab simulate' are compared with their "
      "originals,\n"
      "and the cause that 'aaco diff' reports is scored.");
  verb->callback([&context, json, file, corpus, cases, alone] {
    if (*alone) return score_simulated(context, *json);
    if (cases->count() > 0) {
      if (corpus->folder.empty()) corpus->folder = "tests/corpus";
      return score_against_corpus(context, *corpus, *json);
    }
    const auto report = workflows::lab_score(make_services(context));
    if (!report) return context.fail(report.error());
    if (!file->empty())
      if (const auto written = core::write_file_atomic(*file, examples_text(*report)); !written)
        return context.fail(written.error());
    print_score(context, *report, *json);
  });
}

void add_train(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("train", "Train the models on labelled sessions and store them with their scores");
  auto json = std::make_shared<bool>(false);
  auto folder = std::make_shared<std::string>();
  verb->add_option("--out-folder", *folder, "Output folder for classifier.json and causes.json")->required();
  verb->add_flag("--json", *json, "Print JSON");
  verb->callback([&context, json, folder] {
    const auto report = workflows::lab_train(*folder, make_services(context));
    if (!report) return context.fail(report.error());
    print_score(context, *report, *json);
  });
}

}  // namespace

void add_lab(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("lab", "Inject known faults into a run, and score the diagnosis against them");
  verb->require_subcommand(1);
  add_faults(*verb, context);
  add_inject(*verb, context);
  add_simulate(*verb, context);
  add_clean(*verb, context);
  add_score(*verb, context);
  add_train(*verb, context);
  add_lab_fleet(*verb, context);
}

}  // namespace aaco::cli
