#pragma once

#include <string_view>

namespace aaco::trace {

// Sessions that summarise other sessions and have no measurements of their own.
inline bool is_summary_kind(std::string_view kind) { return kind == "sweep" || kind == "optimize"; }

}  // namespace aaco::trace
