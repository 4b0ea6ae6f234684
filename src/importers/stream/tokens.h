#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::importers {

// A JSON number token of microseconds as the nearest whole ns; exponents ("1.6e+15") are followed exactly. Empty for
// anything else and for what does not fit.
std::optional<std::int64_t> microseconds_to_ns(std::string_view token);

// Whole numbers as they stand in a trace: decimal, "0x..." or a decimal with an empty fraction ("7.0").
std::optional<std::int64_t> token_i64(std::string_view token);
std::optional<std::uint64_t> token_u64(std::string_view token);

// Whether a JSON string (without its quotes) is plain already: no escapes, no control characters, ASCII only.
bool is_plain(std::string_view raw);
// The text that a JSON string stands for. Invalid UTF-8, lone surrogates, NUL and broken escapes become U+FFFD.
std::string unescape(std::string_view raw);
// The text with NUL and what is no UTF-8 replaced by U+FFFD; escapes stay.
std::string clean_utf8(std::string_view text);

}  // namespace aaco::importers
