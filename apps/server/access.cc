#include "server/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/random.h"
#include "core/strings.h"

namespace aaco::server {
namespace {

constexpr std::string_view kBearer = "bearer ";
constexpr std::string_view kHow = "send 'Authorization: Bearer TOKEN', or open the link that 'aaco dashboard' printed";

// The value of a cookie in "a=1; b=2"; empty where it is missing.
std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  for (const std::string_view one : core::split(cookies, ';')) {
    const std::string_view pair = core::trim(one);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
  }
  return {};
}

}  // namespace

std::string make_token() {
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:016x}", core::system_entropy());
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < b.size(); ++i)
    different |= static_cast<unsigned char>(b[i]) ^ static_cast<unsigned char>(i < a.size() ? a[i] : '\0');
  return different == 0 && !b.empty();
}

std::optional<Response> Access::refuse_origin(const Request& request) const {
  const std::string host = core::to_lower(request.header("host").value_or(""));
  if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end())
    return refusal(421, "this server does not answer to that Host", "add the name with --host-name");
  if (request.count("origin") > 0 &&
      core::to_lower(request.header("origin").value_or("")) != (tls_ ? "https://" : "http://") + host)
    return refusal(403, "request from another origin");
  const std::string_view site = request.header("sec-fetch-site").value_or("none");
  const bool navigates = request.method == "GET" && request.header("sec-fetch-mode").value_or("") == "navigate" &&
                         request.header("sec-fetch-dest").value_or("") == "document";
  // A link on another site may lead to a page; a page of another site may not read or frame one.
  if (site != "same-origin" && site != "none" && !navigates) return refusal(403, "request from another site");
  return std::nullopt;
}

std::optional<Response> Access::refuse_guesser(const Request& request) const {
  const auto found = wrong_.find(request.peer);
  if (found == wrong_.end() || found->second.count < kMaxWrongTokens) return std::nullopt;
  const std::int64_t left_ns = found->second.since_ns + kWrongTokenWindow_ns - clock_.now_ns(core::ClockId::monotonic);
  if (left_ns <= 0) return std::nullopt;
  Response response = refusal(429, "too many wrong tokens from this address", "wait a minute");
  response.headers.emplace_back("Retry-After", std::to_string(left_ns / 1'000'000'000 + 1));
  return response;
}

void Access::count_wrong(const std::string& peer) {
  const std::int64_t now_ns = clock_.now_ns(core::ClockId::monotonic);
  std::erase_if(wrong_, [&](const auto& one) { return now_ns - one.second.since_ns > kWrongTokenWindow_ns; });
  if (wrong_.size() >= kMaxAddresses && !wrong_.contains(peer)) wrong_.erase(wrong_.begin());
  Wrong& wrong = wrong_.try_emplace(peer, Wrong{now_ns, 0}).first->second;
  ++wrong.count;
}

std::optional<Response> Access::refuse_token(const Request& request) {
  const std::string_view authorization = request.header("authorization").value_or("");
  const bool bearer = core::to_lower(authorization.substr(0, kBearer.size())) == kBearer;
  const std::string_view given = bearer ? core::trim(authorization.substr(kBearer.size()))
                                        : cookie_value(request.header("cookie").value_or(""), secrets_.cookie_name);
  if (given.empty()) {
    Response response = refusal(401, "missing token", kHow);
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  if (same_secret(given, secrets_.token)) return std::nullopt;
  if (auto refused = refuse_guesser(request)) return refused;
  count_wrong(request.peer);
  Response response = refusal(401, "wrong token", kHow);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response Access::open(const Request& request) {
  const auto& parameters = request.parameters;
  const auto code = std::find_if(parameters.begin(), parameters.end(), [](const auto& one) { return one.first == "code"; });
  if (code == parameters.end()) return refusal(400, "missing parameter: code");
  if (!same_secret(code->second, secrets_.code)) {
    // A browser that has signed in already needs no link.
    if (same_secret(cookie_value(request.header("cookie").value_or(""), secrets_.cookie_name), secrets_.token))
      return {.status = 303, .type = "text/plain; charset=utf-8", .body = "See /\n", .headers = {{"Location", "/"}}};
    if (auto refused = refuse_guesser(request)) return *refused;
    count_wrong(request.peer);
    return refusal(403, "this sign-in link was used before, or is not valid: each link signs in one browser, once",
                   "use the browser that opened it first, or restart 'aaco dashboard' for a new link");
  }
  secrets_.code.clear();
  return {.status = 303,
          .type = "text/plain; charset=utf-8",
          .body = "See /\n",
          .headers = {{"Location", "/"},
                      {"Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/{}", secrets_.cookie_name,
                                                 secrets_.token, tls_ ? "; Secure" : "")}}};
}

}  // namespace aaco::server
