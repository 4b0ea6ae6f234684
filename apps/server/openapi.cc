#include "core/strings.h"
#include "server/handlers.h"

namespace aaco::server {
namespace {

using core::Json;

// Schemas of the answers. Documents with a format of their own are described in docs/formats/.
constexpr std::string_view kSchemas = R"({
  "Error": {"type": "object", "required": ["schema_version", "error"], "properties": {
    "schema_version": {"type": "integer"},
    "error": {"type": "object", "required": ["status", "message"], "properties": {
      "status": {"type": "integer"}, "message": {"type": "string"}, "hint": {"type": "string"}}}}},
  "SessionLine": {"type": "object", "required": ["id", "path", "created", "kind", "state", "tag", "what", "p50_ns",
    "tags", "note"], "properties": {
    "id": {"type": "string"}, "path": {"type": "string"}, "created": {"type": "string"}, "kind": {"type": "string"},
    "state": {"type": "string"}, "tag": {"type": "string"}, "what": {"type": "string"}, "p50_ns": {"type": ["number", "null"]},
    "tags": {"type": "array", "items": {"type": "string"}}, "note": {"type": "string"}}},
  "SessionList": {"type": "object", "required": ["schema_version", "root", "found", "offset", "sessions", "tags"], "properties": {
    "schema_version": {"type": "integer"}, "root": {"type": "string"}, "found": {"type": "integer"}, "offset": {"type": "integer"},
    "sessions": {"type": "array", "items": {"$ref": "#/components/schemas/SessionLine"}},
    "tags": {"type": "array", "items": {"type": "object", "required": ["tag", "count"], "properties": {
      "tag": {"type": "string"}, "count": {"type": "integer"}}}}}},
  "Metrics": {"type": "object", "description": "By metric id: value, unit and interval, or a list of them by device"},
  "Session": {"type": "object", "description": "docs/formats/cli_json.md",
    "required": ["schema_version", "session", "outcome", "account", "warnings", "metrics"], "properties": {
    "schema_version": {"type": "integer"}, "session": {"type": "object"}, "outcome": {"type": "object"},
    "account": {"type": "array"}, "warnings": {"type": "array"}, "metrics": {"$ref": "#/components/schemas/Metrics"}}},
  "SessionMetrics": {"type": "object", "required": ["schema_version", "session", "metrics"], "properties": {
    "schema_version": {"type": "integer"}, "session": {"type": "string"}, "metrics": {"$ref": "#/components/schemas/Metrics"}}},
  "TimeShare": {"type": "object", "required": ["name", "total_ns", "share_ratio", "count"], "properties": {
    "name": {"type": "string"}, "total_ns": {"type": "number"}, "share_ratio": {"type": "number"}, "count": {"type": "integer"}}},
  "KernelTimes": {"type": "object", "required": ["schema_version", "session", "whole", "found", "offset", "kernels"],
    "properties": {"schema_version": {"type": "integer"}, "session": {"type": "string"}, "found": {"type": "integer"},
    "whole": {"enum": ["iteration", "trace", "kernels", "threads", "active"]}, "offset": {"type": "integer"},
    "kernels": {"type": "array", "items": {"$ref": "#/components/schemas/TimeShare"}}}},
  "NodeTimes": {"type": "object", "required": ["schema_version", "session", "whole", "found", "offset", "nodes"],
    "properties": {"schema_version": {"type": "integer"}, "session": {"type": "string"}, "found": {"type": "integer"},
    "whole": {"enum": ["iteration", "trace", "kernels", "threads", "active"]}, "offset": {"type": "integer"},
    "nodes": {"type": "array", "items": {"$ref": "#/components/schemas/TimeShare"}}}},
  "TelemetrySeries": {"type": "object", "required": ["schema_version", "session", "series"], "properties": {
    "schema_version": {"type": "integer"}, "session": {"type": "string"}, "series": {"type": "array", "items": {"type": "object",
    "required": ["metric", "unit", "time_ns", "value"], "properties": {"metric": {"type": "string"}, "unit": {"type": "string"},
    "time_ns": {"type": "array", "items": {"type": "integer"}}, "value": {"type": "array", "items": {"type": ["number", "null"]}}}}}}},
  "Explanation": {"type": "object", "description": "docs/formats/cli_json.md", "required": ["schema_version", "session",
    "bottleneck"], "properties": {"schema_version": {"type": "integer"}, "session": {"type": "string"},
    "bottleneck": {"type": ["object", "null"]}}},
  "Timeline": {"type": "object", "description": "docs/formats/ranges.md", "required": ["schema_version", "session"]},
  "Report": {"type": "object", "description": "docs/formats/report.md", "required": ["schema_version"]},
  "Verdict": {"type": "object", "description": "docs/formats/verdict.md", "required": ["schema_version", "verdict", "comparable"]},
  "History": {"type": "object", "description": "docs/formats/history.md", "required": ["schema_version", "metric", "series"]},
  "QueryRows": {"type": "object", "required": ["schema_version", "truncated", "rows"], "properties": {
    "schema_version": {"type": "integer"}, "truncated": {"type": "boolean"},
    "rows": {"type": "array", "items": {"type": "object"}}}},
  "Notes": {"type": "object", "required": ["schema_version", "session", "text", "tags", "changed"], "properties": {
    "schema_version": {"type": "integer"}, "session": {"type": "string"}, "text": {"type": "string"},
    "tags": {"type": "array", "items": {"type": "string"}}, "changed": {"type": ["string", "null"]}}},
  "LiveView": {"type": "object", "description": "docs/formats/live.md", "required": ["schema_version", "replay", "machine",
    "processes", "sessions"], "properties": {"schema_version": {"type": "integer"}, "replay": {"type": ["string", "null"]},
    "machine": {"type": "object"}, "processes": {"type": "array", "items": {"type": "object"}},
    "sessions": {"type": "array", "items": {"type": "object"}}}},
  "Upload": {"type": "object", "required": ["schema_version", "id", "name", "bytes"], "properties": {
    "schema_version": {"type": "integer"}, "id": {"type": "string"}, "name": {"type": "string"}, "bytes": {"type": "integer"}}},
  "DeviceList": {"type": "object", "required": ["schema_version", "devices"], "properties": {
    "schema_version": {"type": "integer"}, "devices": {"type": "array", "items": {"type": "object", "required": ["id"]}}}},
  "Device": {"type": "object", "required": ["schema_version", "device"], "properties": {
    "schema_version": {"type": "integer"}, "device": {"type": "object", "required": ["id"]}}},
  "Roofline": {"type": "object", "description": "docs/formats/envelope.md", "required": ["schema_version", "devices"], "properties": {
    "schema_version": {"type": "integer"}, "devices": {"type": "array", "items": {"type": "object"}}}},
  "Fleet": {"type": "object", "description": "docs/formats/fleet.md", "required": ["schema_version", "nodes", "status", "findings",
    "stragglers", "metrics"], "properties": {"schema_version": {"type": "integer"}, "nodes": {"type": "integer"},
    "status": {"type": "object"}, "findings": {"type": "array", "items": {"type": "object", "required": ["kind", "node"]}},
    "stragglers": {"type": "array", "items": {"type": "object"}}, "metrics": {"type": "array", "items": {"type": "object"}}}},
  "FleetHeat": {"type": "object", "description": "judged: the findings are there, and nodes are sorted by them; else by name. /api/v1/fleet works them out",
    "required": ["schema_version", "metric", "metrics", "judged", "first_unix_ns", "bin_ns", "bins", "nodes", "severity",
    "values"], "properties": {"schema_version": {"type": "integer"}, "metric": {"type": "string"}, "bins": {"type": "integer"},
    "metrics": {"type": "array", "items": {"type": "object"}}, "judged": {"type": "boolean"},
    "nodes": {"type": "array", "items": {"type": "string"}}, "severity": {"type": "array", "items": {"type": "number"}},
    "values": {"type": "array", "items": {"type": "array", "items": {"type": ["number", "null"]}}}}},
  "FleetNode": {"type": "object", "description": "judged: the findings are there. /api/v1/fleet works them out",
    "required": ["schema_version", "node", "judged", "findings", "series", "sessions"], "properties": {
    "schema_version": {"type": "integer"}, "node": {"type": "string"}, "judged": {"type": "boolean"}, "findings": {"type": "array", "items": {"type": "object"}},
    "series": {"type": "array", "items": {"type": "object", "required": ["metric", "values"]}},
    "sessions": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},
      "command": {"type": "string", "description": "of a session in the fleet's engine only: what explains it"}}}}}},
  "Predictions": {"type": "object", "description": "docs/formats/predictions.md", "required": ["schema_version", "points"], "properties": {
    "schema_version": {"type": "integer"}, "points": {"type": "array", "items": {"type": "object"}}}},
  "BaselineList": {"type": "object", "description": "docs/formats/baseline.md", "required": ["schema_version", "folder", "baselines"],
    "properties": {"schema_version": {"type": "integer"}, "folder": {"type": "string"},
      "baselines": {"type": "array", "items": {"type": "object", "required": ["path"]}}}},
  "Job": {"type": "object", "required": ["schema_version", "id", "verb", "state", "command", "measures", "created", "started", "ended",
    "exit_code", "session", "error", "progress", "process_id"], "properties": {
    "schema_version": {"type": "integer"}, "id": {"type": "string"}, "verb": {"type": "string"},
    "state": {"enum": ["queued", "running", "done", "failed", "cancelled", "interrupted"]},
    "command": {"type": "array", "items": {"type": "string"}}, "measures": {"type": "boolean"}, "created": {"type": "string"},
    "started": {"type": ["string", "null"]}, "ended": {"type": ["string", "null"]}, "exit_code": {"type": ["integer", "null"]},
    "session": {"type": ["string", "null"]}, "error": {"type": ["object", "null"]}, "progress": {"type": ["string", "null"]},
    "process_id": {"type": ["integer", "null"]}}},
  "JobList": {"type": "object", "required": ["schema_version", "found", "jobs"], "properties": {
    "schema_version": {"type": "integer"}, "found": {"type": "integer"},
    "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}}}},
  "JobResult": {"type": "object", "description": "docs/formats/cli_json.md"},
  "Policy": {"type": "object", "description": "configs/server.yaml", "required": ["schema_version", "verbs", "record_programs",
    "import_folders", "llm_servers"]},
  "OpenApi": {"type": "object", "required": ["openapi", "info", "paths"]}
})";

