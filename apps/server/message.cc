#include "server/message.h"

#include <algorithm>

#include "server/phrases.h"

namespace aaco::server {
namespace {

int status_of(core::ErrorCode code) {
  using core::ErrorCode;
  switch (code) {
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::invalid_input: return 422;
    case ErrorCode::not_found: return 404;
    case ErrorCode::permission: return 403;
    case ErrorCode::exhausted: return 413;
    case ErrorCode::timed_out: return 504;
    case ErrorCode::cancelled: return 503;
    case ErrorCode::conflict: return 409;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::io: break;
  }
  return 500;
}

constexpr std::string_view kPolicyMark = R"(<meta http-equiv="Content-Security-Policy" content=")";

// The policy that the built page has in its head: hashes of its only script and its only style.
std::string policy_of(std::string_view page) {
  const auto at = page.find(kPolicyMark);
  const auto end = at == std::string_view::npos ? at : page.find('"', at + kPolicyMark.size());
  if (end == std::string_view::npos) return "default-src 'none'; frame-ancestors 'self'";
  return std::string(page.substr(at + kPolicyMark.size(), end - at - kPolicyMark.size())) + "; frame-ancestors 'self'";
}

}  // namespace

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [&](const auto& one) { return one.first == name; }));
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  if (count(name) != 1) return std::nullopt;
  return std::find_if(headers.begin(), headers.end(), [&](const auto& one) { return one.first == name; })->second;
}

std::string Request::path_text() const {
  std::string text;
  for (const std::string& part : path) text += "/" + part;
  return text.empty() ? "/" : text;
}

Response json_response(const core::Json& document) { return {.body = document.dump() + "\n"}; }

Response page_response(std::string page) {
  std::string policy = policy_of(page);
  return {
      .type = "text/html; charset=utf-8", .body = std::move(page), .headers = {{"Content-Security-Policy", std::move(policy)}}};
}

Response refusal(int status, std::string_view message, std::string_view hint) {
  core::Json error = core::Json::object({{"status", status}, {"message", message}});
  if (!hint.empty()) error.set("hint", hint);
  Response response = json_response(core::Json::object({{"schema_version", 1}, {"error", std::move(error)}}));
  response.status = status;
  return response;
}

Response refusal(const core::Error& error) {
  const core::Error said = rest_phrasing().of(error);
  return refusal(status_of(said.code), said.message, said.remedy);
}

}  // namespace aaco::server
