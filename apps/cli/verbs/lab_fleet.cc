#include "cli/verbs/lab_fleet.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/fleet_output.h"
#include "workflows/fleet.h"

namespace aaco::cli {
namespace {

std::string faults_help() {
  std::string text = "Faults, and what strength s means:\n";
  for (const auto& kind : laboratory::fleet::fault_kinds()) text += fmt::format("  {:<16} {}\n", kind.id, kind.effect);
  return text;
}

void add_simulation(CLI::App& lab, Context& context) {
  CLI::App* verb =
      lab.add_subcommand("fleet", "Write the telemetry of a simulated fleet with known faults (docs/formats/fleet.md)");
  auto request = std::make_shared<workflows::LabFleetRequest>();
  verb->add_option("--out", request->folder, "New folder for minutes/*.parquet and truth.json")->required();
  verb->add_option("--nodes", request->fleet.nodes, "Number of nodes")->capture_default_str();
  verb->add_option("--days", request->fleet.days, "Number of days")->capture_default_str();
  verb->add_option("--devices", request->fleet.devices, "Devices per node")->capture_default_str();
  verb->add_option("--fault", request->fleet.faults, "KIND[:STRENGTH] or all, repeatable; without a strength: 5, 10 and 30 %")
      ->type_name("FAULT");
  verb->add_option("--seed", request->fleet.seed, "Seed of all random draws")->capture_default_str();
  verb->footer(faults_help() +
               "Example:\n  aaco lab fleet --nodes 200 --days 2 --fault all --out telemetry && aaco lab fleet-score telemetry");
  verb->callback([&context, request] {
    const auto outcome = workflows::lab_fleet(*request, make_services(context));
    context.progress("");
    if (!outcome) return context.fail(outcome.error());
    context.print(fmt::format("wrote {} rows with {} faults to {}\n", outcome->rows, outcome->faults, outcome->folder));
  });
}

void add_fleet_score(CLI::App& lab, Context& context) {
  CLI::App* verb = lab.add_subcommand("fleet-score", "Score the findings about a fleet against its truth.json");
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("folder", *folder, "Folder of telemetry with a truth.json")->required();
  verb->add_flag("--json", *json, "Print JSON");
  verb->callback([&context, folder, json] {
    const auto score = workflows::lab_fleet_score(*folder, make_services(context));
    context.progress("");
    if (!score) return context.fail(score.error());
    if (*json) return context.print_json(workflows::to_json(*score));
    context.print(fleet_score_text(*score));
  });
}

}  // namespace

void add_lab_fleet(CLI::App& lab, Context& context) {
  add_simulation(lab, context);
  add_fleet_score(lab, context);
}

}  // namespace aaco::cli
