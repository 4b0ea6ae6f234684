#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/clock.h"
#include "server/access.h"
#include "server/reader.h"
#include "server/route.h"

namespace aaco::server {

// For fuzz targets. Any bytes are a request that is routed or refused; none gets past the token, and what is routed has a clean
// path.
inline void check_request(std::span<const Route> routes, const std::uint8_t* data, std::size_t size) {
  const auto request = read_request({reinterpret_cast<const char*>(data), size});
  if (!request) return;
  for (const std::string& segment : request->path)
    AACO_CHECK(!segment.empty() && segment != ".." && segment != "." && segment.find('/') == std::string::npos);
  const core::SystemClock clock;
  Access access({std::string(64, '\x01'), std::string(64, '\x01'), "aaco_8501"}, {"localhost:8501"}, clock);
  (void)access.refuse_origin(*request);
  AACO_CHECK(access.refuse_token(*request).has_value());
  AACO_CHECK(access.open(*request).status != 303);
  const auto match = find_route(routes, *request);
  if (match && match->route->method != "GET" && match->route->lane != Lane::upload)
    (void)body_parameters(*match->route, *request);
}

}  // namespace aaco::server
