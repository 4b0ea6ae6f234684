#pragma once

#include <algorithm>
#include <string_view>

namespace aaco::importers {

// What some tools of Windows write before UTF-8 text. It says nothing of the format and is no part of it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The text of a document behind its byte order mark and white space.
inline std::string_view document_text(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return head;
}

}  // namespace aaco::importers
