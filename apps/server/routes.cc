#include "server/handlers.h"

namespace aaco::server {
namespace {

constexpr std::int64_t kMaxOffset = 1'000'000'000;

const std::vector<Parameter> kSides = {
    {.name = "a", .description = "Side A (baseline): a session, several as ID,ID,..., or tag:NAME", .required = true},
    {.name = "b", .description = "Side B (candidate), in the same form", .required = true},
    {.name = "threshold", .description = "Treat smaller changes as equivalent", .kind = Kind::ratio, .fallback = "5%"},
    {.name = "metric", .description = "Metrics to compare, separated by commas; the first one decides the verdict"},
    {.name = "force", .description = "Compare even if the sessions are not comparable", .kind = Kind::flag}};

const std::vector<Parameter> kListed = {
    {.name = "search", .description = "Part of the id, the tag or the workload; case is ignored"},
    {.name = "tag", .description = "Only sessions with this tag"},
    {.name = "kind", .description = "Only sessions of this kind, such as run, record or import"},
    {.name = "state", .description = "Only sessions in this state, such as complete or incomplete"},
    {.name = "offset",
     .description = "Sessions to skip, from the newest",
     .kind = Kind::whole,
     .high = kMaxOffset,
     .fallback = "0"},
    {.name = "limit",
     .description = "Maximum number of sessions",
     .kind = Kind::whole,
     .low = 1,
     .high = 1000,
     .fallback = "100"}};

const std::vector<Parameter> kLookedBack = {
    {.name = "metric", .description = "Metric id, or p50, p90, p99, mean", .required = true},
    {.name = "where",
     .description = "NAME=VALUE: only sessions with this model, backend, kind, tag or fingerprint",
     .repeatable = true},
    {.name = "last", .description = "Only the newest N values", .kind = Kind::whole, .low = 1, .high = kMaxOffset},
    {.name = "threshold", .description = "No alarm for changes smaller than this", .kind = Kind::ratio, .fallback = "2%"},
    {.name = "budget", .description = "Allowed degradation relative to the start of the current segment", .kind = Kind::ratio}};

const std::vector<Parameter> kQueried = {
    {.name = "sql", .description = "One SELECT statement; tables as in 'aaco query'", .required = true},
    {.name = "max_rows",
     .description = "Rows to return at most",
     .kind = Kind::whole,
     .low = 1,
     .high = 100'000,
     .fallback = "10000"},
    {.name = "timeout_s",
     .description = "Seconds until the query is stopped",
     .kind = Kind::whole,
     .low = 1,
     .high = 60,
     .fallback = "10"}};

}  // namespace

std::vector<Route> all_routes() {
  constexpr std::string_view kPage = "text/html", kText = "text/plain";
  return {
      {"GET", "/", "The dashboard", {}, kPage, Lane::quick, true, &get_dashboard},
      {"GET",
       "/metrics",
       "Metrics for Prometheus: newest result of each workload, cost of this server",
       {},
       kText,
       Lane::quick,
       false,
       &get_prometheus},
      {"GET",
       "/api/v1/openapi.json",
       "This interface as an OpenAPI 3.1 document",
       {},
       "OpenApi",
       Lane::quick,
       false,
       &get_openapi},
      {"GET", "/api/v1/sessions", "Sessions, newest first", kListed, "SessionList", Lane::quick, false, &get_sessions},
      {"GET",
       "/api/v1/sessions/{session}",
       "One session with its metrics, as 'aaco show --json'",
       {},
       "Session",
       Lane::quick,
       false,
       &get_session},
      {"GET",
       "/api/v1/sessions/{session}/metrics",
       "The metrics of a session",
       {},
       "SessionMetrics",
       Lane::quick,
       false,
       &get_session_metrics},
      {"GET",
       "/api/v1/sessions/{session}/report",
       "The report, as 'aaco report --json'",
       {},
       "Report",
       Lane::slow,
       false,
       &get_session_report},
      {"GET", "/api/v1/sessions/{session}/report.html", "The report as a page", {}, kPage, Lane::slow, false, &get_session_page},
      {"GET", "/api/v1/diff", "Comparison of two sides, as 'aaco diff --json --no-store'", kSides, "Verdict", Lane::slow, false,
       &get_diff},
      {"GET", "/api/v1/diff.html", "The comparison as a page", kSides, kPage, Lane::slow, false, &get_diff_page},
      {"GET", "/api/v1/history", "A metric over the sessions, as 'aaco history --json'", kLookedBack, "History", Lane::slow,
       false, &get_history},
      {"POST", "/api/v1/query", "SQL over all sessions, read-only, with limits", kQueried, "QueryRows", Lane::slow, false,
       &post_query},
  };
}

}  // namespace aaco::server
