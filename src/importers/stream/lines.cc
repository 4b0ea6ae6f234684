#include "importers/stream/lines.h"

#include <string>

namespace aaco::importers {

core::Result<LinesEnd> read_lines(trace::ByteSource& source, const std::function<void(std::string_view)>& visit,
                                  std::size_t longest_bytes) {
  LinesEnd end;
  std::string line;
  bool too_long = false;
  const auto finish = [&] {
    if (too_long) {
      ++end.too_long;
    } else {
      if (line.ends_with('\r')) line.pop_back();
      visit(line);
    }
    line.clear();
    too_long = false;
  };
  std::string piece(std::size_t{64} << 10, '\0');
  for (;;) {
    AACO_ASSIGN(const std::size_t count, source.read(piece));
    if (count == 0) break;
    end.bytes += static_cast<std::int64_t>(count);
    std::string_view rest(piece.data(), count);
    while (!rest.empty()) {
      const auto stop = rest.find('\n');
      const std::string_view part = rest.substr(0, stop);
      too_long = too_long || line.size() + part.size() > longest_bytes;
      if (!too_long) line.append(part);
      end.terminated = stop != std::string_view::npos;
      if (!end.terminated) break;
      finish();
      rest.remove_prefix(stop + 1);
    }
  }
  if (end.bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  if (!end.terminated) finish();
  return end;
}

}  // namespace aaco::importers
