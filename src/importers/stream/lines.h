#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

struct LinesEnd {
  std::int64_t bytes = 0;     // read in all
  std::int64_t too_long = 0;  // lines above the limit, not handed out
  bool terminated = true;     // the last line had its end
};

// Hands each line of a text to `visit`, without its end ("\n" or "\r\n"), in bounded memory. Fails where reading does or the text
// is empty.
core::Result<LinesEnd> read_lines(trace::ByteSource& source, const std::function<void(std::string_view)>& visit,
                                  std::size_t longest_bytes = std::size_t{1} << 20);

}  // namespace aaco::importers
