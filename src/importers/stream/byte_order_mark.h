#pragma once

#include <string_view>

namespace aaco::importers {

// What some tools of Windows write before UTF-8 text. It says nothing of the format and is no part of it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace aaco::importers