Json schema_of(const Parameter& parameter) {
  Json schema = Json::object();
  switch (parameter.kind) {
    case Kind::text: schema.set("type", "string"); break;
    case Kind::ratio: schema.set("type", "string").set("examples", Json::array({"5%"})); break;
    case Kind::flag: schema.set("type", "boolean"); break;
    case Kind::whole: schema.set("type", "integer").set("minimum", parameter.low).set("maximum", parameter.high); break;
  }
  if (!parameter.fallback.empty()) {
    const Json whole = parameter.kind == Kind::whole ? Json::parse(parameter.fallback).value_or(Json()) : Json();
    schema.set("default", whole.is_null() ? Json(parameter.fallback) : whole);
  }
  return parameter.repeatable ? Json::object({{"type", "array"}, {"items", std::move(schema)}}) : schema;
}

bool has_json_body(const Route& route) { return route.method != "GET" && route.lane != Lane::upload; }

Json parameters_of(const Route& route) {
  Json all = Json::array();
  for (std::string_view part : core::split(route.pattern, '/')) {
    if (!part.starts_with('{')) continue;
    all.push(Json::object({{"name", part.substr(1, part.size() - 2)},
                           {"in", "path"},
                           {"required", true},
                           {"description", part == "{job}"      ? "Id of a job"
                                           : part == "{device}" ? "Id or alias of a device"
                                           : part == "{node}"   ? "Name of a node"
                                                                : "An id, its beginning, latest or tag:NAME"},
                           {"schema", Json::object({{"type", "string"}})}}));
  }
  if (has_json_body(route)) return all;
  for (const Parameter& one : route.parameters) {
    Json parameter = Json::object({{"name", one.name}, {"in", "query"}, {"description", one.description}});
    if (one.required) parameter.set("required", true);
    all.push(parameter.set("schema", schema_of(one)));
  }
  return all;
}

