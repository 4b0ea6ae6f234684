#pragma once

#include <string>
#include <string_view>

namespace aaco::core {

// A text as a field of a CSV file (RFC 4180): quoted where it must be. One that a spreadsheet would execute as a formula (it
// begins with = + - @, a tab or a carriage return) gets an apostrophe in front; numbers and percentages stay as they are.
std::string csv_cell(std::string_view text);

}  // namespace aaco::core
