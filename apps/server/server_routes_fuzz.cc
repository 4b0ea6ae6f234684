#include "server/request_checks.h"

// The routes of the server itself. It needs every handler, and so the whole program: it is built for long fuzzing only.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto routes = aaco::server::all_routes();
  aaco::server::check_request(routes, data, size);
  return 0;
}