Json content(std::string_view type, Json schema) {
  return Json::object({{std::string(type), Json::object({{"schema", std::move(schema)}})}});
}

Json schema_named(std::string_view name) { return Json::object({{"$ref", "#/components/schemas/" + std::string(name)}}); }

Json body_of(const Route& route) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& one : route.parameters) {
    Json schema = schema_of(one);
    if (!one.title.empty()) schema.set("title", one.title);
    if (!one.description.empty()) schema.set("description", one.description);
    properties.set(one.name, std::move(schema));
    if (one.required) required.push(one.name);
  }
  Json schema = Json::object({{"type", "object"},
                              {"required", std::move(required)},
                              {"properties", std::move(properties)},
                              {"additionalProperties", false}});
  return Json::object({{"required", true}, {"content", content("application/json", std::move(schema))}});
}

// "getSessionsReport" of "/api/v1/sessions/{session}/report".
std::string operation_id(const Route& route) {
  std::string id = core::to_lower(route.method);
  for (std::string_view part : core::split(route.pattern, '/')) {
    if (part.starts_with('{') || part == "api" || part == "v1") continue;
    bool upper = true;
    for (const char c : part) {
      if (c == '.') {
        upper = true;
        continue;
      }
      id += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
    const bool one = (part == "sessions" && route.pattern.find("{session}") != std::string_view::npos) ||
                     (part == "uploads" && route.method == "POST") ||
                     (part == "jobs" && (route.pattern.find("{job}") != std::string_view::npos || route.status == 202));
    if (one) id.pop_back();
  }
  if (route.pattern.ends_with("{device}")) id += "Device";
  return id == "get" ? "getDashboard" : id;
}

bool starts_job(const Route& route) { return route.status == 202; }
std::string verb_of(const Route& route) { return std::string(route.pattern.substr(route.pattern.rfind('/') + 1)); }

Json operation_of(const Route& route) {
  const bool page = route.answer.find('/') != std::string_view::npos;
  Json answer =
      page ? content(route.answer, Json::object({{"type", "string"}})) : content("application/json", schema_named(route.answer));
  Json answers = Json::object(
      {{std::to_string(route.status), Json::object({{"description", route.summary}, {"content", std::move(answer)}})}});
  answers.set("4XX", Json::object({{"description", "Refused: what was wrong, with a hint"},
                                   {"content", content("application/json", schema_named("Error"))}}));
  Json operation = Json::object({{"operationId", operation_id(route)}, {"summary", route.summary}});
  if (starts_job(route)) operation.set("description", "Starts a job that runs 'aaco " + verb_of(route) + "'");
  if (Json parameters = parameters_of(route); !parameters.items().empty()) operation.set("parameters", std::move(parameters));
  if (has_json_body(route)) operation.set("requestBody", body_of(route));
  if (route.lane == Lane::upload)
    operation.set("requestBody",
                  Json::object({{"required", true}, {"content", content("application/octet-stream", Json::object())}}));
  if (route.open) operation.set("security", Json::array());
  return operation.set("responses", std::move(answers));
}

}  // namespace

