#include "importers/stream/tokens.h"

#include <algorithm>

#include "core/numbers.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kMaxDigits = 16;
constexpr std::int64_t kMaxMicroseconds = 9'000'000'000'000'000;  // with three decimals they fit 64 bits
constexpr std::int64_t kMaxExponent = 15;                         // above it no time since 1970 is meant
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// With one more decimal than is wanted: to the nearest, so that 4.1989999999850988, which arithmetic made of 4.199, is that
// again. Where that does not fit, further digits are cut.
std::optional<std::int64_t> nearest_fixed(std::string_view text, int decimals) {
  if (const auto finer = core::parse_fixed(text, decimals + 1)) return *finer / 10 + (*finer % 10) / 5;
  return core::parse_fixed(text, decimals);
}

// "16.25e3" with three further decimals is 16.25 with six.
std::optional<std::int64_t> with_exponent(std::string_view token) {
  const std::size_t mark = token.find_first_of("eE");
  if (mark == std::string_view::npos) return std::nullopt;
  std::string_view exponent_text = token.substr(mark + 1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  const auto exponent = core::parse_i64(exponent_text);
  if (!exponent || *exponent > kMaxExponent) return std::nullopt;
  const std::string_view mantissa = token.substr(0, mark);
  const std::int64_t decimals = 3 + *exponent;
  if (decimals >= 0) return nearest_fixed(mantissa, static_cast<int>(decimals));
  auto value = core::parse_fixed(mantissa, 0);
  for (std::int64_t i = decimals; value && i < 0 && *value != 0; ++i) *value /= 10;
  return value;
}

// Numbers in traces are short: the common forms are read here, everything else by core::parse_fixed.
std::optional<std::int64_t> short_decimal(std::string_view token) {
  std::int64_t value = 0;
  std::size_t at = 0;
  while (at < token.size() && at <= kMaxDigits && is_digit(token[at])) value = 10 * value + (token[at++] - '0');
  if (at == 0 || at > kMaxDigits || value > kMaxMicroseconds) return std::nullopt;
  int decimals = 0;
  if (at < token.size()) {
    if (token[at] != '.') return std::nullopt;
    bool up = false;
    for (++at; at < token.size() && is_digit(token[at]); ++at) {
      if (decimals >= 3) {
        if (decimals == 3) up = token[at] >= '5';
      } else {
        value = 10 * value + (token[at] - '0');
      }
      ++decimals;
    }
    if (at < token.size()) return std::nullopt;
    if (up) ++value;
  }
  for (; decimals < 3; ++decimals) value *= 10;
  return value;
}

// Digits alone, as nearly all whole numbers in traces are.
std::optional<std::uint64_t> short_whole(std::string_view token) {
  constexpr std::size_t kSafeDigits = 18;
  if (token.size() > kSafeDigits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : token) {
    if (!is_digit(c)) return std::nullopt;
    value = 10 * value + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

void append_code_point(std::string& text, std::uint32_t code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    text += kReplacement;
  } else if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6U));
    text += static_cast<char>(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12U));
    text += static_cast<char>(0x80 | ((code >> 6U) & 0x3FU));
    text += static_cast<char>(0x80 | (code & 0x3FU));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18U));
    text += static_cast<char>(0x80 | ((code >> 12U) & 0x3FU));
    text += static_cast<char>(0x80 | ((code >> 6U) & 0x3FU));
    text += static_cast<char>(0x80 | (code & 0x3FU));
  }
}

std::optional<std::uint32_t> four_hex_digits(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return std::nullopt;
  std::uint32_t code = 0;
  for (char c : raw.substr(at, 4)) {
    const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return std::nullopt;
    code = 16 * code + static_cast<std::uint32_t>(digit);
  }
  return code;
}

// At the backslash; the answer is how many bytes the escape takes.
std::size_t append_escape(std::string& text, std::string_view raw, std::size_t at) {
  const char kind = at + 1 < raw.size() ? raw[at + 1] : '\0';
  switch (kind) {
    case '"':
    case '\\':
    case '/': text += kind; return 2;
    case 'b': text += '\b'; return 2;
    case 'f': text += '\f'; return 2;
    case 'n': text += '\n'; return 2;
    case 'r': text += '\r'; return 2;
    case 't': text += '\t'; return 2;
    case 'u': break;
    default: text += kReplacement; return 2;
  }
  const auto code = four_hex_digits(raw, at + 2);
  if (!code) {
    text += kReplacement;
    return 2;
  }
  if (*code >= 0xD800 && *code < 0xDC00 && raw.substr(at + 6, 2) == "\\u") {
    const auto low = four_hex_digits(raw, at + 8);
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      append_code_point(text, 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00));
      return 12;
    }
  }
  append_code_point(text, *code);
  return 6;
}

// The length of the well-formed UTF-8 sequence at `at`, or 0.
std::size_t sequence_length(std::string_view raw, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < raw.size() ? static_cast<unsigned char>(raw[at + i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool outside = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
    return outside ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::optional<std::int64_t> microseconds_to_ns(std::string_view token) {
  if (const auto value = short_decimal(token)) return value;
  if (const auto value = nearest_fixed(token, 3)) return value;
  return with_exponent(token);
}

std::optional<std::int64_t> token_i64(std::string_view token) {
  if (token.empty()) return std::nullopt;
  if (const auto value = short_whole(token)) return static_cast<std::int64_t>(*value);
  if (const auto value = core::parse_i64(token)) return value;
  if (token.starts_with("0x"))
    if (const auto value = core::parse_u64(token); value && *value <= INT64_MAX) return static_cast<std::int64_t>(*value);
  return token.ends_with(".0") ? core::parse_i64(token.substr(0, token.size() - 2)) : std::nullopt;
}

std::optional<std::uint64_t> token_u64(std::string_view token) {
  if (token.empty()) return std::nullopt;
  if (const auto value = short_whole(token)) return value;
  if (const auto value = core::parse_u64(token)) return value;
  return token.ends_with(".0") ? core::parse_u64(token.substr(0, token.size() - 2)) : std::nullopt;
}

bool is_plain(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; });
}

namespace {

std::string clean(std::string_view raw, bool escapes) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at];
    if (c == '\\' && escapes) {
      at += append_escape(text, raw, at);
    } else if (static_cast<unsigned char>(c) < 0x80) {
      if (c == '\0')
        text += kReplacement;
      else
        text += c;
      ++at;
    } else if (const std::size_t length = sequence_length(raw, at)) {
      text += raw.substr(at, length);
      at += length;
    } else {
      text += kReplacement;
      ++at;
    }
  }
  return text;
}

}  // namespace

std::string unescape(std::string_view raw) { return clean(raw, true); }

std::string clean_utf8(std::string_view text) { return clean(text, false); }

}  // namespace aaco::importers
