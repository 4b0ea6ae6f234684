#include "server/refusal_page.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/markup.h"

namespace aaco::server {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--paper:#fcfcfb;--ink:#17191e;--quiet:#646a76;--accent:#2259a6;--line:#cfd0ce}"
    "@media(prefers-color-scheme:dark){:root{--paper:#111317;--ink:#eceef1;--quiet:#939aa7;--accent:#86b4f2;--line:#3b414b}}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}"
    "main{max-width:36rem;margin:15vh auto;padding:0 1.5rem}.name{font-weight:750;letter-spacing:.06em}"
    "h1{font-size:1.5rem;line-height:1.25;margin:1.5rem 0 .75rem}a{color:var(--accent)}"
    ".quiet{color:var(--quiet);font-size:.875rem;border-top:1px solid var(--line);padding-top:.75rem;margin-top:2rem}";
constexpr std::string_view kStyleHash = "sha256-3yYJk/Px2pe+prJw+dmpSXSmxGqYWqL821P5taWJwxk=";

constexpr std::string_view kStranger = "this browser is not signed in, or the server was started again since";
constexpr std::string_view kSignIn =
    "open the link that 'aaco dashboard' printed. It works once; restart the command for a new one";

std::string_view title_of(const Request& request, int status) {
  if (request.path_text() == "/open" || status == 401) return "Not signed in";
  switch (status) {
    case 400: return "Invalid request";
    case 403: return "Not allowed";
    case 404: return "Not found";
    case 429: return "Too many tries";
    default: return "Not available";
  }
}

// A message of an error as a sentence.
std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  if (!out.empty() && out.back() != '.') out += '.';
  return core::escape_markup(out);
}

}  // namespace

bool wants_page(const Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  if (request.header("accept").value_or("").find("text/html") == std::string_view::npos) return false;
  return request.header("sec-fetch-dest").value_or("document") == "document";
}

std::optional<Response> refusal_page(const Request& request, const Response& response) {
  if (response.status < 400) return std::nullopt;
  const auto document = core::Json::parse(response.body);
  if (!document || !(*document)["error"].is_object()) return std::nullopt;
  const core::Json& error = (*document)["error"];
  const std::string title(title_of(request, response.status));
  const bool stranger = response.status == 401;  // people have no token to send
  const std::string message = sentence(stranger ? kStranger : error["message"].text());
  const std::string hint = sentence(stranger ? kSignIn : error["hint"].text());
  std::string body = fmt::format("<p class=\"name\">AACO</p>\n<h1>{}</h1>\n<p>{}</p>\n", title, message);
  if (!hint.empty()) body += "<p>" + hint + "</p>\n";
  if (response.status != 421) body += "<p><a href=\"/\">Open the dashboard</a></p>\n";  // the address itself is wrong there
  Response page = response;
  page.type = "text/html; charset=utf-8";
  page.body = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} - AACO</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<main>\n{}<p class=\"quiet\">Status {}</p>\n</main>\n</body>\n</html>\n",
      title, kStyle, body, response.status);
  page.headers.emplace_back("Content-Security-Policy",
                            fmt::format("default-src 'none'; style-src '{}'; frame-ancestors 'self'", kStyleHash));
  return page;
}

}  // namespace aaco::server
