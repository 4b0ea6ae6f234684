#include "workflows/hardware.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/hardware_output.h"
#include "cli/stop_at_once.h"
#include "core/environment.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

void list(Context& context, const std::string& kind, bool json) {
  const auto lines = workflows::list_devices(kind, make_services(context));
  if (!lines) return context.fail(lines.error());
  if (!json) return print_devices(context, *lines);
  core::Json devices = core::Json::array();
  for (const auto& line : *lines) devices.push(to_json(line.device).set("own", line.own));
  context.print_json(core::Json::object({{"schema_version", 1}, {"devices", std::move(devices)}}));
}

void show_device(Context& context, const std::string& name, bool json) {
  const auto device = workflows::find_entry(name, make_services(context));
  if (!device) return context.fail(device.error());
  if (!json) return print_device(context, *device);
  context.print_json(core::Json::object({{"schema_version", 1}, {"device", to_json(*device)}}));
}

void check(Context& context, const std::vector<std::string>& files, bool json) {
  const auto audit = workflows::check_hardware(files, make_services(context));
  if (!audit) return context.fail(audit.error());
  if (!audit->problems.empty()) context.exit_code = kEnvironment;
  if (json) return context.print_json(workflows::to_json(*audit));
  for (const auto& problem : audit->problems) {
    context.print(fmt::format("{}: {} ({})\n", problem.where, problem.text, problem.rule));
    if (!problem.remedy.empty()) context.print(fmt::format("  {}\n", problem.remedy));
  }
  context.print(fmt::format("{} shipped and {} user entries: {}\n", audit->shipped, audit->own,
                            audit->problems.empty()       ? "no problems"
                            : audit->problems.size() == 1 ? "1 problem"
                                                          : std::to_string(audit->problems.size()) + " problems"));
}

struct ProbeOptions {
  std::string memory, backend;
  int gpu = 0;
  bool dry_run = false, json = false;
};

void probe(Context& context, const ProbeOptions& options) {
  stop_at_once();
  workflows::ProbeRequest request;
  request.dry_run = options.dry_run;
  request.backend = options.backend;
  request.gpu = options.gpu;
  request.gpu_worker = {core::executable_path(), "gpu-worker"};
  if (!options.memory.empty()) {
    const auto bytes = core::parse_bytes(options.memory);
    if (!bytes || *bytes < (1 << 20))
      return context.fail({core::ErrorCode::invalid_argument,
                           "invalid value '" + options.memory + "' for '--memory': expected at least 1MiB, such as 512MiB",
                           "",
                           {}});
    request.memory_bytes = *bytes;
  }
  const auto outcome = workflows::probe_hardware(request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  if (options.json) {
    core::Json out = core::Json::object({{"schema_version", 1}, {"device", to_json(outcome->device)}});
    if (!outcome->path.empty()) out.set("path", outcome->path);
    if (!outcome->known.empty()) out.set("gpus", core::Json::texts(outcome->known));
    return context.print_json(out);
  }
  print_device(context, outcome->device);
  for (const std::string& line : outcome->known) context.print(line + "\n");
  if (outcome->path.empty() && options.dry_run) return context.note("\nnothing written (--dry-run)");
  if (outcome->path.empty()) return;
  context.note("\n" + std::string(outcome->replaced ? "replaced " : "wrote ") + outcome->path + "\nuse it as " +
               (options.backend.empty() ? "'this' or '" : "'") + outcome->device.id +
               "', for example: aaco analyze resnet50 --hardware " + (options.backend.empty() ? "this" : outcome->device.id));
}

void add_ls_verb(CLI::App& verb, Context& context) {
  CLI::App* ls = verb.add_subcommand("ls", "List devices with their peak rates");
  auto kind = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  ls->add_option("--kind", *kind, "Only this kind of device")->check(CLI::IsMember({"cpu", "gpu", "accelerator"}));
  ls->add_flag("--json", *json, "Print JSON, with every figure and its source");
  ls->callback([&context, kind, json] { list(context, *kind, *json); });
}

void add_show_verb(CLI::App& verb, Context& context) {
  CLI::App* one = verb.add_subcommand("show", "Show everything known about a device, each figure with its source");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  one->add_option("device", *name, "Id, alias, ID@STATE (a power state), or 'this'")->required();
  one->add_flag("--json", *json, "Print JSON");
  one->callback([&context, name, json] { show_device(context, *name, *json); });
}

void add_check_verb(CLI::App& verb, Context& context) {
  CLI::App* one = verb.add_subcommand("check", "Check all shipped and user entries for schema and consistency errors");
  auto files = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  one->add_option("file", *files, "Check only these files (.yaml)");
  one->add_flag("--json", *json, "Print JSON");
  one->footer("Problems are listed with file and line; the exit code is then 3.");
  one->callback([&context, files, json] { check(context, *files, *json); });
}

void add_probe_verb(CLI::App& verb, Context& context) {
  CLI::App* one = verb.add_subcommand("probe", "Measure this machine's CPU, or a GPU, and write its entry to your registry");
  auto options = std::make_shared<ProbeOptions>();
  one->add_option("--memory", options->memory, "Array size for the bandwidth measurement (default: based on the cache sizes)")
      ->type_name("SIZE");
  one->add_option("-b,--backend", options->backend, "Measure a GPU, through this runtime and the vendor's libraries")
      ->check(CLI::IsMember({"cuda", "hip"}));
  one->add_option("--gpu", options->gpu, "GPU to measure, as the runtime numbers them")
      ->check(CLI::Range(0, 1023))
      ->capture_default_str();
  one->add_flag("--dry-run", options->dry_run, "Measure without writing an entry");
  one->add_flag("--json", options->json, "Print JSON");
  one->callback([&context, options] { probe(context, *options); });
}

}  // namespace

void add_hardware(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("hardware", "List, show, check or measure the devices that predictions are made for");
  verb->require_subcommand(1);
  add_ls_verb(*verb, context);
  add_show_verb(*verb, context);
  add_check_verb(*verb, context);
  add_probe_verb(*verb, context);
  verb->footer(
      "Examples:\n  aaco hardware ls --kind gpu\n  aaco hardware show MI300X\n  aaco hardware check mine.yaml\n  aaco hardware "
      "probe");
}

}  // namespace aaco::cli
