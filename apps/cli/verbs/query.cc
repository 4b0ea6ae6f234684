#include "workflows/query.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/time_with_unit.h"
#include "cli/stop_at_once.h"

namespace aaco::cli {

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
  auto timeout = std::make_shared<std::string>("10min");
  verb->add_option("--timeout", *timeout, "Stop a query that takes longer (0: no limit)")
      ->type_name("TIME")
      ->capture_default_str();
  verb->footer(
      "Example:\n  aaco query \"SELECT session_id, median(duration_ns)/1e6 AS ms FROM inference_iters WHERE phase='measure' "
      "GROUP BY 1\"");
  verb->callback([&context, request, timeout] {
    stop_at_once();
    request->width = context.width;
    const auto limit = time_with_unit(*timeout, "--timeout", "30s");
    if (!limit) return context.fail(limit.error());
    if (*limit > 0) request->time_limit = core::Nanoseconds(*limit);
    const auto text = workflows::query(*request, context.paths);
    if (!text) return context.fail(text.error());
    context.print(*text);
  });
}

}  // namespace aaco::cli
