#include "serving/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;

// Parts of names of query fields that hold a key.
constexpr std::array<std::string_view, 9> kSecretNames = {"key",  "token", "sig",        "secret",      "auth",
                                                          "pass", "code",  "credential", "subscription"};
constexpr std::size_t kLongValue = 20;  // bytes, from which a value may be a key; "2024-12-01-preview" is none

struct Parts {
  std::string scheme, user, path;
  Address address;
};

// scheme://[user@]host[:port][/path], the host of IPv6 in brackets.
std::optional<Parts> parse_url(std::string_view url) {
  if (url.find_first_of(" \t\r\n") != std::string_view::npos) return std::nullopt;
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  Parts parts{.scheme = core::to_lower(url.substr(0, scheme_end)), .user = {}, .path = {}, .address = {}};
  std::string_view rest = url.substr(scheme_end + 3);
  const std::size_t path = rest.find_first_of("/?#");
  if (path != std::string_view::npos) parts.path = rest.substr(path);
  rest = rest.substr(0, path);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    parts.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  std::string_view port;
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    parts.address.host = rest.substr(1, close - 1);
    if (rest.size() > close + 1) {
      if (rest[close + 1] != ':') return std::nullopt;
      port = rest.substr(close + 2);
      if (port.empty()) return std::nullopt;
    }
  } else {
    const std::size_t colon = rest.find(':');
    parts.address.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = rest.substr(colon + 1);
      if (port.empty()) return std::nullopt;
    }
  }
  if (parts.address.host.empty() || (parts.scheme != "http" && parts.scheme != "https")) return std::nullopt;
  std::uint64_t number = parts.scheme == "https" ? 443 : 80;
  if (!port.empty()) {
    const auto parsed = core::parse_u64(port);
    if (!parsed || *parsed == 0 || *parsed > 65535) return std::nullopt;
    number = *parsed;
  }
  parts.address.port = static_cast<std::uint16_t>(number);
  return parts;
}

std::optional<std::string> variable(const core::Environment& environment, std::string_view lower) {
  if (auto value = environment.get(lower)) return value;
  std::string upper(lower);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return environment.get(upper);
}

// Whether no_proxy excludes the host: "*", the host itself, or a domain it ends in.
bool excluded(const std::string& host, const core::Environment& environment) {
  const auto list = variable(environment, "no_proxy");
  if (!list) return false;
  for (const std::string_view field : core::split(*list, ',')) {
    std::string_view name = core::trim(field);
    if (name == "*" || name == host) return true;
    if (name.starts_with('.')) name.remove_prefix(1);
    if (!name.empty() && host.size() > name.size() && host.ends_with(name) && host[host.size() - name.size() - 1] == '.')
      return true;
  }
  return false;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string Target::url(std::string_view path) const {
  std::string text = fmt::format("{}://{}{}{}", tls ? "https" : "http", host_header(), base_path, path);
  char before = '?';
  for (const QueryField& field : query_fields(query)) {
    text += std::exchange(before, '&');
    text += field.secret ? fmt::format("{}={}", field.name, kRemovedSecret)
                         : std::string(field.name.data(), field.value.data() + field.value.size());
  }
  return text;
}

std::string Target::request_target(std::string_view path) const {
  const std::string origin = proxy && !tls ? fmt::format("http://{}", host_header()) : std::string();
  return fmt::format("{}{}{}{}{}", origin, base_path, path, query.empty() ? "" : "?", query);
}

std::vector<QueryField> query_fields(std::string_view query) {
  std::vector<QueryField> fields;
  if (query.empty()) return fields;
  for (const std::string_view text : core::split(query, '&')) {
    const std::size_t equals = text.find('=');
    QueryField field{.name = text.substr(0, equals), .value = text.substr(text.size())};
    if (equals != std::string_view::npos) field.value = text.substr(equals + 1);
    const std::string name = core::to_lower(field.name);
    const auto names = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    field.secret = !field.value.empty() &&
                   (std::any_of(kSecretNames.begin(), kSecretNames.end(), names) || field.value.size() >= kLongValue);
    fields.push_back(field);
  }
  return fields;
}

std::string Target::host_header() const {
  const std::string host = server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
  return server.port == (tls ? 443 : 80) ? host : fmt::format("{}:{}", host, server.port);
}

core::Result<Target> parse_target(const std::string& url, const core::Environment& environment) {
  const auto parts = parse_url(url);
  const std::string remedy = "expected http://HOST:PORT/v1 or https://HOST/v1";
  if (!parts)
    return core::fail(ErrorCode::invalid_argument,
                      fmt::format("'{}' is not a valid HTTP(S) URL", url.substr(0, std::min<std::size_t>(200, url.find('?')))),
                      remedy);
  if (!parts->user.empty())
    return core::fail(ErrorCode::invalid_argument, "the URL contains user information, which would be stored",
                      "use --header or --api-key-file for credentials");
  if (parts->path.find('#') != std::string::npos)
    return core::fail(ErrorCode::invalid_argument, "the URL has a fragment (#), which no request can carry", remedy);
  const std::size_t mark = std::min(parts->path.size(), parts->path.find('?'));
  Target target{.tls = parts->scheme == "https", .server = parts->address, .base_path = parts->path.substr(0, mark)};
  target.query = parts->path.substr(std::min(parts->path.size(), mark + 1));
  while (target.base_path.ends_with('/')) target.base_path.pop_back();
  const auto proxy = variable(environment, target.tls ? "https_proxy" : "http_proxy");
  if (proxy && !excluded(target.server.host, environment)) {
    const auto through = parse_url(proxy->find("://") == std::string::npos ? "http://" + *proxy : *proxy);
    if (!through || through->scheme != "http")
      return core::fail(ErrorCode::invalid_argument, "the proxy of the environment is not a valid HTTP URL",
                        "check http_proxy and https_proxy, or set no_proxy");
    target.proxy = through->address;
    if (!through->user.empty()) target.proxy_authorization = "Basic " + base64(through->user);
  }
  return target;
}

core::Result<std::pair<std::string, std::string>> parse_header(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const bool token =
      !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") ==
                           std::string::npos;
  if (colon == std::string::npos || !token)
    return core::fail(ErrorCode::invalid_argument, "invalid header", "expected 'Name: value'");
  const std::string_view value = core::trim(std::string_view(text).substr(colon + 1));
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7F; };
  if (std::any_of(value.begin(), value.end(), is_control))
    return core::fail(ErrorCode::invalid_argument, fmt::format("the value of header '{}' contains a control character", name));
  return std::pair(name, std::string(value));
}

}  // namespace aaco::serving
