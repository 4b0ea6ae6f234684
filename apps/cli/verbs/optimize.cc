#include "workflows/optimize.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/run_options.h"
#include "core/environment.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

using core::ErrorCode;

struct OptimizeOptions {
  std::string budget = "10m", tolerance = "1e-3", slo, threshold = "1%";
  std::vector<std::string> fixed;
  workflows::OptimizeRequest request;
  std::string replay, advice;
  bool json = false, dry_run = false, no_store = false;
};

core::Result<analytics::agreement::Tolerance> parse_tolerance(const std::string& text) {
  using analytics::agreement::Tolerance;
  const bool top1 = text.starts_with("top1=");
  const auto value = core::parse_ratio(top1 ? text.substr(5) : text);
  if (!value || *value < 0 || *value > 1)
    return core::fail(
        ErrorCode::invalid_argument,
        "invalid value '" + text + "' for '--tolerance': expected an error such as 1e-3 (of the output RMS) or top1=99%");
  return Tolerance{top1 ? Tolerance::Kind::top1 : Tolerance::Kind::error, *value};
}

core::Result<core::Nanoseconds> parse_slo(const std::string& text) {
  const auto value = text.starts_with("p99=") ? core::parse_duration_ns(text.substr(4)) : std::nullopt;
  if (!value || *value <= 0)
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '--slo': expected p99=TIME such as p99=20ms");
  return core::Nanoseconds(*value);
}

