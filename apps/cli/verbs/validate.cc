#include "workflows/validate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/verdict_output.h"
#include "cli/stop_at_once.h"
#include "workflows/measurement_files.h"

namespace aaco::cli {
namespace {

struct ValidateOptions {
  std::string hardware, level, split, calibration_from, residuals;
  std::vector<std::string> measurements;
  std::optional<int> folds;
  std::uint64_t seed = 1;
  bool json = false;
};

core::Result<workflows::ValidateRequest> resolve(const ValidateOptions& options) {
  workflows::ValidateRequest request;
  request.hardware = options.hardware;
  request.measurements = options.measurements;
  if (!options.level.empty()) {
    request.level = estimation::level_from_string(options.level);
    if (!request.level)
      return core::fail(core::ErrorCode::invalid_argument, "--level is '" + options.level + "'",
                        "calibrated, interpolated or theoretical");
  }
  if (options.split == "site") request.split = workflows::Split::site;
  if (options.split == "model") request.split = workflows::Split::model;
  if (options.split == "device") request.split = workflows::Split::device;
  request.folds = options.folds;
  request.seed = options.seed;
  request.calibration_from = list_of(options.calibration_from);
  request.residuals = options.residuals;
  return request;
}

std::string percent(const std::optional<estimation::Score>& score) {
  if (!score) return "-";
  if (!score->ci95) return fmt::format("{:.1f} %", score->value * 100);
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", score->value * 100, score->ci95->low * 100, score->ci95->high * 100);
}

std::string table(const workflows::Judgement& judged) {
  std::size_t width = 28;
  for (const auto& [name, scores] : judged.classes) width = std::max(width, name.size());
  const auto line = [width](const std::string& name, const estimation::Scores& s) {
    return fmt::format("  {:<{}} {:>7} {:>6}  {:<22} {:<22} {:<22} {:<22} {}\n", name, width, s.count, s.sites,
                       percent(s.mean_ape), percent(s.median_ape), percent(s.p90_ape), percent(s.bias), percent(s.coverage90));
  };
  std::string text = fmt::format("  {:<{}} {:>7} {:>6}  {:<22} {:<22} {:<22} {:<22} {}\n", "", width, "count", "sites",
                                 "mean error", "median", "p90", "bias", "inside the 90 % bound");
  text += line("all", judged.all);
  if (judged.classes.size() > 1)
    for (const auto& [name, scores] : judged.classes) text += line(name, scores);
  return text;
}

std::string render(const workflows::ValidateOutcome& outcome) {
  std::string text = fmt::format("{} estimates of {}\n", to_string(outcome.level), outcome.device);
  text += table(outcome.latency);
  if (outcome.latency.all.without_estimate > 0)
    text += fmt::format("  without an estimate: {}\n", outcome.latency.all.without_estimate);
  if (outcome.with_rejected)
    text +=
        fmt::format("with the {} faster than possible\n", workflows::rows_text(outcome.rejected)) + table(*outcome.with_rejected);
  if (outcome.memory) text += "peak memory\n" + table(*outcome.memory);
  if (outcome.energy) text += "energy, the time given\n" + table(*outcome.energy);
  if (outcome.predicted_energy) text += "energy, the time predicted\n" + table(*outcome.predicted_energy);
  for (const auto& [name, judged] : outcome.baselines)
    text += fmt::format("beside it, {}: mean {}, median {}, p90 {}\n", name, percent(judged.all.mean_ape),
                        percent(judged.all.median_ape), percent(judged.all.p90_ape));
  for (const std::string& note : outcome.notes) text += "note: " + note + "\n";
  return text + "(in brackets: 95 % of a bootstrap over sites)\n";
}

void run_validate(Context& context, const ValidateOptions& options) {
  const auto request = resolve(options);
  if (!request) return context.fail(request.error());
  stop_at_once();
  const auto outcome = workflows::validate(*request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (options.json) return context.print_json(to_json(*outcome));
  context.print(render(*outcome));
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("validate", "How far estimates are from measurements, and whether their bounds hold");
  auto options = std::make_shared<ValidateOptions>();
  verb->add_option("--hardware", options->hardware, "Device: an id or alias of 'aaco hardware ls'")->required()->type_name("ID");
  verb->add_option("--measurements", options->measurements, "Tables of measured kernels or models: CSV, also gzip or zstd")
      ->required()
      ->type_name("FILE");
  verb->add_option("--level", options->level, "Estimates to judge: calibrated, interpolated (from other devices), theoretical");
  verb->add_option("--split", options->split,
                   "Fit here, and judge on what the fit has not seen: whole sites (of kernels), models or devices")
      ->check(CLI::IsMember({"site", "model", "device"}));
  verb->add_option(
          "--folds", options->folds,
          "Parts that the sites or models are cut into; each is held out once (without it: 5 of sites, each model by itself)")
      ->check(whole_number(2, kMostCount));
  verb->add_option("--seed", options->seed, "Of the cut and of the bootstrap")->check(seed_number())->capture_default_str();
  verb->add_option("--calibration-from", options->calibration_from, "Devices that interpolated estimates may borrow from")
      ->type_name("ID,...");
  verb->add_option("--residuals", options->residuals, "Write every measured row with its estimate to this CSV file")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Print the figures as JSON");
  verb->footer(
      "Examples:\n  aaco validate --hardware h100 --measurements gemm.csv.gz --split site --folds 5\n"
      "  aaco validate --hardware h200 --measurements gemm.csv.gz --split device --calibration-from a100,h100\n"
      "A site is a product's (n, k), a convolution's filter, an attention's heads, a vector operator's row length: whole sites "
      "are\n"
      "held out, because rows of one site resemble each other. Without --split the calibrations of the registry are judged.\n"
      "Rows that are faster than the device's peak allows are no measurements: they are counted, named and judged apart.");
  verb->callback([&context, options] { run_validate(context, *options); });
}

}  // namespace aaco::cli
