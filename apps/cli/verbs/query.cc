#include "workflows/query.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/options/time_with_unit.h"
#include "cli/stop_at_once.h"
#include "workflows/push.h"
#include "workflows/recipes.h"

namespace aaco::cli {
namespace {

void query_on_fleet(Context& context, const workflows::QueryRequest& request, const std::string& on) {
  const auto rows = workflows::query_fleet(request, on, make_services(context));
  if (!rows) return context.fail(rows.error());
  for (const std::string& server : rows->missing) context.note("warning: " + server + " cannot be reached: its rows are missing");
  context.print(rows->text);
}

struct RecipeOptions {
  std::string id, session;
  bool list = false;
};

void list_recipes(Context& context) {
  const auto recipes = workflows::load_recipes(make_services(context));
  if (!recipes) return context.fail(recipes.error());
  for (const workflows::Recipe& one : *recipes) context.print(fmt::format("{:<26} {}\n", one.id, one.about));
}

core::Status choose_sql(const RecipeOptions& recipe, bool on_fleet, workflows::QueryRequest& request, const Context& context) {
  if (request.sql.empty() == recipe.id.empty())
    return core::fail(core::ErrorCode::invalid_argument,
                      request.sql.empty() ? "no SQL statement" : "SQL and --recipe cannot be combined",
                      "pass one SELECT statement or --recipe ID");
  if (recipe.id.empty() && !recipe.session.empty())
    return core::fail(core::ErrorCode::invalid_argument, "--session requires --recipe", "write WHERE session_id = '...'");
  if (recipe.id.empty()) return {};
  const auto dialect = on_fleet ? tracelake::SqlDialect::clickhouse : tracelake::SqlDialect::duckdb;
  AACO_ASSIGN(request.sql, workflows::recipe_sql(recipe.id, recipe.session, dialect, make_services(context)));
  return {};
}

}  // namespace

void add_query(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("query", "Run SQL over all sessions (docs/how_to/query_recipes.md)");
  auto request = std::make_shared<workflows::QueryRequest>();
  verb->add_option("sql", request->sql,
                   "SELECT statement; tables: sessions, inference_iters, node_executions, ... (see 'SHOW TABLES')");
  verb->add_option("-f,--format", request->format, "Output format")
      ->check(CLI::IsMember({"table", "csv", "json", "parquet"}))
      ->capture_default_str();
  verb->add_flag_callback(
      "--json", [request] { request->format = "json"; }, "Same as --format json");
  verb->add_option("-o,--output", request->output, "Output file (required for parquet)");
  auto on = std::make_shared<std::string>();
  verb->add_option("--on", *on, "Run it on ClickHouse instead: clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml")
      ->type_name("FLEET");
  auto recipe = std::make_shared<RecipeOptions>();
  verb->add_option("--recipe", recipe->id, "Run this named query instead of SQL")->type_name("ID");
  verb->add_option("--session", recipe->session, "Of a recipe: only this session");
  verb->add_flag("--recipes", recipe->list, "List the named queries");
  auto timeout = std::make_shared<std::string>("10min");
  verb->add_option("--timeout", *timeout, "Stop a query that takes longer (0: no limit)")
      ->type_name("TIME")
      ->capture_default_str();
  verb->footer(
      "Example:\n  aaco query \"SELECT session_id, median(duration_ns)/1e6 AS ms FROM inference_iters WHERE phase='measure' "
      "GROUP BY 1\"\n  aaco query --recipe kernels --session latest");
  verb->callback([&context, request, timeout, on, recipe] {
    stop_at_once();
    if (recipe->list) return list_recipes(context);
    if (const auto chosen = choose_sql(*recipe, !on->empty(), *request, context); !chosen) return context.fail(chosen.error());
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
