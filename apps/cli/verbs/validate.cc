#include "workflows/validate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/stop_at_once.h"
#include "workflows/measurement_files.h"

namespace aaco::cli {
namespace {

struct ValidateOptions {
  std::string hardware, level, split, calibration_from, residuals;
  std::vector<std::string> measurements;
  std::optional<int> folds;
  std::uint64_t seed = 1;
  bool compact = false, json = false;
};

core::Result<workflows::ValidateRequest> resolve(const ValidateOptions& options) {
  workflows::ValidateRequest request;
  request.hardware = options.hardware;
  request.measurements = options.measurements;
  if (!options.level.empty()) {
    request.level = estimation::level_from_string(options.level);
    if (!request.level)
      return core::fail(core::ErrorCode::invalid_argument,
                        "invalid value '" + options.level + "' for '--level': expected calibrated, interpolated or theoretical");
  }
  if (options.split == "site") request.split = workflows::Split::site;
  if (options.split == "model") request.split = workflows::Split::model;
  if (options.split == "device") request.split = workflows::Split::device;
  request.folds = options.folds;
  request.seed = options.seed;
  request.calibration_from = list_of(options.calibration_from);
  request.residuals = options.residuals;
  request.compact = options.compact;
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
    return fmt::format("  {:<{}} {:>7} {:>6}  {:<22} {:<22} {:<22} {:<22} {:<24} {}\n", name, width, s.count, s.sites,
                       percent(s.mean_ape), percent(s.median_ape), percent(s.p90_ape), percent(s.bias), percent(s.coverage90),
                       s.sharpness ? fmt::format("{:.2f}", s.sharpness->value) : "-");
  };
  std::string text = fmt::format("  {:<{}} {:>7} {:>6}  {:<22} {:<22} {:<22} {:<22} {:<24} {}\n", "", width, "count", "sites",
                                 "mean error", "median", "p90", "bias", "within the 90 % bounds", "upper/lower");
  text += line("all", judged.all);
  if (judged.classes.size() > 1)
    for (const auto& [name, scores] : judged.classes) text += line(name, scores);
  return text;
}

// Where a fit is of measurements of others, the bounds that hold for who measures as they did are narrower.
std::string same_laboratory(const estimation::Scores& scores) {
  if (!scores.same_sharpness || scores.same_sharpness->value == scores.sharpness->value) return {};
  return fmt::format("  bounds for the same laboratory: {} within, upper/lower {:.2f}\n", percent(scores.same_coverage90),
                     scores.same_sharpness->value);
}

// The levels that the estimates had, which may be others than the one requested: "CALIBRATED (27) and INTERPOLATED (4)".
std::string levels_of(const workflows::ValidateOutcome& outcome) {
  if (outcome.levels.empty()) return std::string(to_string(outcome.level));
  if (outcome.levels.size() == 1) return outcome.levels.begin()->first;
  std::string text;
  for (const auto& [name, count] : outcome.levels) text += fmt::format("{}{} ({})", text.empty() ? "" : " and ", name, count);
  return text;
}

std::string render(const workflows::ValidateOutcome& outcome) {
  std::string text = fmt::format("{} estimates for {}\n", levels_of(outcome), outcome.device);
  text += table(outcome.latency) + same_laboratory(outcome.latency.all);
  for (const auto& [name, judged] : outcome.by_level) text += name + "\n" + table(judged);
  if (outcome.latency.all.without_estimate > 0)
    text += fmt::format("  without an estimate: {}\n", outcome.latency.all.without_estimate);
  if (outcome.with_rejected)
    text += fmt::format("including the {} faster than the device's peak\n", workflows::rows_text(outcome.rejected)) +
            table(*outcome.with_rejected);
  if (outcome.memory) text += "peak memory\n" + table(*outcome.memory);
  if (outcome.energy) text += "energy, with measured time\n" + table(*outcome.energy);
  if (outcome.predicted_energy) text += "energy, with predicted time\n" + table(*outcome.predicted_energy);
  for (const auto& [name, judged] : outcome.baselines)
    text += fmt::format("for comparison, {}: mean {}, median {}, p90 {}\n", name, percent(judged.all.mean_ape),
                        percent(judged.all.median_ape), percent(judged.all.p90_ape));
  for (const std::string& note : outcome.notes) text += "note: " + note + "\n";
  return text + "(in parentheses: 95 % CI, bootstrap over sites)\n";
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
  CLI::App* verb = app.add_subcommand("validate", "Compare estimates with measurements: errors and interval coverage");
  auto options = std::make_shared<ValidateOptions>();
  verb->add_option("--hardware", options->hardware, "Device: an id or alias from 'aaco hardware ls'")
      ->required()
      ->type_name("ID");
  verb->add_option("--measurements", options->measurements, "Tables of measured kernels or models: CSV, optionally gzip or zstd")
      ->required()
      ->type_name("FILE");
  verb->add_option("--level", options->level,
                   "Estimates to validate: calibrated, interpolated (from other devices) or theoretical");
  verb->add_option("--split", options->split,
                   "Fit a new calibration and validate it on held-out data: whole kernel sites, models or devices")
      ->check(CLI::IsMember({"site", "model", "device"}));
  verb->add_option("--folds", options->folds, "Number of folds (default: 5 for sites, one per model for models)")
      ->check(whole_number(2, kMaxCount));
  verb->add_option("--seed", options->seed, "Seed for folds and bootstrap")->check(seed_number())->capture_default_str();
  verb->add_option("--calibration-from", options->calibration_from, "Devices that interpolated estimates may use")
      ->type_name("ID,...");
  verb->add_flag("--compact", options->compact, "With --split: fit in the compact form that 'aaco calibrate --compact' stores");
  verb->add_option("--residuals", options->residuals, "Write each measured row with its estimate to this CSV file")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n  aaco validate --hardware h100 --measurements gemm.csv.gz --split site --folds 5\n  aaco validate --hardware "
      "h200 --measurements gemm.csv.gz --split device --calibration-from a100,h100\n\n"
      "A site is the (n, k) of a matrix product, the filter of a convolution, the heads of an attention kernel or the row "
      "length\n"
      "of a vector operator. Whole sites are held out because rows of one site resemble each other. Without --split, the "
      "calibrations\n"
      "in the registry are validated. Rows faster than the device's peak are invalid: they are counted and reported separately.");
  verb->callback([&context, options] { run_validate(context, *options); });
}

}  // namespace aaco::cli
