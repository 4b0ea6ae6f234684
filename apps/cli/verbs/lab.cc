#include "workflows/lab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/session_output.h"
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
  CLI::App run_app("The run to disturb", "aaco lab inject " + options.fault + " -- run");
  const RunOptions run_options(run_app);
  bool json = false, no_report = false;
  run_app.add_flag("--json", json, "Print one JSON object instead of the report");
  run_app.add_flag("--no-report", no_report, "Write no page");
  run_app.add_option("-o,--out", context.paths.sessions, "Root folder of the sessions");
  std::reverse(options.words.begin(), options.words.end());
  try {
    run_app.parse(options.words);
  } catch (const CLI::CallForHelp& asked) {
    run_app.exit(asked);
    return;
  } catch (const CLI::ParseError& problem) {
    return context.fail({core::ErrorCode::invalid_argument,
                         problem.what(),
                         "after '--' stand 'run' and its options: 'aaco run --help' lists them",
                         {}});
  }
  const auto run_request = run_options.resolve();
  if (!run_request) return context.fail(run_request.error());
  workflows::restart_for(run_request->isolation, make_services(context));
  workflows::InjectRequest request{options.fault, options.intensity, options.generator, *run_request};
  finish_session(context, workflows::inject(request, make_services(context)), json, no_report);
}

void add_inject(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("inject", "Run a model with a known fault at work: aaco lab inject FAULT -- run ...");
  auto options = std::make_shared<InjectOptions>();
  verb->add_option("fault", options->fault, "The fault; 'aaco lab faults' lists them")->required();
  verb->add_option("--intensity", options->intensity, "How strong, above 0 and at most 1")->capture_default_str();
  verb->add_option("--generator", options->generator, "How it is brought about (default: the fault's first way)");
  verb->add_option("run", options->words, "'run' and its options, after '--'");
  verb->footer(
      "The session says what was done to it (session.json, request.fault), and every report of it warns.\n"
      "Whatever a fault changes outside the run is undone, at the latest by the next 'aaco lab'.\n\n"
      "Examples:\n  aaco lab inject cpu_hog_same_core --intensity 0.8 -- run --model squeezenet --profile\n"
      "  aaco lab inject cpu_quota --intensity 0.5 -- run --model mlp --duration 2s");
  verb->callback([&context, options] { inject_fault(context, *options); });
}

void add_simulate(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("simulate", "Put a fault of the GPU on an imported trace: what it would look like");
  auto request = std::make_shared<workflows::SimulateRequest>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("fault", request->fault, "The fault; 'aaco lab faults' lists them")->required();
  verb->add_option("session", request->session, "Session of a GPU trace: id, path, latest or tag:NAME")->required();
  verb->add_option("--intensity", request->intensity, "How strong, above 0 and at most 1")->capture_default_str();
  verb->add_option("--tag", request->tag, "Name the new session");
  verb->add_flag("--json", *json, "Print one JSON object instead of the report");
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
      context.print(fmt::format("{:<24} {:<20} {}; 1 means: {}; by {}\n", kind.id, kind.cause, kind.title, kind.intensity,
                                core::join(kind.generators, ", ")));
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
      context.print(fmt::format("{:<24} {:<20} {}; 1 means: {}; on a trace\n", kind.id, kind.cause, kind.title, kind.intensity));
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
  CLI::App* verb = lab.add_subcommand("faults", "The faults there are, and the cause that each of them is");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "As JSON");
  verb->callback([&context, json] { list_faults(context, *json); });
}

void add_clean(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("clean", "Undo what injections that were killed left behind");
  verb->callback([&context] {
    const auto undone = workflows::clean_up_faults(make_services(context));
    if (!undone) return context.fail(undone.error());
    context.print(fmt::format("{} left-over changes undone\n", *undone));
  });
}

std::string score_text(const laboratory::scoring::Score& score) {
  if (score.count == 0) return "nothing that could be judged\n";
  const auto [low, high] = score.interval();
  return fmt::format("{} of {} right first ({}, 95 % interval {} to {}), {} among two, calibration error {:.3f}\n", score.first,
                     score.count, core::format_percent(score.accuracy()), core::format_percent(low), core::format_percent(high),
                     core::format_percent(score.within_two()), score.calibration_error);
}