core::Result<Response> get_openapi(const Call&, const Site& site) {
  AACO_ASSIGN(Json schemas, Json::parse(kSchemas));
  Json paths = Json::object();
  const bool fleet = site.fleet != nullptr && site.fleet->has_fleet();
  for (const Route& route : site.routes) {
    if (!fleet && route.pattern.starts_with("/api/v1/fleet")) continue;
    Json operations = paths[route.pattern].is_object() ? paths[route.pattern] : Json::object();
    paths.set(route.pattern, operations.set(core::to_lower(route.method), operation_of(route)));
  }
  Json bearer = Json::object({{"type", "http"}, {"scheme", "bearer"}});
  return json_response(Json::object(
      {{"openapi", "3.1.0"},
       {"info", Json::object({{"title", "AACO"},
                              {"version", site.services.tool_version},
                              {"license", Json::object({{"name", "MIT"}, {"identifier", "MIT"}})},
                              {"description", "Sessions, reports, comparisons, metrics and jobs of one root of sessions."}})},
       {"servers", Json::array({Json::object({{"url", "/"}})})},
       {"security", Json::array({Json::object({{"bearer", Json::array()}})})},
       {"paths", std::move(paths)},
       {"components",
        Json::object({{"securitySchemes", Json::object({{"bearer", std::move(bearer)}})}, {"schemas", std::move(schemas)}})}}));
}

}  // namespace aaco::server
