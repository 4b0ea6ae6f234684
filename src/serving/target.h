#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::serving {

inline constexpr std::string_view kRemovedSecret = "(removed)";

struct Address {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

// Where the requests go, and what every request carries. Header values may be secret: they are never stored and never printed.
struct Target {
  bool tls = false;
  Address server;
  std::string base_path;         // "/v1", without a slash at the end
  std::string query;             // of every request: "api-version=1", without the question mark; it may hold a key
  std::optional<Address> proxy;  // from the environment (http_proxy, https_proxy, no_proxy)
  std::string proxy_authorization;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string ca_file;  // certificates to trust besides the system's; empty: the system's
  // "http://host:port/v1", then `path` and the query without its secrets: to show and to store.
  [[nodiscard]] std::string url(std::string_view path = {}) const;
  // What the first line of a request names: `path` below the base path with the query, through a proxy the whole URL.
  [[nodiscard]] std::string request_target(std::string_view path) const;
  // The value of the Host header.
  [[nodiscard]] std::string host_header() const;
};

// Fails with invalid_argument on what is not an HTTP(S) URL, on a fragment and on user information (it would be stored).
core::Result<Target> parse_target(const std::string& url, const core::Environment& environment);

// A field of a query, whose value is a secret where the name says so (key, token, sig, ...) or where it is long.
struct QueryField {
  std::string_view name, value;  // as they are written
  bool secret = false;
};
std::vector<QueryField> query_fields(std::string_view query);

// "Name: value". Fails on control characters inside and on a name that is not a token, without repeating the value.
core::Result<std::pair<std::string, std::string>> parse_header(const std::string& text);

}  // namespace aaco::serving
