#include "serving/secrets.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstdint>
#include <utility>

#include "core/json.h"
#include "core/strings.h"

namespace aaco::serving {
namespace {

constexpr std::size_t kShortestSecret = 4, kPrefix = 6, kShortestRun = 14, kShortestPrompt = 6, kMaxMessage = 2000;
constexpr std::array<std::string_view, 5> kSchemes = {"bearer", "basic", "token", "digest", "apikey"};
constexpr std::array<std::pair<std::string_view, char>, 7> kEntities = {
    {{"&quot;", '"'}, {"&#34;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}}};

std::optional<std::uint32_t> hex(std::string_view text) {
  std::uint32_t value = 0;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

// Text without case, white space and escapes, and where each of its bytes begins and ends in the original.
struct Plain {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> places;

  void add(char c, std::size_t from, std::size_t to) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return;
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    places.emplace_back(from, to);
  }
  void add_code(std::uint32_t code, std::size_t from, std::size_t to) {
    if (code < 0x80) return add(static_cast<char>(code), from, to);
    if (code < 0x800) {
      add(static_cast<char>(0xC0 | code >> 6), from, to);
    } else {
      add(static_cast<char>(0xE0 | code >> 12), from, to);
      add(static_cast<char>(0x80 | (code >> 6 & 0x3F)), from, to);
    }
    add(static_cast<char>(0x80 | (code & 0x3F)), from, to);
  }
};

// The length of the escape at the start of `rest`, which it adds; 0: there is none. Any number of backslashes: a text may be
// escaped more than once.
std::size_t take_escape(std::string_view rest, std::size_t from, Plain& plain) {
  if (rest.front() == '\\') {
    const std::size_t marks = std::min(rest.size(), rest.find_first_not_of('\\'));
    const std::string_view after = rest.substr(marks);
    if (after.empty()) return marks;
    for (const auto& [letter, digits] : {std::pair{'u', std::size_t{4}}, std::pair{'x', std::size_t{2}}})
      if (after.front() == letter && after.size() > digits)
        if (const auto code = hex(after.substr(1, digits))) {
          plain.add_code(*code, from, from + marks + 1 + digits);
          return marks + 1 + digits;
        }
    return std::string_view("nrt").find(after.front()) == std::string_view::npos ? marks : marks + 1;
  }
  if (rest.front() == '%' && rest.size() > 2)
    if (const auto code = hex(rest.substr(1, 2))) {
      plain.add(static_cast<char>(*code), from, from + 3);
      return 3;
    }
  for (const auto& [entity, character] : kEntities)
    if (rest.starts_with(entity)) {
      plain.add(character, from, from + entity.size());
      return entity.size();
    }
  return 0;
}

Plain plain_of(std::string_view text) {
  Plain plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t escape = take_escape(text.substr(at), at, plain);
    if (escape == 0) plain.add(text[at], at, at + 1);
    at += std::max<std::size_t>(1, escape);
  }
  return plain;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

// What of the plain message is removed.
using Marks = std::vector<bool>;

void mark(Marks& marks, std::size_t from, std::size_t size) {
  std::fill_n(marks.begin() + static_cast<std::ptrdiff_t>(from), size, true);
}

void mark_secret(std::string_view message, std::string_view secret, Marks& marks) {
  if (secret.size() < kShortestSecret) return;
  const std::string_view prefix = secret.substr(0, kPrefix);
  for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix, at + 1))
    mark(marks, at, common_prefix(message.substr(at), secret));
}

std::size_t gram(const char* at) { return std::hash<std::string_view>()({at, kShortestRun}) & 0xFFFF; }

void mark_prompt(std::string_view message, std::string_view prompt, Marks& marks) {
  if (prompt.size() < kShortestRun) {
    for (std::size_t at = message.find(prompt); prompt.size() >= kShortestPrompt && at != std::string::npos;
         at = message.find(prompt, at + 1))
      mark(marks, at, prompt.size());
    return;
  }
  // Most messages repeat nothing, and a load may have many failures: a look at the hashes is enough for them.
  std::bitset<1 << 16> grams;
  for (std::size_t at = 0; at + kShortestRun <= prompt.size(); ++at) grams.set(gram(prompt.data() + at));
  for (std::size_t at = 0; at + kShortestRun <= message.size(); ++at)
    if (grams.test(gram(message.data() + at)) && prompt.find(message.substr(at, kShortestRun)) != std::string_view::npos)
      mark(marks, at, kShortestRun);
}

void mark_prompts(std::string_view message, const core::Json& request, Marks& marks) {
  mark_prompt(message, plain_of(request["prompt"].text()).text, marks);
  for (const core::Json& turn : request["messages"].items()) mark_prompt(message, plain_of(turn["content"].text()).text, marks);
}

std::string without(const std::string& message, const Plain& plain, const Marks& marks) {
  std::string out;
  std::size_t kept = 0;  // up to here
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!marks[i]) continue;
    const std::size_t from = plain.places[i].first;
    while (i + 1 < marks.size() && marks[i + 1]) ++i;
    out += message.substr(kept, std::max(from, kept) - kept);
    out += kRemovedSecret;
    kept = plain.places[i].second;
  }
  return out + message.substr(kept);
}

// The bytes that the escapes of a URL stand for.
std::string without_percents(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto code = text[at] == '%' && at + 2 < text.size() ? hex(text.substr(at + 1, 2)) : std::nullopt;
    bytes += code ? static_cast<char>(*code) : text[at];
    if (code) at += 2;
  }
  return bytes;
}

// The bytes of base64, or nothing.
std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xFF);
  }
  return bytes;
}

}  // namespace

std::vector<std::string> secrets_of_header(std::string_view value) {
  std::vector<std::string> secrets;
  const auto words = core::split_words(value);
  const std::string scheme = words.size() > 1 ? core::to_lower(words.front()) : std::string();
  for (const std::string_view word : words)
    if (word.data() != words.front().data() || std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end())
      secrets.emplace_back(word);
  if (scheme != "basic") return secrets;
  const std::string user = from_base64(words[1]);
  secrets.push_back(user.substr(std::min(user.size(), user.find(':') + 1)));
  return secrets;
}

std::vector<std::string> secrets_of(const Target& target) {
  std::vector<std::string> secrets = secrets_of_header(target.proxy_authorization);
  for (const auto& [name, value] : target.headers)
    for (std::string& secret : secrets_of_header(value)) secrets.push_back(std::move(secret));
  for (const QueryField& field : query_fields(target.query))
    if (field.secret) {
      secrets.emplace_back(field.value);
      secrets.push_back(without_percents(field.value));
    }
  return secrets;
}

std::string without_whole_secrets(std::string text, const std::vector<std::string>& secrets) {
  std::vector<std::string> longest_first = secrets;
  std::sort(longest_first.begin(), longest_first.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& secret : longest_first) {
    if (secret.size() < kShortestSecret) continue;
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kRemovedSecret.size()))
      text.replace(at, secret.size(), kRemovedSecret);
  }
  return text;
}

std::string without_secrets(std::string message, const std::vector<std::string>& secrets, std::string_view body) {
  message.resize(std::min(message.size(), kMaxMessage));
  const Plain plain = plain_of(message);
  Marks marks(plain.text.size(), false);
  for (const std::string& secret : secrets) mark_secret(plain.text, plain_of(secret).text, marks);
  const auto request = plain.text.size() < kShortestPrompt ? core::Result<core::Json>(core::Json()) : core::Json::parse(body);
  if (request && request->is_object()) mark_prompts(plain.text, *request, marks);
  return without(message, plain, marks);
}

}  // namespace aaco::serving
