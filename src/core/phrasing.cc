#include "core/phrasing.h"

#include <algorithm>
#include <cctype>

#include "core/strings.h"

namespace aaco::core {
namespace {

constexpr std::string_view kProgram = "aaco ";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

// Whether a command or an option may begin at `at`.
bool begins(std::string_view text, std::size_t at) {
  return at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '/' && text[at - 1] != '.');
}

}  // namespace

Phrasing::Phrasing(std::span<const Phrase> phrases, std::string_view elsewhere)
    : phrases_(phrases.begin(), phrases.end()), elsewhere_(elsewhere) {
  std::stable_sort(phrases_.begin(), phrases_.end(),
                   [](const Phrase& a, const Phrase& b) { return a.from.size() > b.from.size(); });
}

const Phrase* Phrasing::longest_at(std::string_view text) const {
  for (const Phrase& one : phrases_) {
    if (!text.starts_with(one.from)) continue;
    const char next = text.size() > one.from.size() ? text[one.from.size()] : ' ';
    if (!is_word(next) && next != '=') return &one;
  }
  return nullptr;
}

std::optional<std::string> Phrasing::command(std::string_view text) const {
  for (const auto& [from, to] : phrases_) {
    if (from == text) return std::string(to);
    if (!from.ends_with(" *")) continue;
    const std::string_view start = from.substr(0, from.size() - 1), word = text.substr(std::min(text.size(), start.size()));
    if (text.starts_with(start) && !word.empty() && word.find(' ') == std::string_view::npos)
      return replace_all(std::string(to), "*", word);
  }
  return std::nullopt;
}

std::string Phrasing::of(std::string_view text) const {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const char quote = rest[0];
    if ((quote == '\'' || quote == '`') && begins(text, at) && rest.substr(1).starts_with(kProgram)) {
      const std::size_t end = rest.find(quote, 1);
      if (end != std::string_view::npos) {
        const auto known = command(rest.substr(1, end - 1));
        out += known ? *known : std::string(rest.substr(0, end + 1)) + std::string(elsewhere_);
        at += end + 1;
        continue;
      }
    }
    const Phrase* found = begins(text, at) ? longest_at(rest) : nullptr;
    if (found == nullptr) {
      out += text[at++];
      continue;
    }
    out += found->to;
    at += found->from.size();
  }
  return out;
}

Error Phrasing::of(Error error) const {
  error.message = of(error.message);
  error.remedy = of(error.remedy);
  for (std::string& where : error.context) where = of(where);
  return error;
}

}  // namespace aaco::core
