#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aaco::core {

// Without leading and trailing white space and NUL bytes (sysfs pads with them).
std::string_view trim(std::string_view text);
// Fields between separators; "a,,b" has three, "" has one.
std::vector<std::string_view> split(std::string_view text, char separator);
// Lines without their line ends (LF or CRLF); no empty line after a final line end.
std::vector<std::string_view> split_lines(std::string_view text);
// Words between white space.
std::vector<std::string_view> split_words(std::string_view text);
std::string to_lower(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string join(const std::vector<std::string_view>& parts, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// The candidate nearest to `word` by edit distance, or empty when none is near enough to be meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace aaco::core
