#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/output/session_output.h"
#include "cli/output/timeline_output.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/terminal.h"
#include "workflows/query.h"
#include "workflows/session_report.h"
#include "workflows/store.h"
#include "workflows/timeline_window.h"

namespace aaco::cli {
namespace {

// The report's first sentence, of runs: a large trace would have to be read for it.
void print_verdict(const Context& context, const workflows::SessionOutcome& session) {
  if (session.manifest.kind != "run") return;
  const auto model = workflows::load_report(session.path, context.paths);
  if (!model) return context.print(fmt::format("verdict      none: {}\n", report::printable(model.error().message)));
  if (model->verdict.empty()) return;
  context.print(fmt::format("verdict      {}\n", report::printable(model->verdict)));
  if (!model->verdict_confidence.empty())
    context.print(fmt::format("confidence   {}\n", report::printable(model->verdict_confidence)));
}

// Sessions come from elsewhere too: nothing in them may steer the terminal.
void print_session(const Context& context, const workflows::SessionOutcome& session) {
  using report::printable;
  const auto& m = session.manifest;
  context.print(fmt::format(
      "session      {}\nkind         {}\nstate        {}\ncreated      {}\npath         {}\ntag          {}\nfingerprint  {}\n",
      printable(m.id.text), printable(m.kind), printable(m.state), core::iso8601_utc(m.created_realtime_ns), session.path,
      m.tag.empty() ? "-" : printable(m.tag), printable(m.fingerprint)));
  print_verdict(context, session);
  if (!m.warnings.empty()) context.print("\nwarnings\n");
  for (const auto& warning : m.warnings)
    context.print(fmt::format("  ! {}\n{}", printable(warning.message),
                              warning.remedy.empty() ? "" : "    hint: " + printable(warning.remedy) + "\n"));
  context.print("\naccounts\n");
  for (const auto& account : m.accounts) {
    context.print(fmt::format("  {:<16} {:<12} read {:>9}  kept {:>9}  dropped {:>7}  {}\n", printable(account.source),
                              to_string(account.state), account.read, account.kept, account.dropped_total(),
                              printable(account.reason)));
    for (const auto& [why, count] : account.dropped)
      context.print(fmt::format("  {:>16}   dropped {}: {}\n", "", count, printable(why)));
  }
  context.print("\nmetrics\n");
  for (const auto& metric : session.metrics)
    context.print(fmt::format("  {:<40} {:>20.6g} {}{}\n", printable(metric.id), metric.value, printable(metric.unit),
                              metric.ci95 ? fmt::format("  [{:.6g}, {:.6g}]", metric.ci95->low, metric.ci95->high) : ""));
}

// A table of one session, as 'aaco query' prints it.
void print_table(Context& context, const workflows::SessionOutcome& session, const std::string& table, bool json) {
  if (table.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
    return context.fail({core::ErrorCode::invalid_argument,
                         "'" + table + "' is not a valid table name",
                         "docs/formats/tables has a page per table",
                         {}});
  workflows::QueryRequest request;
  request.sql = fmt::format("SELECT * EXCLUDE (session_id, date) FROM {} WHERE session_id = '{}'", table,
                            core::replace_all(session.manifest.id.text, "'", "''"));
  request.width = context.width;
  request.format = json ? "json" : "table";
  const auto text = workflows::query(request, context.paths);
  if (!text) return context.fail(text.error());
  context.print(*text);
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("show", "Show a session's contents: state, verdict of a run, accounts, warnings, all metrics");
  auto name = std::make_shared<std::string>("latest");
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", *name, "Session")->capture_default_str();
  verb->add_flag("--json", *json, "Print JSON, in the same format as 'run --json'");
  auto table = std::make_shared<std::string>();
  verb->add_option("--table", *table, "Print this table of the session instead, for example work_rates or collective_calls");
  auto range = std::make_shared<std::string>();
  auto pixels = std::make_shared<std::int64_t>(1'000);
  verb->add_option("--timeline", *range,
                   "Show what each track of an imported trace did between two times, counted from the start of the trace")
      ->type_name("FROM..TO");
  verb->add_option("--pixels", *pixels, "With --timeline: width in pixels; events shorter than one are merged")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->callback([&context, name, json, range, pixels, table] {
    if (!range->empty()) {
      const auto timeline = workflows::session_timeline(*name, *range, *pixels, context.paths);
      if (!timeline) return context.fail(timeline.error());
      return *json ? context.print_json(to_json(*timeline)) : print_timeline(context, *timeline);
    }
    const auto session = workflows::load_session(*name, context.paths);
    if (!session) return context.fail(session.error());
    if (!table->empty()) return print_table(context, *session, *table, *json);
    if (*json) return context.print_json(session_json(*session));
    print_session(context, *session);
  });
}

}  // namespace aaco::cli
