#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::core {

// The whole text (white space around it allowed) as a number, or empty. Nothing is rounded into an integer.
std::optional<std::int64_t> parse_i64(std::string_view text);
std::optional<std::uint64_t> parse_u64(std::string_view text);  // decimal, or hexadecimal after 0x
std::optional<double> parse_f64(std::string_view text);

// A decimal text such as "1589393.1234" in units of 10^-`decimals` (3: microseconds to ns), exact where a double is not;
// further digits are cut. Empty for anything else, exponents included, and for what does not fit 64 bits.
std::optional<std::int64_t> parse_fixed(std::string_view text, int decimals);

// "5%", "0.05", "10ms", "60s", "4GiB" as people write them on a command line.
std::optional<double> parse_ratio(std::string_view text);
std::optional<std::int64_t> parse_duration_ns(std::string_view text);  // ns us ms s m h d; a bare number is seconds
std::optional<std::int64_t> parse_bytes(std::string_view text);        // B kB MB GB KiB MiB GiB; a bare number is bytes

// For people: "3.21 ms", "45.0 µs", "1.5 GiB", "12.3 %"; about three significant digits.
std::string format_duration(double ns);
std::string format_bytes(double bytes);
std::string format_percent(double ratio);
std::string format_confidence(double ratio);      // whole percents; "> 99 %" and "< 1 %" for what rounds to certainty
std::string format_signed_percent(double ratio);  // of a change (b - a) / a: "+1.20 %"; from 9 on b / a, "506 times"
std::string format_signed_duration(double ns);
std::string format_count(double count);  // "1,234,567" below ten million, then "12.3 M"

}  // namespace aaco::core
