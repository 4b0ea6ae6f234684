#include "serving/secrets.h"

#include <algorithm>

#include "core/json.h"

namespace aaco::serving {
namespace {

constexpr std::size_t kShortestSecret = 4, kPrefix = 6, kShortestRun = 16;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

void remove_secret(std::string& message, std::string_view secret) {
  if (secret.size() < kShortestSecret) return;
  const std::string_view prefix = secret.substr(0, kPrefix);
  for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix, at)) {
    message.replace(at, common_prefix(std::string_view(message).substr(at), secret), kRemovedSecret);
    at += kRemovedSecret.size();
  }
}

void remove_runs(std::string& message, std::string_view prompt) {
  for (std::size_t at = 0; at + kShortestRun <= message.size();) {
    const std::string_view rest = std::string_view(message).substr(at);
    std::size_t longest = 0;
    for (std::size_t found = prompt.find(rest.substr(0, kShortestRun)); found != std::string_view::npos;
         found = prompt.find(rest.substr(0, kShortestRun), found + 1))
      longest = std::max(longest, common_prefix(prompt.substr(found), rest));
    if (longest == 0) {
      ++at;
      continue;
    }
    message.replace(at, longest, kRemovedSecret);
    at += kRemovedSecret.size();
  }
}

}  // namespace

std::string_view secret_of(std::string_view header_value) {
  const std::size_t space = header_value.rfind(' ');
  return space == std::string_view::npos ? header_value : header_value.substr(space + 1);
}

std::vector<std::string_view> secrets_of(const std::vector<std::pair<std::string, std::string>>& headers) {
  std::vector<std::string_view> secrets;
  for (const auto& [name, value] : headers) secrets.push_back(secret_of(value));
  return secrets;
}

std::string without_secrets(std::string message, const std::vector<std::string_view>& secrets, std::string_view body) {
  for (const std::string_view secret : secrets) remove_secret(message, secret);
  const auto request = message.size() < kShortestRun ? core::Result<core::Json>(core::Json()) : core::Json::parse(body);
  if (!request || !request->is_object()) return message;
  remove_runs(message, (*request)["prompt"].text());
  for (const core::Json& turn : (*request)["messages"].items()) remove_runs(message, turn["content"].text());
  return message;
}

}  // namespace aaco::serving
