#include "serving/client/reply_text.h"

#include <fmt/format.h>

#include "core/strings.h"
#include "serving/chunk.h"

namespace aaco::serving {
namespace {

bool looks_like_html(std::string_view body) {
  const std::string start = core::to_lower(core::trim(body.substr(0, 200)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

}  // namespace

Outcome outcome_of_status(int status) {
  if (status == 429) return Outcome::http_429;
  if (status >= 500) return Outcome::http_5xx;
  if (status >= 400) return Outcome::http_4xx;
  return Outcome::protocol;
}

std::string describe_reply(int status, std::string_view content_type, std::string_view body, std::string_view expected) {
  std::string message = error_message(body);
  if (message.empty() && looks_like_html(body)) message = fmt::format("the server returned HTML instead of {}", expected);
  if (message.empty() && status == 200)
    message = fmt::format("the server returned {} instead of {}",
                          content_type.empty() ? "no content type" : std::string(content_type), expected);
  if (message.empty()) message = std::string(core::trim(body.substr(0, 120)));
  return status == 200 ? message : fmt::format("HTTP {}{}{}", status, message.empty() ? "" : ": ", message);
}

}  // namespace aaco::serving
