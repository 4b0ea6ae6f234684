#include "workflows/push.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

constexpr std::int64_t kShortestKeepNs = std::int64_t{86'400} * 1'000'000'000;

std::string push_text(const workflows::PushReport& report) {
  std::string text;
  for (const auto& one : report.pushed) {
    if (one.already_there)
      text += fmt::format("{}: already there\n", one.session_id);
    else
      text += fmt::format("{}: {} rows in {} tables{}\n", one.session_id, core::format_count(static_cast<double>(one.rows)),
                          one.tables, one.resumed_tables > 0 ? fmt::format(", {} of them sent earlier", one.resumed_tables) : "");
    if (!one.no_archive.empty())
      text += fmt::format("{}: its bundle was not sent, so diff, gate, explain and roofline cannot read it with --on: {}\n",
                          one.session_id, one.no_archive);
  }
  if (const auto& rows = report.telemetry; rows.rows_sent + rows.rows_there > 0)
    text += fmt::format("{} rows of telemetry{}\n", core::format_count(static_cast<double>(rows.rows_sent)),
                        rows.rows_there > 0
                            ? fmt::format(", {} were already there", core::format_count(static_cast<double>(rows.rows_there)))
                            : "");
  if (report.expired.days > 0) text += fmt::format("{} days of telemetry deleted\n", report.expired.days);
  for (const std::string& id : report.expired.sessions) text += fmt::format("{}: deleted from the fleet\n", id);
  return text;
}

}  // namespace

void add_push(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("push", "Copy sessions or fleet telemetry to ClickHouse (docs/how_to/watch_a_fleet.md)");
  auto request = std::make_shared<workflows::PushRequest>();
  auto watch = std::make_shared<std::string>();
  auto keep = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", request->sessions, "Sessions: id, path, latest or tag:NAME");
  verb->add_option("--to", request->to, "clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->required()
      ->type_name("FLEET");
  verb->add_flag("--all", request->all, "All complete sessions");
  verb->add_option("--watch", *watch, "Look for new sessions at this interval until stopped")
      ->type_name("TIME")
      ->expected(0, 1)
      ->default_str("10s");
  verb->add_option("--telemetry", request->telemetry, "Folder of fleet telemetry (docs/formats/fleet.md)")->type_name("FOLDER");
  verb->add_option("--keep", *keep,
                   "Then delete from the fleet: days of telemetry that ended more than TIME ago, sessions created before")
      ->type_name("TIME");
  verb->add_flag("--json", *json, "Print JSON");
  verb->footer(
      "A session is visible there once all its tables are complete, and once, however often it is pushed. An interrupted push\n"
      "continues where it stopped. User and password: AACO_CLICKHOUSE_USER and AACO_CLICKHOUSE_PASSWORD, or fleet.yaml.\n"
      "Examples:\n  aaco push latest --to clickhouse://localhost:8123/aaco\n  aaco push --watch --to fleet\n"
      "  aaco query --on fleet \"SELECT kind, count(*) AS n FROM sessions GROUP BY kind\"");
  CLI::Option* watched = verb->get_option("--watch");
  verb->callback([&context, request, watch, keep, json, watched] {
    if (!keep->empty()) {
      const auto age = time_with_unit(*keep, "--keep", "90d");
      if (!age) return context.fail(age.error());
      if (*age < kShortestKeepNs)
        return context.fail(
            {core::ErrorCode::invalid_argument, "invalid value '" + *keep + "' for '--keep': expected 1d or more", "", {}});
      request->keep = core::Nanoseconds(*age);
    }
    if (watched->count() > 0) {
      const auto interval = time_with_unit(watch->empty() ? "10s" : *watch, "--watch", "10s");
      if (!interval) return context.fail(interval.error());
      request->watch = core::Nanoseconds(*interval);
    }
    const auto report = workflows::push(*request, make_services(context));
    context.progress("");
    if (!report) return context.fail(report.error());
    if (*json)
      context.print_json(workflows::to_json(*report));
    else
      context.print(push_text(*report));
    for (const auto& one : report->failed) {
      context.note(fmt::format("{} was not pushed and remains in the lake; the next push continues it", one.session_id));
      context.fail(one.error);
    }
  });
}

}  // namespace aaco::cli