void print_scores(const Context& context, std::string_view what, const workflows::LabJudgement& judgement) {
  if (judgement.in_use)
    context.print(
        fmt::format("{}, by the model in use (it may have learnt from these sessions): {}", what, score_text(*judgement.in_use)));
  if (judgement.in_use_unprofiled)
    context.print(fmt::format("{}, the same without a profiled pass: {}", what, score_text(*judgement.in_use_unprofiled)));
  for (const auto& [held, score] : judgement.scores) {
    context.print(fmt::format("{}, held out by {}: {}", what, held, score_text(score)));
    if (held == "model" && score.count > 0) context.print("\n" + confusion_table(score) + "\n");
  }
}

void print_traces(const Context& context, const workflows::LabTraceScore& traces) {
  if (traces.pairs == 0) return;
  context.print(
      fmt::format("simulated traces: {} pairs; {} equivalent (the trace hides the fault), {} undecided, {} called an "
                  "improvement, {} whose trace "
                  "is gone\n",
                  traces.pairs, traces.without_effect, traces.undecided, traces.wrong_direction, traces.without_original));
  if (traces.causes.count == 0) return;
  context.print(fmt::format("cause of the regressions: {} of {} right first ({}), {} among two\n\n{}\n", traces.causes.first,
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
      "{} sessions whose truth is known; {} disturbed by other programs too, {} disturbed without effect, {} so weakly "
      "that it is a cause but no bottleneck, {} without an undisturbed run beside them\n\n",
      examples.sessions, examples.disturbed_otherwise, examples.without_effect, examples.weak, examples.without_partner));
  print_scores(context, "bottleneck", report.bottlenecks);
  print_scores(context, "cause", report.causes);
  const auto configured = laboratory::scoring::score_of(examples.by_configuration);
  context.print(fmt::format("causes that are settings: {} of {} named first\n", configured.first, configured.count));
  std::int64_t within = 0;
  for (const double share : examples.unexplained) within += share <= 0.15 ? 1 : 0;
  context.print(fmt::format("decompositions with at most 15 % unexplained: {} of {}\n", within, examples.unexplained.size()));
}

void add_score(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("score", "Score the classifier and the search for causes against what was injected");
  auto json = std::make_shared<bool>(false);
  auto file = std::make_shared<std::string>();
  verb->add_flag("--json", *json, "As JSON");
  verb->add_option("--examples", *file, "Write each example with its features and predictions, one JSON object a line");
  verb->footer(
      "Takes every session of the lake (--sessions) that 'aaco lab inject' made, and undisturbed runs tagged class=CLASS. Whole "
      "models,\n"
      "intensities and generators are held out in turn: what is scored was never seen. Traces that 'aaco lab simulate' made are "
      "laid\n"
      "beside those they were made of, and the cause that 'aaco diff' names is scored.");
  verb->callback([&context, json, file] {
    const auto report = workflows::lab_score(make_services(context));
    if (!report) return context.fail(report.error());
    if (!file->empty())
      if (const auto written = core::write_file_atomic(*file, examples_text(*report)); !written)
        return context.fail(written.error());
    print_score(context, *report, *json);
  });
}

void add_train(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("train", "Learn from sessions whose truth is known, and keep the models with their record");
  auto json = std::make_shared<bool>(false);
  auto folder = std::make_shared<std::string>();
  verb->add_option("--out-folder", *folder, "Where classifier.json and causes.json go")->required();
  verb->add_flag("--json", *json, "As JSON");
  verb->callback([&context, json, folder] {
    const auto report = workflows::lab_train(*folder, make_services(context));
    if (!report) return context.fail(report.error());
    print_score(context, *report, *json);
  });
}

}  // namespace

void add_lab(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("lab", "Put known faults on a run, and score what finds causes against the truth");
  verb->require_subcommand(1);
  add_faults(*verb, context);
  add_inject(*verb, context);
  add_simulate(*verb, context);
  add_clean(*verb, context);
  add_score(*verb, context);
  add_train(*verb, context);
}

}  // namespace aaco::cli
