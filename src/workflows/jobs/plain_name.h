#pragma once

#include <algorithm>
#include <string_view>

namespace aaco::workflows {

inline constexpr std::size_t kMaxPlainName = 200;

inline bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._:@+,=-*").find(c) != std::string_view::npos;
}

// No path, no option and nothing that a shell or a terminal would act on.
inline bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPlainName && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_plain_character);
}

}  // namespace aaco::workflows
