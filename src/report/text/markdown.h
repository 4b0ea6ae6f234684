#pragma once

#include <string>
#include <string_view>

namespace aaco::report {

// One line of text in which nothing is markup: control characters are gone (`printable`), and what Markdown or HTML would read is
// escaped. An underscore within a word is none, and stays.
std::string markdown_text(std::string_view text);

}  // namespace aaco::report
