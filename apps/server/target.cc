#include "server/target.h"

#include <optional>

#include "core/strings.h"

namespace aaco::server {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

auto invalid_target(std::string_view what) {
  return core::fail(core::ErrorCode::invalid_argument, "invalid request target: " + std::string(what));
}

core::Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 1 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return invalid_target("incomplete % escape");
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (is_control(c)) return invalid_target("control character");
    out += c;
  }
  return out;
}

core::Result<std::vector<std::string>> parse_path(std::string_view text) {
  std::vector<std::string> path;
  if (text == "/") return path;
  for (const std::string_view part : core::split(text.substr(1), '/')) {
    AACO_ASSIGN(std::string segment, decode(part, false));
    if (segment.empty()) return invalid_target("empty path segment");
    if (segment == "." || segment == "..") return invalid_target("dot segment in the path");
    if (segment.find_first_of("/\\") != std::string::npos) return invalid_target("slash or backslash in a path segment");
    path.push_back(std::move(segment));
  }
  return path;
}

}  // namespace

core::Result<Target> parse_target(std::string_view text) {
  if (text.empty() || text.front() != '/') return invalid_target("expected a path that starts with /");
  if (text.size() > kMaxTargetBytes) return invalid_target("longer than " + std::to_string(kMaxTargetBytes) + " bytes");
  if (text.find('#') != std::string_view::npos) return invalid_target("fragment");
  const auto question = text.find('?');
  Target target;
  AACO_ASSIGN(target.path, parse_path(text.substr(0, question)));
  if (question == std::string_view::npos || question + 1 == text.size()) return target;
  for (const std::string_view one : core::split(text.substr(question + 1), '&')) {
    if (one.empty()) continue;
    if (target.parameters.size() == kMaxParameters)
      return invalid_target("more than " + std::to_string(kMaxParameters) + " parameters");
    const auto equals = one.find('=');
    AACO_ASSIGN(std::string name, decode(one.substr(0, equals), true));
    AACO_ASSIGN(std::string value, decode(equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1), true));
    target.parameters.emplace_back(std::move(name), std::move(value));
  }
  return target;
}

}  // namespace aaco::server
