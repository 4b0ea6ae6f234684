#pragma once

#include <string_view>

namespace aaco::trace {

// Sessions that summarise other sessions, or look at a model, and have no metrics of their own.
inline bool is_summary_kind(std::string_view kind) { return kind == "sweep" || kind == "optimize" || kind == "compiler"; }

}  // namespace aaco::trace
