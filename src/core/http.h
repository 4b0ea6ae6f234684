#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace aaco::core {

struct HttpRequest {
  std::string method = "GET";  // GET or POST
  std::string url;             // http:// or https://
  std::string body;            // of a POST
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::int64_t timeout_ns = 5'000'000'000;  // of everything together: name, connection, sending, answer
  std::int64_t reply_limit_bytes = 1 << 20;
};

struct HttpReply {
  int status = 0;
  std::string body;
};

// One request, redirects not followed. Whatever status the server answers is a reply. Fails with invalid_argument on a URL that
// is none, with timed_out where the time is over (a server that hangs or drips), with exhausted where the answer is larger than
// the limit, with io otherwise. Certificates of https are verified.
Result<HttpReply> http_send(const HttpRequest& request);

// "http://host:port" and "/path?query" of a URL; fails on another scheme, on no host, on a port
// outside 1 to 65535 and on white space.
Result<std::pair<std::string, std::string>> split_url(const std::string& url);

}  // namespace aaco::core
