#include "workflows/query.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/stop_at_once.h"
#include "workflows/push.h"

namespace aaco::cli {
namespace {

void query_on_fleet(Context& context, const workflows::QueryRequest& request, const std::string& on) {
  const auto rows = workflows::query_fleet(request, on, make_services(context));
  if (!rows) return context.fail(rows.error());
  for (const std::string& server : rows->missing) context.note("warning: " + server + " cannot be reached: its rows are missing");
  context.print(rows->text);
}

}  // namespace

void add_query(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("query", "Run SQL over all sessions (docs/how_to/query_recipes.md)");
  auto request = std::make_shared<workflows::QueryRequest>();
  verb->add_option("sql", request->sql,
                   "SELECT statement; tables: sessions, inference_iters, node_executions, ... (see 'SHOW TABLES')")
      ->required();
  verb->add_option("-f,--format", request->format, "Output format")
      ->check(CLI::IsMember({"table", "csv", "json", "parquet"}))
      ->capture_default_str();
  verb->add_flag_callback(
      "--json", [request] { request->format = "json"; }, "Same as --format json");
  verb->add_option("-o,--output", request->output, "Output file (required for parquet)");
  auto on = std::make_shared<std::string>();
  verb->add_option("--on", *on, "Run it on ClickHouse instead: clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->type_name("FLEET");
  auto timeout = std::make_shared<std::string>("10min");
  verb->add_option("--timeout", *timeout, "Stop a query that takes longer (0: no limit)")
      ->type_name("TIME")
      ->capture_default_str();
  verb->footer(
      "Example:\n  aaco query \"SELECT session_id, median(duration_ns)/1e6 AS ms FROM inference_iters WHERE phase='measure' "
      "GROUP BY 1\"");
  verb->callback([&context, request, timeout, on] {
    stop_at_once();
    request->width = context.width;
    const auto limit = time_with_unit(*timeout, "--timeout", "30s");
    if (!limit) return context.fail(limit.error());
    if (*limit > 0) request->time_limit = core::Nanoseconds(*limit);
    if (!on->empty()) return query_on_fleet(context, *request, *on);
    const auto text = workflows::query(*request, context.paths);
    if (!text) return context.fail(text.error());
    context.print(*text);
  });
}

}  // namespace aaco::cli
