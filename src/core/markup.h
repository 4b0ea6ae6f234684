#pragma once

#include <string>
#include <string_view>

namespace aaco::core {

// Text as content or as a quoted attribute of XML, SVG or HTML: '&', '<', '>' and '"' as references. Control characters stay.
std::string escape_markup(std::string_view text);

}  // namespace aaco::core
