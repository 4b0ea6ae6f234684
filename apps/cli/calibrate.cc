#include "workflows/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "cli/whole_number.h"

namespace aaco::cli {
namespace {

struct CalibrateOptions {
  workflows::CalibrateRequest request;
  bool json = false;
};

std::string errors(const estimation::Quality& quality) {
  return fmt::format("{:>7} rows, {:>5} sites; unseen sites: mean {:.1f} %, median {:.1f} %, p90 {:.1f} %", quality.rows,
                     quality.sites, quality.mean_error * 100, quality.median_error * 100, quality.p90_error * 100);
}

std::string render(const workflows::CalibrateOutcome& outcome) {
  std::string text = fmt::format("Calibration of {}, from {} rows ({} of other devices)\n", outcome.calibration.device,
                                 outcome.rows, outcome.other_devices);
  for (const auto& model : outcome.calibration.latency) {
    const auto& best = model.ceilings;
    text += fmt::format("  {:<34}{}\n", model.kind + " " + model.type, errors(model.quality));
    text += fmt::format("  {:<34}reaches {:.1f} TFLOP/s, {:.0f} GB/s ({:.0f} GB/s cached), floor {:.1f} us\n", "",
                        best.flops_per_s * 1e-12, best.bytes_per_s * 1e-9, best.cached_bytes_per_s * 1e-9, best.floor_s * 1e6);
  }
  for (const auto& [name, model] : outcome.calibration.energy) {
    text += fmt::format("  {:<34}{}\n", "energy of " + name, errors(model.quality));
    text += fmt::format("  {:<34}{:.0f} W, {:.3f} pJ/FLOP, {:.1f} pJ/byte\n", "", model.static_watts,
                        model.joules_per_flop * 1e12, model.joules_per_byte * 1e12);
  }
  for (const auto& [name, fit] : outcome.calibration.models)
    text += fmt::format("  {:<34}{:>7} rows, {:>5} models; unseen models: mean {:.1f} %, median {:.1f} %, p90 {:.1f} %\n",
                        "whole models: " + name, fit.quality.rows, fit.quality.sites, fit.quality.mean_error * 100,
                        fit.quality.median_error * 100, fit.quality.p90_error * 100);
  if (!outcome.worst.empty()) text += "Estimated worst when not seen:\n";
  for (const auto& site : outcome.worst)
    text += fmt::format("  {:<34}{:<40}{:.1f} %, {} rows\n", site.group, site.site, site.mean_error * 100, site.rows);
  if (!outcome.measure_next.empty()) text += "Measure next:\n";
  for (const auto& next : outcome.measure_next) text += "  " + next + "\n";
  for (const auto& note : outcome.notes) text += "note: " + note + "\n";
  return text + "written: " + outcome.path + "\n";
}

void run_calibrate(Context& context, const CalibrateOptions& options) {
  const auto outcome = workflows::calibrate(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (options.json) return context.print_json(to_json(*outcome));
  context.print(render(*outcome));
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("calibrate", "Fit a device's ceilings, floors, efficiency and energy to measurements");
  auto options = std::make_shared<CalibrateOptions>();
  verb->add_option("--hardware", options->request.hardware, "Device: an id or alias of 'aaco hardware ls'")
      ->required()
      ->type_name("ID");
  verb->add_option(
          "--measurements", options->request.measurements,
          "Tables of measured kernels or whole models: CSV, also gzip or zstd; without it the results of 'aaco benchmark'")
      ->type_name("FILE");
  verb->add_option("--seed", options->request.seed, "Of the parts that test each other")
      ->check(seed_number())
      ->capture_default_str();
  verb->add_option("--threads", options->request.threads, "Fits side by side")->capture_default_str()->check(whole_number(1, 64));
  verb->add_flag("--json", options->json, "Print what was fitted as JSON");
  verb->footer(
      "Examples:\n  aaco benchmark --suite micro && aaco calibrate --hardware this\n"
      "  aaco calibrate --hardware h100 --measurements gemm.csv.gz --measurements attention.csv.gz\n"
      "Which kind of kernel a table holds follows from its columns: products m, n, k; convolutions r, s, stride; attention "
      "phase, isl;\n"
      "vector operators op, rows, cols; each with device, dtype and latency_us, and power_w where it was measured. The "
      "calibration is\n"
      "kept in the user's registry and used by every estimate from then on. 'aaco validate' tells how good it is.");
  verb->callback([&context, options] { run_calibrate(context, *options); });
}

}  // namespace aaco::cli
