#include "server/route.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "core/strings.h"
#include "server/handlers.h"
#include "server/prometheus.h"
#include "server/target.h"
#include "server/telemetry.h"
#include "server/token_file.h"

namespace aaco::server {
namespace {

Request request_of(const std::string& method, const std::string& target, const std::string& body = "",
                   const std::string& type = "") {
  Request request;
  request.method = method;
  auto parsed = parse_target(target);
  request.path = parsed->path;
  request.parameters = parsed->parameters;
  request.body = body;
  request.has_body = !body.empty();
  if (!type.empty()) request.headers.emplace_back("content-type", type);
  return request;
}

int status(const std::string& method, const std::string& target, const std::string& body = "") {
  static const auto routes = all_routes();
  const auto match = find_route(routes, request_of(method, target, body));
  return match ? 200 : match.error().status;
}

int posted(const std::string& body, const std::string& type = "application/json") {
  const auto routes = all_routes();
  const Request request = request_of("POST", "/api/v1/query", body, type);
  const auto match = find_route(routes, request);
  if (!match) return match.error().status;
  const auto fields = body_parameters(*match->route, request);
  return fields ? 200 : fields.error().status;
}

int posted_run(const std::string& body) {
  static const auto routes = all_routes();
  const Request request = request_of("POST", "/api/v1/jobs/run", body, "application/json");
  const auto match = find_route(routes, request);
  if (!match) return match.error().status;
  const auto fields = body_parameters(*match->route, request);
  return fields ? static_cast<int>(fields->size()) : fields.error().status;
}

TEST(BodyParameters, ListsAreSeveralValuesOfOneParameter) {
  EXPECT_EQ(posted_run(R"({"model":"mlp"})"), 1);
  EXPECT_EQ(posted_run(R"({"model":"mlp","dim":["a=1","b=2"],"telemetry":true})"), 4);
}

TEST(BodyParameters, OfAJobAreChecked) {
  for (const char* body :
       {R"({})", R"({"model":["a","b"]})", R"({"model":[["a"]]})", R"({"model":[null]})", R"({"model":"a","batch":0})",
        R"({"model":"a","precision":"1"})", R"({"model":"a","telemetry":"maybe"})", R"({"model":"a","ort-lib":"/x"})"})
    EXPECT_EQ(posted_run(body), 400) << body;
}

TEST(BodyParameters, ANameIsAString) {
  for (const char* body : {R"({"model":5})", R"({"model":true})", R"({"model":"a","dim":[1]})"})
    EXPECT_EQ(posted_run(body), 400) << body;
  EXPECT_EQ(posted("{\"sql\":1}"), 400);
  EXPECT_EQ(posted_run(R"({"model":"5","batch":8,"threads":"2"})"), 3);
}

TEST(BodyParameters, AKeyTwiceIsRefused) {
  EXPECT_EQ(posted(R"({"sql":"SELECT 1"})"), 200);
  for (const char* body : {R"({"sql":"SELECT 1","sql":"SELECT 1"})", R"({"sql":"SELECT 1","s\u0071l":"SELECT 2"})"})
    EXPECT_EQ(posted(body), 400) << body;
  EXPECT_EQ(posted_run(R"({"model":"a","dim":["a=1"],"dim":["b=2"]})"), 400);
}

TEST(FindRoute, EveryJobVerbHasOne) {
  const auto routes = all_routes();
  for (const workflows::JobVerb& verb : workflows::job_verbs()) {
    const auto match = find_route(routes, request_of("POST", "/api/v1/jobs/" + std::string(verb.name), "{}", "application/json"));
    ASSERT_TRUE(match) << verb.name;
    EXPECT_EQ(match->call.pattern, "/api/v1/jobs/" + std::string(verb.name));
  }
}

TEST(FindRoute, KnownPaths) {
  for (const char* target : {"/", "/metrics", "/api/v1/sessions", "/api/v1/sessions/latest", "/api/v1/sessions/x/report.html",
                             "/api/v1/diff?a=x&b=y&threshold=3%25&force=true", "/api/v1/history?metric=p50&where=a=b&where=c=d"})
    EXPECT_EQ(status("GET", target), 200) << target;
}
TEST(FindRoute, HeadIsGet) { EXPECT_EQ(status("HEAD", "/api/v1/sessions"), 200); }
TEST(FindRoute, UnknownPaths) {
  for (const char* target : {"/x", "/api", "/api/v2/sessions", "/api/v1/sessions/x/y", "/etc/passwd"})
    EXPECT_EQ(status("GET", target), 404) << target;
}
TEST(FindRoute, OtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"})
    EXPECT_EQ(status(method, "/api/v1/sessions"), 405) << method;
  EXPECT_EQ(status("GET", "/api/v1/query"), 405);
}
TEST(FindRoute, RefusesParameters) {
  for (const char* target :
       {"/api/v1/sessions?x=1", "/api/v1/sessions?limit=0", "/api/v1/sessions?limit=1001", "/api/v1/sessions?limit=1e2",
        "/api/v1/sessions?tag=a&tag=b", "/api/v1/diff?a=x", "/api/v1/diff?a=x&b=y&threshold=0", "/api/v1/diff?a=x&b=y&force=1",
        "/api/v1/history", "/api/v1/sessions?offset=-1"})
    EXPECT_EQ(status("GET", target), 400) << target;
}
TEST(FindRoute, RefusesBodyOfGet) { EXPECT_EQ(status("GET", "/api/v1/sessions", "{}"), 400); }
TEST(FindRoute, RefusesParametersInThePathOfAPost) { EXPECT_EQ(status("POST", "/api/v1/query?sql=x", "{}"), 400); }
TEST(FindRoute, Fallbacks) {
  const auto routes = all_routes();
  const auto match = find_route(routes, request_of("GET", "/api/v1/sessions?offset=7"));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->call.whole("offset"), 7);
  EXPECT_EQ(match->call.whole("limit"), 100);
  EXPECT_EQ(match->call.text("tag"), "");
}

TEST(BodyParameters, Query) { EXPECT_EQ(posted(R"({"sql": "SELECT 1", "max_rows": 5})"), 200); }
TEST(BodyParameters, CharsetIsFine) { EXPECT_EQ(posted(R"({"sql": "SELECT 1"})", "Application/JSON; charset=utf-8"), 200); }
TEST(BodyParameters, RefusesOtherTypes) {
  EXPECT_EQ(posted(R"({"sql": "SELECT 1"})", "text/plain"), 415);
  EXPECT_EQ(posted("sql=SELECT+1", "application/x-www-form-urlencoded"), 415);
  EXPECT_EQ(posted("{}", ""), 415);
}
TEST(BodyParameters, RefusesDamagedAndWrongBodies) {
  for (const char* body : {"{", "[]", "1", "{}", R"({"sql": null})", R"({"sql": ["a"]})", R"({"sql": "x", "max_rows": 1.5})",
                           R"({"sql": "x", "timeout_s": 61})", R"({"sql": "x", "file": "/etc/passwd"})"})
    EXPECT_EQ(posted(body), 400) << body;
}

int uploaded(const std::string& target, const std::string& type) {
  static const auto routes = all_routes();
  const auto match = find_route(routes, request_of("POST", target, "x", type));
  return match ? 200 : match.error().status;
}

TEST(FindRoute, AnUploadHasItsNameInTheQuery) {
  EXPECT_EQ(uploaded("/api/v1/uploads?name=a", "application/octet-stream"), 200);
  EXPECT_EQ(uploaded("/api/v1/uploads?name=a", "Application/Octet-Stream; x=y"), 200);
}
TEST(FindRoute, UploadsOfOtherTypesAndParametersAreRefused) {
  EXPECT_EQ(uploaded("/api/v1/uploads?name=a", "text/plain"), 415);
  EXPECT_EQ(uploaded("/api/v1/uploads?name=a", ""), 415);
  EXPECT_EQ(uploaded("/api/v1/uploads", "application/octet-stream"), 400);
  EXPECT_EQ(uploaded("/api/v1/uploads?name=a&name=b", "application/octet-stream"), 400);
  EXPECT_EQ(uploaded("/api/v1/uploads?path=a", "application/octet-stream"), 400);
}
TEST(FindRoute, NotesAreReadAndReplaced) {
  EXPECT_EQ(status("GET", "/api/v1/sessions/x/notes"), 200);
  EXPECT_EQ(status("PUT", "/api/v1/sessions/x/notes", "{}"), 200);
  EXPECT_EQ(status("PUT", "/api/v1/sessions/x/notes?text=a", "{}"), 400);
  EXPECT_EQ(status("DELETE", "/api/v1/sessions/x/notes"), 405);
  EXPECT_EQ(status("PUT", "/api/v1/sessions", "{}"), 405);
}

TEST(Telemetry, HasTheMachineItsGpusAndRunningSessions) {
  Telemetry::Reading reading;
  reading.machine.cpu_use_ratio = 0.5;
  reading.machine.gpus.push_back({.device = 1,
                                  .use_ratio = {},
                                  .memory_used_bytes = {},
                                  .memory_total_bytes = {},
                                  .power_watts = 640,
                                  .power_cap_watts = {},
                                  .temperature_celsius = {},
                                  .clock_hz = {},
                                  .throttled = {"power"}});
  report::LiveSession session;
  session.id = "s";
  session.kind = "run";
  session.what = "a\"b";
  session.median_ns = 2e6;
  reading.sessions.push_back(session);
  const std::string text = telemetry_text(reading);
  for (const char* line : {"aaco_machine_cpu_use_ratio 0.5\n", "aaco_gpu_power_watts{device=\"1\"} 640\n",
                           "aaco_gpu_throttled{device=\"1\",reason=\"power\"} 1\n", "aaco_running_sessions 1\n",
                           "aaco_running_session_median_seconds{session=\"s\",kind=\"run\",workload=\"a\\\"b\"} 0.002\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}
TEST(Telemetry, WhatIsNotMeasuredIsLeftOut) {
  const std::string text = telemetry_text({});
  EXPECT_EQ(text.find("aaco_machine"), std::string::npos);
  EXPECT_EQ(text.find("aaco_gpu"), std::string::npos);
  EXPECT_EQ(text.find("aaco_running_session_"), std::string::npos);
}

TEST(OpenApi, DescribesEveryRoute) {
  const auto routes = all_routes();
  const workflows::Services services;
  const auto response = get_openapi({}, {services, routes, {}});
  ASSERT_TRUE(response);
  const auto document = core::Json::parse(response->body);
  ASSERT_TRUE(document);
  std::set<std::string> ids;
  EXPECT_FALSE((*document)["paths"].contains("/api/v1/fleet")) << "this server shows none";
  for (const Route& route : routes) {
    if (route.pattern.starts_with("/api/v1/fleet")) continue;
    const core::Json& operation = (*document)["paths"][route.pattern][core::to_lower(route.method)];
    EXPECT_EQ(operation["summary"].text(), route.summary);
    EXPECT_TRUE(ids.insert(std::string(operation["operationId"].text())).second) << operation["operationId"].text();
    const bool page = route.answer.find('/') != std::string_view::npos;
    EXPECT_TRUE(page || (*document)["components"]["schemas"].contains(route.answer)) << route.answer;
  }
}

TEST(Prometheus, NewestResultOfEachWorkload) {
  const auto line = [](const std::string& id, const std::string& what, double p50_ns) {
    return workflows::SessionLine{id, "", "", "run", "complete", "", what, p50_ns};
  };
  const std::string text =
      prometheus_text({line("1", "a\"b\\c\nd", 1e9), line("2", "x", 3e9), line("3", "x", 2e9)}, {{{200, 3}}, 5, 1, 0}, {});
  EXPECT_NE(text.find("aaco_latency_p50_seconds{kind=\"run\",workload=\"x\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("workload=\"a\\\"b\\\\c\\nd\"} 1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("workload=\"x\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("aaco_http_responses_total{code=\"200\"} 3\n"), std::string::npos);
}
TEST(Prometheus, IncompleteSessionsHaveNoResult) {
  workflows::SessionLine line{"1", "", "", "run", "incomplete", "", "x", 1e9};
  EXPECT_EQ(prometheus_text({line}, {}, {}).find("workload="), std::string::npos);
}

struct Tokens : testing::Test {
  core::Result<core::TemporaryDirectory> folder = core::TemporaryDirectory::make("/tmp");
  core::Paths paths{.share = "", .cache = "", .registry = folder->path(), .sessions = "", .config = ""};
  std::string file = core::join_path(folder->path(), "token");
  [[nodiscard]] core::Result<TokenFile> open(const std::string& named) const { return TokenFile::open(named, 1, {}, paths); }
};

TEST_F(Tokens, TemporaryFileGoes) {
  std::string path;
  {
    const auto token = open("");
    ASSERT_TRUE(token);
    path = token->path();
    EXPECT_EQ(core::read_file(path).value_or(""), token->token() + "\n");
  }
  EXPECT_FALSE(core::exists(path));
}
TEST_F(Tokens, NamedFileStays) {
  const std::string first = open(file)->token();
  EXPECT_EQ(open(file)->token(), first);
}
TEST_F(Tokens, RefusesShortAndReadableByOthers) {
  ASSERT_TRUE(core::write_file_atomic(file, "short\n"));
  EXPECT_FALSE(open(file));
  EXPECT_FALSE(open(core::join_path(file, "below")));
}

}  // namespace
}  // namespace aaco::server
