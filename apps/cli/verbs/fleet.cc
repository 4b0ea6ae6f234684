#include "workflows/fleet.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/output/fleet_output.h"
#include "workflows/fleet_alerts.h"
#include "workflows/fleet_compare.h"

namespace aaco::cli {
namespace {

using workflows::FleetReport;

struct FleetOptions {
  workflows::FleetRequest request;
  std::string bin = "30min", last, node;
  bool json = false, all = false;
};

core::Result<workflows::FleetRequest> resolved(const FleetOptions& options) {
  workflows::FleetRequest request = options.request;
  AACO_ASSIGN(request.bin_ns, time_with_unit(options.bin, "--bin", "30min"));
  if (!options.last.empty()) {
    AACO_ASSIGN(request.last_ns, time_with_unit(options.last, "--last", "7d"));
  }
  return request;
}

void note_missing(const Context& context, const FleetReport& report) {
  for (const std::string& server : report.missing_servers)
    context.note("warning: " + server + " cannot be reached: its rows are missing");
}

void run_fleet(Context& context, const FleetOptions& options, const std::function<core::Json(const FleetReport&)>& document,
               const std::function<std::string(const FleetReport&)>& text) {
  const auto request = resolved(options);
  if (!request) return context.fail(request.error());
  const auto report = workflows::analyse_fleet(*request, make_services(context));
  context.progress("");
  if (!report) return context.fail(report.error());
  note_missing(context, *report);
  if (!options.node.empty() && std::find(report->nodes.begin(), report->nodes.end(), options.node) == report->nodes.end())
    return context.fail(core::Error{core::ErrorCode::not_found,
                                    "no telemetry of node '" + options.node + "'",
                                    "list the nodes with 'aaco fleet health'",
                                    {}});
  if (options.json) return context.print_json(document(*report));
  context.print(text(*report));
}

CLI::App* add_answer(CLI::App& fleet, const std::shared_ptr<FleetOptions>& options, const std::string& name,
                     const std::string& what) {
  CLI::App* verb = fleet.add_subcommand(name, what);
  verb->add_option("from", options->request.from,
                   "Folder or file of telemetry (docs/formats/fleet.md), or clickhouse://HOST:PORT/DATABASE")
      ->required();
  verb->add_option("--last", options->last, "Analyse only the end of the data (e.g. 7d)")->type_name("TIME");
  verb->add_option("--bin", options->bin, "Length of the bins that are compared")->type_name("TIME")->capture_default_str();
  verb->add_flag("--json", options->json, "Print JSON");
  return verb;
}

void add_silences(CLI::App* verb, const std::shared_ptr<FleetOptions>& options) {
  verb->add_option("--silences", options->request.silences,
                   "Silences and maintenance windows (docs/formats/silences.md; default: ~/.config/aaco/silences.yaml)")
      ->type_name("FILE");
}

void add_alerts(CLI::App& fleet, Context& context, const std::shared_ptr<FleetOptions>& options) {
  CLI::App* verb = add_answer(fleet, options, "alerts", "Print or send findings that last as alerts for Alertmanager");
  add_silences(verb, options);
  auto url = std::make_shared<std::string>();
  auto link = std::make_shared<std::string>();
  verb->add_option("--send", *url, "Send them to this Alertmanager, such as http://localhost:9093")->type_name("URL");
  verb->add_option("--link", *link, "Address of a dashboard with this fleet, for the links of the alerts")->type_name("URL");
  verb->add_flag("--all", options->all, "Include what is over");
  verb->footer("Example:\n  aaco fleet alerts clickhouse://localhost:8123/aaco --last 1d --send http://localhost:9093");
  verb->callback([&context, options, url, link] {
    const auto request = resolved(*options);
    if (!request) return context.fail(request.error());
    const auto report = workflows::analyse_fleet(*request, make_services(context));
    context.progress("");
    if (!report) return context.fail(report.error());
    note_missing(context, *report);
    const core::Json alerts = workflows::fleet_alerts_json(*report, !options->all, *link);
    if (url->empty()) return context.print_json(alerts);
    if (const auto sent = workflows::send_fleet_alerts(alerts, *url); !sent) return context.fail(sent.error());
    if (options->json) return context.print_json(alerts);
    context.print(std::to_string(alerts.items().size()) + " alerts sent\n");
  });
}

void add_comparison(CLI::App& fleet, Context& context, const std::shared_ptr<FleetOptions>& options) {
  CLI::App* verb = add_answer(fleet, options, "compare", "Compare two parts of a fleet, or two periods (A B)");
  auto sides = std::make_shared<std::pair<std::string, std::string>>();
  const std::string what =
      "node=NAME, job=NAME, hardware=NAME, after=TIME or before=TIME, joined by commas; a trailing * matches a prefix";
  verb->add_option("a", sides->first, "Baseline: " + what)->required();
  verb->add_option("b", sides->second, "The other side")->required();
  verb->footer("Example:\n  aaco fleet compare telemetry/ before=2026-01-01T12:00 after=2026-01-01T12:00");
  verb->callback([&context, options, sides] {
    const auto request = resolved(*options);
    if (!request) return context.fail(request.error());
    const auto comparison = workflows::compare_fleet(*request, sides->first, sides->second, make_services(context));
    context.progress("");
    if (!comparison) return context.fail(comparison.error());
    if (options->json) return context.print_json(workflows::to_json(*comparison));
    context.print(fleet_comparison_text(*comparison));
  });
}

}  // namespace

void add_fleet(CLI::App& app, Context& context) {
  CLI::App* fleet = app.add_subcommand("fleet", "Compare the nodes and devices of a fleet with their peers");
  fleet->require_subcommand(1);
  fleet->footer(
      "Examples:\n  aaco fleet status telemetry/\n  aaco fleet health telemetry/ --last 1d\n  aaco fleet stragglers telemetry/ "
      "--json\n"
      "Try it on a simulated fleet: aaco lab fleet --nodes 200 --days 2 --fault all --out telemetry");
  auto options = std::make_shared<FleetOptions>();

  CLI::App* status = add_answer(*fleet, options, "status", "Count nodes, devices, jobs, rows and findings");
  add_silences(status, options);
  status->callback([&context, options] { run_fleet(context, *options, workflows::fleet_status_json, fleet_status_text); });
  CLI::App* health = add_answer(*fleet, options, "health", "List the nodes with findings and their evidence, most severe first");
  health->add_option("--node", options->node, "Only this node");
  add_silences(health, options);
  health->callback([&context, options] {
    run_fleet(
        context, *options, [&](const FleetReport& report) { return workflows::fleet_findings_json(report, options->node); },
        [&](const FleetReport& report) { return fleet_health_text(report, options->node); });
  });
  add_answer(*fleet, options, "outliers", "List devices and nodes that differ from their peers, one line each")
      ->callback([&context, options] {
        run_fleet(
            context, *options, [](const FleetReport& report) { return workflows::fleet_findings_json(report, ""); },
            fleet_outliers_text);
      });
  CLI::App* stragglers = add_answer(*fleet, options, "stragglers", "Find the ranks that the other ranks of their job wait for");
  stragglers->add_flag("--all", options->all, "List jobs without a straggler too");
  stragglers->footer(
      "FROM may also be a session of several ranks: aaco import rank0.json rank1.json --tag job; aaco fleet stragglers tag:job");
  stragglers->callback([&context, options] {
    const auto session = workflows::session_straggler(options->request.from, make_services(context));
    if (!session) return context.fail(session.error());
    if (*session)
      return options->json ? context.print_json(workflows::to_json(**session)) : context.print(session_straggler_text(**session));
    run_fleet(context, *options, workflows::fleet_stragglers_json,
              [&](const FleetReport& report) { return fleet_stragglers_text(report, options->all); });
  });
  add_answer(*fleet, options, "jobs", "Show step time, goodput, waits and energy of each job")->callback([&context, options] {
    run_fleet(context, *options, workflows::fleet_jobs_json, fleet_jobs_text);
  });
  add_comparison(*fleet, context, options);
  add_alerts(*fleet, context, options);
}

}  // namespace aaco::cli
