#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "server/message.h"
#include "workflows/fleet_view.h"
#include "workflows/jobs.h"
#include "workflows/services.h"
#include "workflows/session_lists.h"

namespace aaco::server {

enum class Kind : std::uint8_t { text, whole, ratio, flag };

// A parameter of a route, of its query or of its JSON body.
struct Parameter {
  std::string_view name, description;
  std::string_view title = {};  // in words, for forms
  Kind kind = Kind::text;
  bool required = false;
  bool repeatable = false;
  std::int64_t low = 0, high = 0;  // of whole numbers
  std::string_view fallback = {};
};

// Of the live stream.
struct StreamCounters {
  std::int64_t open = 0, sent = 0;
  std::int64_t thinned = 0;  // events left out for slow readers
  std::int64_t closed = 0;   // readers that took nothing for too long
};

// What the server did so far: for /metrics.
struct Counters {
  std::map<int, std::int64_t> answers;  // by status
  std::int64_t answer_ns = 0;           // time from the head to the answer, all together
  std::int64_t connections = 0;         // open
  std::int64_t refused_connections = 0;
  StreamCounters streams;
};

class Telemetry;
struct Route;
// What handlers work on. They run on the server's worker threads; everything here is theirs to read.
struct Site {
  const workflows::Services& services;
  std::span<const Route> routes;
  Counters counters;  // as of the request
  workflows::Jobs* jobs = nullptr;
  workflows::SessionLists* lists = nullptr;
  const core::Error* no_jobs = nullptr;  // why there are none
  Telemetry* telemetry = nullptr;
  workflows::FleetView* fleet = nullptr;
};

// A request with its parameters checked against the route's.
struct Call {
  std::string_view pattern;                              // of the route
  std::map<std::string, std::string, std::less<>> path;  // of "{session}"
  Fields parameters;

  [[nodiscard]] std::string text(std::string_view name) const;  // empty where it was not given and has no fallback
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const;
  [[nodiscard]] std::optional<double> ratio(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const { return text(name) == "true"; }
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

using Handler = core::Result<Response> (*)(const Call& call, const Site& site);

// Slow handlers have a worker of their own, so that lists stay fast while a report is made; so have queries, which may take all
// the time that they are given, two at a time, and the analysis of a fleet. A stream has no handler: its connection goes to the
// feed. Neither has an upload: its body goes to a file (reception.h), its parameters are in the query.
enum class Lane : std::uint8_t { quick, slow, query, fleet, stream, upload };

struct Route {
  std::string_view method;   // GET (HEAD too), POST or PUT; the latter with a JSON object as body, or a file
  std::string_view pattern;  // "/api/v1/sessions/{session}"
  std::string_view summary;
  std::vector<Parameter> parameters;
  std::string_view answer;  // schema of the JSON answer (openapi.cc), or a media type
  Lane lane = Lane::quick;
  bool open = false;  // needs no token
  Handler handler = nullptr;
  int status = 200;  // of the answer
};

struct Match {
  const Route* route = nullptr;
  Call call;
};
// The route of a request with its checked parameters. The error is the answer: 404, 405, 400 or 415.
tl::expected<Match, Response> find_route(std::span<const Route> routes, const Request& request);
// The parameters of the body, for routes with POST and PUT that are no uploads.
tl::expected<Fields, Response> body_parameters(const Route& route, const Request& request);

// Every route of this server.
std::vector<Route> all_routes();

}  // namespace aaco::server
