#include "workflows/query.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
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
  verb->footer(
      "Example:\n  aaco query \"SELECT session_id, median(duration_ns)/1e6 AS ms FROM inference_iters WHERE phase='measure' "
      "GROUP BY 1\"");
  verb->callback([&context, request] {
    stop_at_once();
    request->width = context.width;
    const auto text = workflows::query(*request, context.paths);
    if (!text) return context.fail(text.error());
    context.print(*text);
  });
}

}  // namespace aaco::cli
