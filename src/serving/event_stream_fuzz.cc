#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "serving/chunk.h"
#include "serving/event_stream.h"

// The events of a stream do not depend on where it is cut; any data of an event is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = data[0] % text.size();
  std::vector<std::string> whole, pieces;
  aaco::serving::EventStream one, two;
  aaco::serving::ChunkReader reader(true);
  (void)one.feed(text, [&](std::string_view event, std::string_view value) {
    whole.emplace_back(value);
    (void)reader.read(event, value);
  });
  const auto keep = [&](std::string_view, std::string_view value) { pieces.emplace_back(value); };
  // A byte order mark is only seen in one piece: servers that send one send it with the first event.
  if (text.starts_with('\xef')) return 0;
  (void)two.feed(text.substr(0, cut), keep);
  (void)two.feed(text.substr(cut), keep);
  AACO_CHECK(whole == pieces);
  return 0;
}
