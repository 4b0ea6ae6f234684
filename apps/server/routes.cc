#include <functional>
#include <map>

#include "server/handlers.h"

namespace aaco::server {
namespace {

constexpr std::string_view kJobsPath = "/api/v1/jobs/";
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

const std::vector<Parameter> kTimed = {
    {.name = "search", .description = "Part of the name or of the operator type; case is ignored"},
    {.name = "offset", .description = "Rows to skip, from the longest", .kind = Kind::whole, .high = kMaxOffset, .fallback = "0"},
    {.name = "limit", .description = "Maximum number of rows", .kind = Kind::whole, .low = 1, .high = 1000, .fallback = "100"}};

const std::vector<Parameter> kStretch = {
    {.name = "range",
     .description = "Stretch from the start of the trace, such as 12ms..15ms; an end left out is the trace's",
     .fallback = ".."},
    {.name = "pixels",
     .description = "Resolution: events shorter than the range divided by this are merged",
     .kind = Kind::whole,
     .low = 1,
     .high = 10'000,
     .fallback = "1000"}};

const std::vector<Parameter> kSampled = {
    {.name = "metric", .description = "Only this metric, such as cpu.use_ratio", .repeatable = true}};

const std::vector<Parameter> kLookedBack = {
    {.name = "metric", .description = "Metric id, or p50, p90, p99, mean", .required = true},
    {.name = "where",
     .description = "NAME=VALUE: only sessions with this model, backend, kind, tag or fingerprint",
     .repeatable = true},
    {.name = "last", .description = "Only the newest N values", .kind = Kind::whole, .low = 1, .high = kMaxOffset},
    {.name = "threshold", .description = "No alarm for changes smaller than this", .kind = Kind::ratio, .fallback = "2%"},
    {.name = "budget", .description = "Allowed degradation relative to the start of the current segment", .kind = Kind::ratio},
    {.name = "better", .description = "Which direction is better, if the metric does not define it: lower or higher"}};

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

const std::vector<Parameter> kListedJobs = {
    {.name = "state", .description = "Only jobs in this state: queued, running, done, failed, cancelled or interrupted"},
    {.name = "limit", .description = "Maximum number of jobs", .kind = Kind::whole, .low = 1, .high = 1000, .fallback = "100"}};

const std::vector<Parameter> kNoted = {
    {.name = "text", .description = "The note; empty: none"},
    {.name = "tags", .description = "Tags besides the one of the measurement", .repeatable = true}};

const std::vector<Parameter> kUploaded = {
    {.name = "name", .description = "Name of the file, such as trace.json", .required = true}};

const std::vector<Parameter> kEnveloped = {
    {.name = "device", .description = "Only runs on this device: id or alias"},
    {.name = "last", .description = "Only the newest N sessions", .kind = Kind::whole, .low = 1, .high = 100'000}};

const Parameter kHours = {.name = "hours",
                          .description = "Length of the window, from the newest data back",
                          .kind = Kind::whole,
                          .low = 1,
                          .high = 8760,
                          .fallback = "24"};
const std::vector<Parameter> kFleetAsked = {kHours};
const std::vector<Parameter> kHeatAsked = {
    {.name = "metric", .description = "Column of docs/formats/fleet.md, such as power_watts", .required = true}, kHours};

const std::vector<Parameter> kPredicted = {
    {.name = "model", .description = "Model: a name of configs/models.yaml or zoo:NAME", .required = true, .repeatable = true},
    {.name = "hardware", .description = "Device: id or alias", .required = true, .repeatable = true},
    {.name = "batch", .description = "Batch size", .kind = Kind::whole, .low = 1, .high = 1'000'000},
    {.name = "dtype", .description = "Data type for floating-point operations"}};

// The pattern of a verb's jobs; job_verbs() lives as long as the program, and so do these.
std::string_view verb_pattern(std::string_view verb) {
  static const auto kPatterns = [] {
    std::map<std::string, std::string, std::less<>> patterns;
    for (const workflows::JobVerb& one : workflows::job_verbs())
      patterns[std::string(one.name)] = std::string(kJobsPath) + std::string(one.name);
    return patterns;
  }();
  return kPatterns.find(verb)->second;
}

std::vector<Parameter> parameters_of(const workflows::JobVerb& verb) {
  std::vector<Parameter> parameters;
  for (const workflows::JobOption& option : verb.options) {
    Parameter one{.name = option.name, .description = option.description, .title = option.title};
    using enum workflows::JobValue;
    one.kind = option.value == whole   ? Kind::whole
               : option.value == ratio ? Kind::ratio
               : option.value == flag  ? Kind::flag
                                       : Kind::text;
    one.required = option.required;
    one.repeatable = option.repeatable;
    one.low = option.low;
    one.high = option.high;
    parameters.push_back(one);
  }
  return parameters;
}

constexpr std::string_view kPageType = "text/html", kTextType = "text/plain";

std::vector<Route> part_routes() {
  return {
      {"GET",
       "/api/v1/sessions/{session}/bottleneck",
       "Bottleneck, causes and anomalies, as 'aaco explain --json'",
       {},
       "Explanation",
       Lane::slow,
       false,
       &get_session_bottleneck},
      {"GET", "/api/v1/sessions/{session}/kernels", "GPU kernels, longest first; one row per node that launches it", kTimed,
       "KernelTimes", Lane::slow, false, &get_session_kernels},
      {"GET", "/api/v1/sessions/{session}/nodes", "Graph nodes, longest first", kTimed, "NodeTimes", Lane::slow, false,
       &get_session_nodes},
      {"GET", "/api/v1/sessions/{session}/timeline", "A stretch of a trace's timeline", kStretch, "Timeline", Lane::slow, false,
       &get_session_timeline},
      {"GET", "/api/v1/sessions/{session}/telemetry", "Telemetry over time, thinned for drawing", kSampled, "TelemetrySeries",
       Lane::slow, false, &get_session_telemetry},
  };
}

// Devices, predictions, baselines, and what clients may send besides jobs.
std::vector<Route> added_routes() {
  const std::string_view notes = "/api/v1/sessions/{session}/notes";
  return {
      {"GET", notes, "Note and tags of a session", {}, "Notes", Lane::quick, false, &get_notes},
      {"PUT", notes, "Replace note and tags of a session", kNoted, "Notes", Lane::quick, false, &put_notes},
      {"GET",
       "/api/v1/now",
       "This machine and the running sessions now, as 'aaco top --once --json'",
       {},
       "LiveView",
       Lane::quick,
       false,
       &get_now},
      {"POST", "/api/v1/uploads", "Send a file for a job of import, as application/octet-stream", kUploaded, "Upload",
       Lane::upload, false, nullptr, 201},
      {"GET",
       "/api/v1/hardware",
       "Devices, as 'aaco hardware ls --json'",
       {{.name = "kind", .description = "Only this kind: cpu, gpu or accelerator"}},
       "DeviceList",
       Lane::quick,
       false,
       &get_hardware},
      {"GET",
       "/api/v1/hardware/{device}",
       "One device, as 'aaco hardware show --json'",
       {},
       "Device",
       Lane::quick,
       false,
       &get_device},
      {"GET", "/api/v1/fleet", "Nodes, findings and stragglers of the fleet, as 'aaco fleet status' and 'health --json'",
       kFleetAsked, "Fleet", Lane::fleet, false, &get_fleet},
      {"GET", "/api/v1/fleet/heat", "One metric of all nodes over time", kHeatAsked, "FleetHeat", Lane::slow, false,
       &get_fleet_heat},
      {"GET", "/api/v1/fleet/nodes/{node}", "One node: findings, metrics over time, sessions", kFleetAsked, "FleetNode",
       Lane::slow, false, &get_fleet_node},
      {"GET", "/api/v1/roofline", "What runs reached of each device, as 'aaco roofline --json'", kEnveloped, "Roofline",
       Lane::slow, false, &get_roofline},
      {"GET", "/api/v1/roofline.html", "The roofline of one device as a page", kEnveloped, kPageType, Lane::slow, false,
       &get_roofline_page},
      {"GET", "/api/v1/predictions", "Predictions of models on devices, as 'aaco compare --json'", kPredicted, "Predictions",
       Lane::slow, false, &get_predictions},
      {"GET",
       "/api/v1/baselines",
       "Baselines, as 'aaco baseline ls --json'",
       {},
       "BaselineList",
       Lane::quick,
       false,
       &get_baselines},
  };
}

std::vector<Route> fixed_routes() {
  return {
      {"GET", "/", "The dashboard", {}, kPageType, Lane::quick, true, &get_dashboard},
      {"GET",
       "/metrics",
       "Metrics for Prometheus: newest result of each workload, this machine, running sessions, jobs, cost of this server",
       {},
       kTextType,
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
      {"GET",
       "/api/v1/sessions/{session}/report.html",
       "The report as a page",
       {},
       kPageType,
       Lane::slow,
       false,
       &get_session_page},
      {"GET", "/api/v1/diff", "Comparison of two sides, as 'aaco diff --json --no-store'", kSides, "Verdict", Lane::slow, false,
       &get_diff},
      {"GET", "/api/v1/diff.html", "The comparison as a page", kSides, kPageType, Lane::slow, false, &get_diff_page},
      {"GET", "/api/v1/history", "A metric over the sessions, as 'aaco history --json'", kLookedBack, "History", Lane::slow,
       false, &get_history},
      {"POST", "/api/v1/query", "SQL over all sessions, read-only, with limits", kQueried, "QueryRows", Lane::query, false,
       &post_query},
      {"GET",
       "/api/v1/live",
       "Server-sent events: this machine and the running sessions, ten times per second",
       {},
       "text/event-stream",
       Lane::stream,
       false,
       nullptr},
      {"GET", "/api/v1/jobs", "Jobs, newest first", kListedJobs, "JobList", Lane::quick, false, &get_jobs},
      {"GET", "/api/v1/jobs/{job}", "One job", {}, "Job", Lane::quick, false, &get_job},
      {"GET", "/api/v1/jobs/{job}/log", "What the job wrote to standard error", {}, kTextType, Lane::quick, false, &get_job_log},
      {"GET",
       "/api/v1/jobs/{job}/result",
       "What the command prints with --json",
       {},
       "JobResult",
       Lane::quick,
       false,
       &get_job_result},
      {"POST",
       "/api/v1/jobs/{job}/cancel",
       "Cancel a job that waits or runs; the body is {}",
       {},
       "Job",
       Lane::quick,
       false,
       &post_job_cancel},
      {"GET", "/api/v1/policy", "What clients may start", {}, "Policy", Lane::quick, false, &get_policy},
  };
}

}  // namespace

std::vector<Route> all_routes() {
  std::vector<Route> routes = fixed_routes();
  for (auto& more : {part_routes(), added_routes()}) routes.insert(routes.end(), more.begin(), more.end());
  for (const workflows::JobVerb& verb : workflows::job_verbs())
    routes.push_back(
        {"POST", verb_pattern(verb.name), verb.summary, parameters_of(verb), "Job", Lane::quick, false, &post_job, 202});
  return routes;
}

}  // namespace aaco::server
