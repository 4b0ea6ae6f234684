#include "workflows/sla.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"

namespace aaco::cli {
namespace {

using governance::RuleState;

struct SlaOptions {
  workflows::SlaRequest request;
  bool no_alert = false, json = false;
};

std::string mark_of(RuleState state) {
  switch (state) {
    case RuleState::kept: return "met";
    case RuleState::broken: return "VIOLATED";
    case RuleState::undecided: return "inconclusive";
    case RuleState::not_measured: return "not measured";
    case RuleState::not_meant: return "not applicable";
  }
  return "";
}

void print_findings(const Context& context, const workflows::SlaOutcome& outcome) {
  for (const auto& finding : outcome.findings)
    context.print(fmt::format("{:<14} {:<24} {}{}  ({})\n", mark_of(finding.outcome.state), finding.rule.name,
                              finding.outcome.explanation,
                              finding.outcome.state == RuleState::broken ? ", " + finding.rule.severity : "", finding.session));
}

// Broken before undecided; what was meant and not measured keeps the answer open, and rules that meant no session answer nothing.
int exit_code_of(const workflows::SlaOutcome& outcome) {
  if (outcome.any(RuleState::broken)) return kRegression;
  if (outcome.any(RuleState::undecided) || outcome.any(RuleState::not_measured)) return kInconclusive;
  return outcome.any(RuleState::kept) ? kFine : kInconclusive;
}

void check(Context& context, SlaOptions& options) {
  options.request.alert = !options.no_alert;
  if (options.request.sessions.empty()) options.request.sessions = {"latest"};
  const auto outcome = workflows::check_sla(options.request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  context.exit_code = exit_code_of(*outcome);
  if (options.json)
    context.print_json(to_json(*outcome));
  else
    print_findings(context, *outcome);
  for (const auto& alert : outcome->alerts)
    context.note(alert.delivered ? "alert sent to " + alert.receiver
                                 : "aaco: cannot send alert to " + alert.receiver + ": " + alert.problem);
}

}  // namespace

void add_sla(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("sla", "Check service levels for latency, throughput, memory and energy");
  verb->require_subcommand(1);
  CLI::App* checking = verb->add_subcommand("check", "Check sessions against rules, and send alerts for violations");
  auto options = std::make_shared<SlaOptions>();
  checking->add_option("--rules", options->request.rules, "Rules file (sla.yaml)")->required()->type_name("FILE");
  checking->add_option("sessions", options->request.sessions, "Sessions (default: latest)");
  checking->add_flag("--no-alert", options->no_alert, "Do not send alerts");
  checking->add_flag("--json", options->json, "Print JSON");
  checking->footer(
      "A rule:\n"
      "  - {name: tail, metric: p99, max: 20ms, severity: critical, where: {model: resnet50}}\n"
      "Alerts:\n"
      "  - {webhook: http://127.0.0.1:9000/hook, timeout: 2s}\n"
      "  - {file: alerts.jsonl}\n"
      "  - {command: [logger, aaco]}\n\n"
      "Exit codes: 0 met, 1 "
      "violated, 4 inconclusive (the interval contains the limit) or not measured.");
  checking->callback([&context, options] { check(context, *options); });
}

}  // namespace aaco::cli
