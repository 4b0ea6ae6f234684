#include "workflows/sla.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/http.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "tracelake/bundle.h"
#include "workflows/diff_metrics.h"
#include "workflows/session/metrics_files.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;
using governance::RuleState;
using governance::SlaAlert;

std::map<std::string, std::string> facts_of(const trace::SessionManifest& manifest) {
  std::map<std::string, std::string> facts{{"kind", manifest.kind}, {"tag", manifest.tag}};
  for (const char* key : {"model", "backend"})
    if (std::string value = manifest.outcome.text(key); !value.empty()) facts[key] = std::move(value);
  return facts;
}

Json finding_json(const SlaFinding& finding) {
  const auto& outcome = finding.outcome;
  Json out = Json::object({{"session", finding.session},
                           {"rule", finding.rule.name},
                           {"metric", finding.rule.metric},
                           {"state", to_string(outcome.state)}});
  if (outcome.state == RuleState::broken) out.set("severity", finding.rule.severity);
  out.set_if("value", outcome.value).set_if("limit", outcome.limit);
  if (!outcome.unit.empty()) out.set("unit", outcome.unit);
  if (outcome.interval) out.set("ci95", Json::array({outcome.interval->low, outcome.interval->high}));
  return out.set("explanation", outcome.explanation);
}

// One write of a whole line, so that several writers do not mix.
core::Status append_line(const std::string& path, std::string line) {
  line += '\n';
  if (const std::string folder = core::parent_path(path); !folder.empty()) AACO_TRY(core::make_directories(folder));
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return core::fail_errno(errno, path);
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  return written < 0 ? core::Status(core::fail_errno(errno, path))
                     : core::Status(core::fail(ErrorCode::io, path + ": partial write"));
}

core::Status run_alert(const SlaAlert& alert, const std::string& document) {
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make("/tmp"));
  const std::string file = core::join_path(folder.path(), "alert.json");
  AACO_TRY(core::write_file_atomic(file, document));
  core::Command command;
  // The command's standard input is the file; its words reach it untouched.
  command.arguments = {"/bin/sh", "-c", "exec \"$@\" <\"$AACO_ALERT\"", "sh"};
  command.arguments.insert(command.arguments.end(), alert.command.begin(), alert.command.end());
  command.set_environment = {{"AACO_ALERT", file}};
  command.timeout_ns = alert.timeout_ns;
  AACO_ASSIGN(const auto result, core::run_command(command));
  if (result.timed_out)
    return core::fail(ErrorCode::timed_out, "did not exit within " + std::to_string(alert.timeout_ns / 1'000'000) + " ms");
  if (result.exit_code != 0)
    return core::fail(ErrorCode::io, "exit code " + std::to_string(result.exit_code) + ": " +
                                         std::string(core::trim(result.error_output).substr(0, 500)));
  return {};
}

core::Status call_webhook(const SlaAlert& alert, const std::string& document) {
  core::HttpRequest request;
  request.method = "POST";
  request.url = alert.target;
  request.body = document;
  request.timeout_ns = alert.timeout_ns;
  AACO_ASSIGN(const auto reply, core::http_send(request));
  if (reply.status >= 200 && reply.status < 300) return {};
  return core::fail(ErrorCode::io, "HTTP status " + std::to_string(reply.status));
}

std::string receiver_of(const SlaAlert& alert) {
  if (alert.kind == SlaAlert::Kind::command) return "command " + alert.command.front();
  return (alert.kind == SlaAlert::Kind::file ? "file " : "webhook ") + alert.target;
}

core::Status deliver(const SlaAlert& alert, const Json& document) {
  if (alert.kind == SlaAlert::Kind::file) return append_line(alert.target, document.dump(-1));
  if (alert.kind == SlaAlert::Kind::command) return run_alert(alert, document.dump() + "\n");
  return call_webhook(alert, document.dump());
}

void send_alerts(const governance::SlaBook& book, const SlaRequest& request, const Services& services, SlaOutcome& outcome) {
  for (const SlaAlert& alert : book.alerts) {
    Json findings = Json::array();
    for (const auto& finding : outcome.findings)
      if (finding.outcome.state == RuleState::broken || (alert.undecided_too && finding.outcome.state == RuleState::undecided))
        findings.push(finding_json(finding));
    if (findings.items().empty()) continue;
    services.progress("sending alert to " + receiver_of(alert));
    const Json document = Json::object({{"schema_version", 1},
                                        {"time", core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime))},
                                        {"rules", request.rules},
                                        {"findings", std::move(findings)}});
    const auto sent = deliver(alert, document);
    outcome.alerts.push_back({receiver_of(alert), sent.has_value(), sent ? std::string() : sent.error().message});
  }
}

core::Status check_session(const std::string& path, const governance::SlaBook& book, SlaOutcome& outcome) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
  if (manifest.state == "incomplete")
    return core::fail(ErrorCode::invalid_input, "session " + manifest.id.text + " is incomplete and cannot be checked",
                      "run it again");
  AACO_ASSIGN(const auto metrics, read_metrics(path));
  const auto facts = facts_of(manifest);
  for (const auto& rule : book.rules) outcome.findings.push_back({manifest.id.text, rule, check_rule(rule, metrics, facts)});
  return {};
}

}  // namespace

bool SlaOutcome::any(RuleState state) const {
  return std::any_of(findings.begin(), findings.end(), [&](const SlaFinding& one) { return one.outcome.state == state; });
}

core::Result<SlaOutcome> check_sla(const SlaRequest& request, const Services& services) {
  AACO_ASSIGN(const std::string text, core::read_file(request.rules, 1 << 20));
  AACO_ASSIGN(const auto book, governance::parse_sla(text, request.rules, metric_id));
  SlaOutcome outcome;
  for (const std::string& name : request.sessions) {
    AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
    AACO_TRY(check_session(path, book, outcome));
  }
  if (request.alert) send_alerts(book, request, services, outcome);
  return outcome;
}

Json to_json(const SlaOutcome& outcome) {
  Json findings = Json::array(), alerts = Json::array();
  for (const auto& finding : outcome.findings) findings.push(finding_json(finding));
  for (const auto& alert : outcome.alerts) {
    Json one = Json::object({{"receiver", alert.receiver}, {"delivered", alert.delivered}});
    if (!alert.problem.empty()) one.set("problem", alert.problem);
    alerts.push(std::move(one));
  }
  return Json::object({{"schema_version", 1},
                       {"broken", outcome.any(RuleState::broken)},
                       {"findings", std::move(findings)},
                       {"alerts", std::move(alerts)}});
}

}  // namespace aaco::workflows