core::Result<workflows::OptimizeRequest> resolve_search(const RunOptions& run, const OptimizeOptions& options) {
  workflows::OptimizeRequest request = options.request;
  if (options.replay.empty() && options.advice.empty()) {
    AACO_ASSIGN(request.base, run.resolve());
  } else if (!options.advice.empty() && (run.names_model() || !options.replay.empty() || options.dry_run)) {
    return core::fail(ErrorCode::invalid_argument, "--advice does not accept a model, --replay or --dry-run",
                      "the session has the model and its configuration");
  } else if (!options.advice.empty()) {
    // The session's own run is the baseline.
  } else if (run.names_model() || !request.folder.empty() || options.dry_run) {
    return core::fail(ErrorCode::invalid_argument, "--replay does not accept a model, --out or --dry-run",
                      "DIR has the model and both configurations");
  }
  request.tag = request.base.tag;
  request.base.tag.clear();
  AACO_ASSIGN(request.budget, parse_time(options.budget, "--budget"));
  AACO_ASSIGN(request.tolerance, parse_tolerance(options.tolerance));
  AACO_ASSIGN(request.threshold_ratio, parse_threshold(options.threshold, "--threshold"));
  if (!options.slo.empty()) {
    AACO_ASSIGN(request.slo_p99, parse_slo(options.slo));
  }
  for (const std::string& text : options.fixed) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return core::fail(ErrorCode::invalid_argument,
                        "invalid value '" + text + "' for '--fix': expected AXIS=VALUE such as threads=2");
    request.fixed[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (!options.replay.empty()) request.folder = options.replay;
  if (request.folder.empty() && !options.dry_run)
    return core::fail(ErrorCode::invalid_argument, "no output folder given", "for example: aaco optimize resnet50 -o best");
  request.store = !options.no_store;
  request.worker = {core::executable_path(), "ab-worker"};
  return request;
}

void print_space(const Context& context, const core::Json& document) {
  context.print(fmt::format("{} configurations, for {}\n\n{:<16} {:<34} {}\n", document["configurations"].as_i64().value_or(0),
                            document["for"].text(), "AXIS", "VALUES", "EXPLANATION"));
  for (const core::Json& axis : document["space"].items()) {
    std::vector<std::string> values;
    for (const core::Json& value : axis["values"].items()) values.emplace_back(value.text());
    const std::string_view absent = axis["absent"].text();
    context.print(fmt::format("{:<16} {:<34} {}\n", axis["axis"].text(), core::join(values, ", "),
                              absent.empty() ? std::string(axis["explain"].text()) : "not searched: " + std::string(absent)));
  }
}

// From 100 % on the figure says only that nothing could be told.
std::string detectable_text(const std::optional<double>& ratio) {
  if (!ratio) return "";
  return ", smallest detectable change " + (*ratio >= 1 ? "above 100 %: too much noise" : core::format_percent(*ratio));
}

void print_search(const Context& context, const workflows::OptimizeOutcome& outcome, const workflows::OptimizeRequest& request) {
  context.print(fmt::format("{}\n", outcome.summary));
  if (outcome.proof && outcome.proof->baseline) {
    const double baseline = *outcome.proof->baseline;
    context.print(fmt::format("  baseline {}; {} fresh process {}{}\n",
                              request.objective == "throughput" ? fmt::format("{:.4g} items/s", baseline)
                              : request.objective == "memory"   ? core::format_bytes(baseline)
                              : request.objective == "energy"   ? fmt::format("{:.4g} mJ per item", baseline * 1e3)
                                                                : core::format_duration(baseline),
                              outcome.proof->rounds, outcome.proof->rounds == 1 ? "round" : "rounds",
                              detectable_text(outcome.proof->smallest_detectable_ratio)));
  }
  for (const auto& part : outcome.parts)
    context.print(fmt::format("  without {}: {} {}\n", part.change, core::format_signed_percent(part.without_ratio),
                              request.objective == "memory"   ? "peak memory"
                              : request.objective == "energy" ? "energy per item"
                                                              : "time per item"));
  if (outcome.offered)
    context.print(fmt::format("  not used: {}, {} in the search: {}\n", outcome.offered->configuration,
                              core::format_signed_percent(outcome.offered->change_ratio), outcome.offered->reason));
  if (outcome.configurations == 0) return context.note("hint: " + outcome.recommendation);
  context.print(fmt::format("  {} of {} configurations tried in {}: {} failed, {} out of tolerance{}\n", outcome.tried,
                            outcome.configurations, core::format_duration(static_cast<double>(outcome.wall_ns)), outcome.failed,
                            outcome.out_of_tolerance,
                            outcome.resumed > 0 ? fmt::format(", {} from the earlier search", outcome.resumed) : ""));
  context.print(fmt::format("  {}\n", outcome.inputs));
  context.note("hint: " + outcome.recommendation);
  if (outcome.session) context.note("session  " + outcome.session->path);
}

void print_advice(const Context& context, const workflows::AdviceOutcome& outcome) {
  for (const auto& item : outcome.items) {
    context.print(fmt::format("{}: {}\n", item.id, item.title));
    if (item.predicted_high)
      context.print(fmt::format("  predicted: saves {} ({} to {})\n", core::format_percent(item.predicted_ratio.value_or(0)),
                                core::format_percent(item.predicted_low.value_or(0)),
                                core::format_percent(*item.predicted_high)));
    if (item.proof && item.proof->change_ratio)
      context.print(fmt::format(
          "  measured here: {} {}{}{}\n", item.proof->configuration, core::format_signed_percent(*item.proof->change_ratio),
          item.proof->interval ? fmt::format(" ({} to {})", core::format_signed_percent(item.proof->interval->low),
                                             core::format_signed_percent(item.proof->interval->high))
                               : std::string(),
          item.within_prediction ? (*item.within_prediction ? ", within the predicted range" : ", outside the predicted range")
                                 : ""));
    context.print(fmt::format("  {}{}\n", item.outcome, item.reason.empty() ? "" : ": " + item.reason));
    if (!item.folder.empty()) context.note("hint: use it: aaco run --config " + item.folder + "/best.yaml");
  }
}

void run_advice(Context& context, const workflows::OptimizeRequest& request, const OptimizeOptions& options) {
  const auto outcome = workflows::try_advice(request, options.advice, make_services(context));
  context.progress("");
  if (!outcome) return context.fail(outcome.error());
  context.exit_code = outcome->proven ? kFine : kInconclusive;
  options.json ? context.print_json(to_json(*outcome)) : print_advice(context, *outcome);
}

void run_search(Context& context, const RunOptions& run, const OptimizeOptions& options) {
  const auto request = resolve_search(run, options);
  if (!request) return context.fail(request.error());
  if (!options.advice.empty()) return run_advice(context, *request, options);
  if (options.dry_run) {
    const auto space = workflows::describe_space(*request, make_services(context));
    if (!space) return context.fail(space.error());
    return options.json ? context.print_json(*space) : print_space(context, *space);
  }
  const auto outcome = options.replay.empty() ? workflows::optimize(*request, make_services(context))
                                              : workflows::replay(*request, make_services(context));
  context.progress("");
  if (!outcome) return context.fail(outcome.error());
  context.exit_code = outcome->proven ? kFine : kInconclusive;
  if (options.json) return context.print_json(to_json(*outcome, *request));
  print_search(context, *outcome, *request);
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "optimize", "Search for a faster configuration of a model, prove the gain on fresh runs and write it down");
  auto options = std::make_shared<OptimizeOptions>();
  auto run = std::make_shared<RunOptions>(*verb);
  for (const char* other :
       {"--warmup", "--iterations", "--duration", "--precision", "--isolate", "--isolate-set", "--drop-disturbed", "--telemetry",
        "--ebpf", "--telemetry-period", "--profile", "--profile-domains", "--counters"})
    if (CLI::Option* found = verb->get_option_no_throw(other)) verb->remove_option(found);
  workflows::OptimizeRequest& request = options->request;
  verb->add_option("--budget", options->budget, "Time for the search and the proof")->type_name("TIME")->capture_default_str();
  verb->add_option("--for", request.objective, "What to improve: latency, throughput, memory or energy")
      ->type_name("OBJECTIVE")
      ->capture_default_str();
  verb->add_option("--slo", options->slo, "Keep only configurations with this P99 latency, e.g. p99=20ms")->type_name("p99=TIME");
  verb->add_option("--tolerance", options->tolerance,
                   "Largest output error relative to the output RMS, or the smallest share of equal top-1 classes (top1=99%)")
      ->capture_default_str();
  verb->add_flag("--accept", request.accept,
                 "Let a change of precision win although outputs were compared on generated inputs only");
  verb->add_option("--threshold", options->threshold, "Do not claim smaller gains")->capture_default_str();
  verb->add_option("--space", request.space_file, "YAML file with the axes to search (default: data/optimize/space.yaml)")
      ->type_name("FILE");
  verb->add_option("--fix", options->fixed, "Keep an axis at a value, AXIS=VALUE (repeatable)")
      ->type_name("AXIS=VALUE")
      ->allow_extra_args(false);
  verb->add_flag("--dry-run", options->dry_run, "Print the space and measure nothing");
  verb->add_option("--replay", options->replay, "Prove the result in DIR again, e.g. on another machine, within --budget")
      ->type_name("DIR");
  verb->add_option("--advice", options->advice,
                   "Try what the report of SESSION advises, item by item, and compare the gain with the predicted one")
      ->type_name("SESSION");
  verb->add_option("--root", request.system_root, "Where /sys is")->type_name("FOLDER")->group("");
  verb->add_flag("--no-store", options->no_store, "Do not store sessions");
  verb->add_option("-o,--out", request.folder, "Folder for the results; an interrupted search in it is resumed")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n"
      "  aaco optimize resnet50 --budget 5m -o best\n"
      "  aaco optimize net.onnx --for throughput --slo p99=20ms -o best\n"
      "  aaco optimize net.onnx --tolerance top1=99% --input image=cat.npy -o best\n"
      "  aaco optimize net.onnx --fix threads=2 --dry-run\n"
      "  aaco optimize --advice latest --budget 3m -o best\n"
      "  aaco optimize --replay best --budget 1m\n\n"
      "The baseline is the configuration given by the options (default: ONNX Runtime's own). A gain is claimed only if a\n"
      "comparison on fresh runs proves it; then the folder has best.yaml (for 'aaco run --config'), run.py and run.cc.\n"
      "Exit codes: 0 gain proven, 4 no proven gain.");
  verb->callback([&context, run, options] { run_search(context, *run, *options); });
}

}  // namespace aaco::cli
