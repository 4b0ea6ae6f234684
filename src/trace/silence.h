#pragma once

#include <string_view>

namespace aaco::trace {

// The name of an ApiCallRow that stands for a time in which no Python frame of a thread began or ended: no event, so timelines
// leave it out and no fact counts it; idle time in it is unknown (data/gaps/causes.yaml).
inline constexpr std::string_view kNoPythonFrame = "(no Python frame recorded)";

}  // namespace aaco::trace
