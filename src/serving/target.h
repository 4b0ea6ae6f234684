#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::serving {

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
  std::optional<Address> proxy;  // from the environment (http_proxy, https_proxy, no_proxy)
  std::string proxy_authorization;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string ca_file;  // certificates to trust besides the system's; empty: the system's
  // "http://host:port/v1"
  [[nodiscard]] std::string url() const;
  // The value of the Host header.
  [[nodiscard]] std::string host_header() const;
};

// Fails with invalid_argument on what is not an HTTP(S) URL and on a URL with user information (it would be stored).
core::Result<Target> parse_target(const std::string& url, const core::Environment& environment);

// "Name: value". Fails on control characters inside and on a name that is not a token, without repeating the value.
core::Result<std::pair<std::string, std::string>> parse_header(const std::string& text);

}  // namespace aaco::serving
