#pragma once

#include <string_view>

namespace aaco::trace {

// Sessions that summarise other sessions, or look at a model, and have no metrics of their own.
inline bool is_summary_kind(std::string_view kind) { return kind == "sweep" || kind == "optimize" || kind == "compiler"; }

// A session's kind in a sentence: "the recording did not end".
inline std::string_view kind_noun(std::string_view kind) {
  if (kind == "record") return "recording";
  if (kind == "import") return "imported trace";
  if (kind == "llm") return "language-model measurement";
  if (kind == "optimize") return "search";
  if (kind == "compiler") return "compiler insight";
  return kind;
}

}  // namespace aaco::trace
