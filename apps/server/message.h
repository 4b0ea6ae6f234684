#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::server {

// What a client may send, in bytes; more is refused.
inline constexpr std::size_t kMaxHeadBytes = 16 * 1024;
inline constexpr std::size_t kMaxBodyBytes = 64 * 1024;
inline constexpr std::size_t kMaxTargetBytes = 4096;
inline constexpr std::size_t kMaxParameters = 32;

using Fields = std::vector<std::pair<std::string, std::string>>;

// A checked request: the path is decoded and split, names of headers are lower case.
struct Request {
  std::string method;
  std::vector<std::string> path;
  Fields parameters;  // of the query, decoded, in order
  Fields headers;
  std::string body;
  std::string peer;       // address of the client
  bool has_body = false;  // announced by the head, of this size:
  std::int64_t body_bytes = 0;
  bool expects_continue = false;  // the client sends the body once it is told to

  // The header's value if it is there exactly once.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  // "/a/b", without the query, for the log.
  [[nodiscard]] std::string path_text() const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  Fields headers;
};

Response json_response(const core::Json& document);
Response page_response(std::string page);
Response refusal(int status, std::string_view message, std::string_view hint = {});
// The status that fits the error's code, and its words as clients need them (phrases.h).
Response refusal(const core::Error& error);

}  // namespace aaco::server
