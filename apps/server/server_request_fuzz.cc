#include <vector>

#include "server/request_checks.h"

namespace {

using namespace aaco::server;

// One of each kind of route that the server has (routes.cc), under the paths that the seeds use; no handler is called.
std::vector<Route> routes_of_every_kind() {
  const std::vector<Parameter> every = {
      {.name = "a", .description = "", .required = true},
      {.name = "b", .description = "", .required = true},
      {.name = "metric", .description = "", .repeatable = true},
      {.name = "limit", .description = "", .kind = Kind::whole, .low = 1, .high = 1000, .fallback = "100"},
      {.name = "threshold", .description = "", .kind = Kind::ratio, .fallback = "5%"},
      {.name = "force", .description = "", .kind = Kind::flag}};
  const std::vector<Parameter> queried = {
      {.name = "sql", .description = "", .required = true},
      {.name = "max_rows", .description = "", .kind = Kind::whole, .low = 1, .high = 100'000, .fallback = "10000"},
      {.name = "share", .description = "", .kind = Kind::ratio},
      {.name = "force", .description = "", .kind = Kind::flag},
      {.name = "only", .description = "", .repeatable = true}};
  const std::vector<Parameter> noted = {{.name = "text", .description = "", .required = true},
                                        {.name = "tags", .description = "", .repeatable = true}};
  const Parameter named = {.name = "name", .description = "", .required = true};
  return {{"GET", "/", "", {}, "text/html", Lane::quick, true},
          {"GET", "/api/v1/sessions", "", {every.begin() + 2, every.end()}, "SessionList"},
          {"GET", "/api/v1/sessions/{session}", "", {}, "Session"},
          {"GET", "/api/v1/sessions/{session}/report", "", {}, "Report", Lane::slow},
          {"PUT", "/api/v1/sessions/{session}/notes", "", noted, "Notes"},
          {"GET", "/api/v1/diff", "", every, "Diff", Lane::slow},
          {"POST", "/api/v1/query", "", queried, "Table", Lane::query},
          {"GET", "/api/v1/stream", "", {every[2]}, "text/event-stream", Lane::stream},
          {"POST", "/api/v1/uploads", "", {named}, "Upload", Lane::upload},
          {"POST", "/api/v1/jobs/{job}/cancel", "", {}, "Job"}};
}

}  // namespace

// The reader, the guard and the router.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto routes = routes_of_every_kind();
  check_request(routes, data, size);
  return 0;
}
