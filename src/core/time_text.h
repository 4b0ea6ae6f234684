#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aaco::core {

// A point of the realtime clock, ns since 1970, from a text as tools write it: "2026-11-21", "2026-11-21T08:15:30Z" with a blank
// or T,
// '-', '.' or '/' in the date, fractions of a second, and a zone "Z", "+01:00" or "+0100" (UTC without one). Empty for anything
// else and for days that no calendar has.
std::optional<std::int64_t> parse_time_text(std::string_view text);

// A number of seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by size: points from 1973 to 2286 are
// understood in each.
std::optional<std::int64_t> parse_epoch(double number);

}  // namespace aaco::core
