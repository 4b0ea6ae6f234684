#include "server/route.h"

#include <algorithm>

#include "core/json_keys.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::server {
namespace {

using core::Json;

// Fills `path` where the segments fit the pattern.
bool fits(std::string_view pattern, const std::vector<std::string>& segments, Call& call) {
  const auto parts = pattern == "/" ? std::vector<std::string_view>() : core::split(pattern.substr(1), '/');
  if (parts.size() != segments.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool open = parts[i].starts_with('{');
    if (open)
      call.path[std::string(parts[i].substr(1, parts[i].size() - 2))] = segments[i];
    else if (parts[i] != segments[i])
      return false;
  }
  return true;
}

std::string problem_of(const Parameter& parameter, const std::string& value) {
  const std::string start = "invalid value for '" + std::string(parameter.name) + "': expected ";
  if (parameter.kind == Kind::whole) {
    const auto number = core::parse_i64(value);
    if (!number || *number < parameter.low || *number > parameter.high)
      return start + "an integer between " + std::to_string(parameter.low) + " and " + std::to_string(parameter.high);
  }
  if (parameter.kind == Kind::ratio) {
    const auto ratio = core::parse_ratio(value);
    if (!ratio || *ratio <= 0 || *ratio >= 1) return start + "a ratio such as 5%";
  }
  if (parameter.kind == Kind::flag && value != "true" && value != "false") return start + "true or false";
  return {};
}

std::optional<Response> check_parameters(const Route& route, Fields& given) {
  for (const auto& field : given) {
    const std::string& name = field.first;
    const auto known =
        std::find_if(route.parameters.begin(), route.parameters.end(), [&](const auto& one) { return one.name == name; });
    if (known == route.parameters.end()) return refusal(400, "unknown parameter '" + name + "'", "see /api/v1/openapi.json");
    const auto times = std::count_if(given.begin(), given.end(), [&](const auto& one) { return one.first == name; });
    if (times > 1 && !known->repeatable) return refusal(400, "repeated parameter '" + name + "'");
    if (const std::string problem = problem_of(*known, field.second); !problem.empty()) return refusal(400, problem);
  }
  for (const Parameter& one : route.parameters) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const auto& field) { return field.first == one.name; });
    if (!there && one.required) return refusal(400, "missing parameter '" + std::string(one.name) + "'");
    if (!there && !one.fallback.empty()) given.emplace_back(one.name, one.fallback);
  }
  return std::nullopt;
}

std::string media_type(const Request& request) {
  const std::string type = core::to_lower(request.header("content-type").value_or(""));
  return std::string(core::trim(type.substr(0, type.find(';'))));
}

std::string text_of(const Json& value) {
  if (const auto flag = value.as_bool()) return *flag ? "true" : "false";
  return value.is_string() ? std::string(value.text()) : value.dump(-1);
}

}  // namespace

std::vector<std::string> Call::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters)
    if (key == name) values.push_back(value);
  return values;
}

std::string Call::text(std::string_view name) const {
  const auto values = all(name);
  return values.empty() ? std::string() : values.front();
}

std::optional<std::int64_t> Call::whole(std::string_view name) const { return core::parse_i64(text(name)); }
std::optional<double> Call::ratio(std::string_view name) const { return core::parse_ratio(text(name)); }

tl::expected<Match, Response> find_route(std::span<const Route> routes, const Request& request) {
  std::string allowed;
  for (const Route& route : routes) {
    Match match{&route, {}};
    match.call.pattern = route.pattern;
    if (!fits(route.pattern, request.path, match.call)) continue;
    const bool head = request.method == "HEAD" && route.method == "GET";
    if (request.method != route.method && !head) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (request.has_body && route.method == "GET")
      return tl::unexpected(refusal(400, "unexpected body: only POST and PUT requests have one"));
    match.call.parameters = request.parameters;
    if (route.lane == Lane::upload && media_type(request) != "application/octet-stream")
      return tl::unexpected(refusal(415, "expected Content-Type: application/octet-stream"));
    if (route.method != "GET" && route.lane != Lane::upload) {
      if (!request.parameters.empty()) return tl::unexpected(refusal(400, "parameters belong in the JSON body"));
      return match;
    }
    if (auto refused = check_parameters(route, match.call.parameters)) return tl::unexpected(*refused);
    return match;
  }
  if (allowed.empty()) return tl::unexpected(refusal(404, "no such resource", "see /api/v1/openapi.json"));
  Response response = refusal(405, "method not allowed here");
  response.headers.emplace_back("Allow", allowed);
  return tl::unexpected(std::move(response));
}

tl::expected<Fields, Response> body_parameters(const Route& route, const Request& request) {
  if (media_type(request) != "application/json") return tl::unexpected(refusal(415, "expected Content-Type: application/json"));
  const auto document = Json::parse(request.body);
  if (!document || !document->is_object()) return tl::unexpected(refusal(400, "the body is not a JSON object"));
  if (core::has_repeated_key(request.body)) return tl::unexpected(refusal(400, "the body has a key twice"));
  Fields given;
  for (const auto& [name, value] : document->members()) {
    const Json single = Json::array({value});
    const auto known = std::find_if(route.parameters.begin(), route.parameters.end(),
                                    [&name = name](const auto& one) { return one.name == name; });
    if (known == route.parameters.end())
      return tl::unexpected(refusal(400, "unknown parameter '" + name + "'", "see /api/v1/openapi.json"));
    const bool list = value.is_array() && known->repeatable;
    for (const Json& one : list ? value.items() : single.items()) {
      if (one.is_null() || one.is_array() || one.is_object() || given.size() == kMaxParameters)
        return tl::unexpected(refusal(400, "invalid value for '" + name + "': expected a string, a number or a boolean" +
                                               (known->repeatable ? ", or a list of them" : "")));
      if (!one.is_string() && known->kind == Kind::text)
        return tl::unexpected(refusal(400, "invalid value for '" + name + "': expected a JSON string"));
      given.emplace_back(name, text_of(one));
    }
  }
  if (auto refused = check_parameters(route, given)) return tl::unexpected(*refused);
  return given;
}

}  // namespace aaco::server
