#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace aaco::cli {

// "a,b,c" -> its parts, trimmed; nothing for an empty text.
std::vector<std::string> list_of(const std::string& text);
// A share such as 5% between 0 and 1, or what is wrong with the option.
core::Result<double> parse_threshold(const std::string& text, const std::string& option);

}  // namespace aaco::cli
