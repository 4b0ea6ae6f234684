#include "workflows/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "cli/output/calibration_output.h"
#include "cli/stop_at_once.h"
#include "workflows/calibration_registry.h"
#include "workflows/measurement_files.h"

namespace aaco::cli {
namespace {

struct CalibrateOptions {
  workflows::CalibrateRequest request;
  bool json = false;
};

std::string render(const workflows::CalibrateOutcome& outcome) {
  std::string text = fmt::format("Calibration of {} from {} ({} from other devices)\n", outcome.calibration.device,
                                 workflows::rows_text(outcome.rows), outcome.other_devices);
  text += describe(outcome.calibration);
  if (!outcome.worst.empty()) text += "Largest errors on held-out sites:\n";
  for (const auto& site : outcome.worst)
    text += fmt::format("  {:<34}{:<40}{:.1f} %, {}\n", site.group, site.site, site.mean_error * 100,
                        workflows::rows_text(site.rows));
  if (!outcome.measure_next.empty()) text += "Measure next:\n";
  for (const auto& next : outcome.measure_next) text += "  " + next + "\n";
  for (const auto& note : outcome.notes) text += "note: " + note + "\n";
  return text + "written: " + outcome.path + "\n";
}

void run_calibrate(Context& context, const CalibrateOptions& options) {
  if (options.request.hardware.empty())
    return context.fail({core::ErrorCode::invalid_argument,
                         "missing option '--hardware'",
                         "--hardware ID is the device to calibrate: an id or alias from 'aaco hardware ls', or 'this'",
                         {}});
  stop_at_once();
  const auto outcome = workflows::calibrate(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (options.json) return context.print_json(to_json(*outcome));
  context.print(render(*outcome));
}

void list(Context& context, bool json) {
  const auto entries = workflows::list_calibrations(context.paths);
  if (!entries) return context.fail(entries.error());
  if (!json) return context.print(describe(*entries));
  core::Json list = core::Json::array();
  for (const auto& entry : *entries) list.push(to_json(entry));
  context.print_json(core::Json::object({{"schema_version", 1}, {"calibrations", std::move(list)}}));
}

void show_calibration(Context& context, const std::string& name, bool json) {
  const auto entry = workflows::find_calibration(name, make_services(context));
  if (!entry) return context.fail(entry.error());
  if (json) return context.print_json(to_json(*entry).set("schema_version", 1));
  context.print(describe(*entry));
}

void remove(Context& context, const std::string& name) {
  const auto removed = workflows::remove_calibration(name, make_services(context));
  if (!removed) return context.fail(removed.error());
  context.note("removed " + *removed);
}

void add_reading_verbs(CLI::App& verb, Context& context) {
  CLI::App* ls = verb.add_subcommand("ls", "List calibrations");
  auto json = std::make_shared<bool>(false);
  auto name = std::make_shared<std::string>();
  ls->add_flag("--json", *json, "Print JSON");
  ls->callback([&context, json] { list(context, *json); });
  CLI::App* one = verb.add_subcommand("show", "Show a calibration's contents and origin, and verify its file");
  one->add_option("device", *name, "Id or alias of the device, or 'this'")->required();
  one->add_flag("--json", *json, "Print JSON");
  one->callback([&context, name, json] { show_calibration(context, *name, *json); });
  CLI::App* rm = verb.add_subcommand("rm", "Remove a calibration from your registry; estimates no longer use it");
  rm->add_option("device", *name, "Id or alias of the device, or 'this'")->required();
  rm->callback([&context, name] { remove(context, *name); });
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("calibrate", "Fit a device's ceilings, floors, efficiency and energy to measurements");
  auto options = std::make_shared<CalibrateOptions>();
  verb->add_option("--hardware", options->request.hardware,
                   "Device to calibrate (required): an id or alias from 'aaco hardware ls'")
      ->type_name("ID");
  verb->add_option(
          "--measurements", options->request.measurements,
          "Tables of measured kernels or whole models: CSV, optionally gzip or zstd (default: the results of 'aaco benchmark')")
      ->type_name("FILE");
  verb->add_option("-b,--backend", options->request.backend,
                   "Backend whose 'aaco benchmark' results to use (required if several have results)")
      ->type_name("NAME");
  verb->add_option("--seed", options->request.seed, "Seed for the cross-validation folds")
      ->check(seed_number())
      ->capture_default_str();
  verb->add_option("--threads", options->request.threads, "Number of fits to run in parallel")
      ->capture_default_str()
      ->check(whole_number(1, 64));
  verb->add_flag("--compact", options->request.compact, "Fit fewer, rounded trees: about a tenth of the file, 3 % larger errors");
  verb->add_option("--elsewhere", options->request.elsewhere,
                   "Tables that another laboratory measured on the same device: they widen the bounds and are not learnt from")
      ->type_name("FILE");
  verb->add_option("--elsewhere-term", options->request.elsewhere_term,
                   "Widen the bounds of classes without such rows: half a 90 % interval of the logarithm, for example 0.2")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 5.0));
  verb->add_option("--licence", options->request.licences, "Licence of the measurements, stored in the file")->type_name("TEXT");
  verb->add_option("--output", options->request.output, "Write the file to this folder, not to your registry")
      ->type_name("FOLDER");
  verb->add_flag("--json", options->json, "Print the fit as JSON");
  verb->footer(
      "Examples:\n  aaco benchmark --suite micro && aaco calibrate --hardware this\n  aaco calibrate --hardware h100 "
      "--measurements gemm.csv.gz --measurements attention.csv.gz\n  aaco calibrate ls; aaco calibrate show h100\n\n"
      "A table's columns determine its kernel type: m, n, k for matrix products; r, s, stride for convolutions; phase, "
      "isl\n"
      "for attention; op, rows, cols for vector operators. All need device, dtype and latency_us; power_w is optional.\n"
      "The calibration is stored in your registry and used by all later estimates. 'aaco validate' measures its accuracy.");
  verb->require_subcommand(0, 1);
  add_reading_verbs(*verb, context);
  verb->callback([&context, options, verb] {
    if (verb->get_subcommands().empty()) run_calibrate(context, *options);
  });
}

}  // namespace aaco::cli
