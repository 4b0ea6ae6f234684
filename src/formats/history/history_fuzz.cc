#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/history.h"

// Whatever the bytes are: every point is finite, and what was read is kept or counted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = aaco::formats::history::read({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!document) return 0;
  std::int64_t kept = 0;
  for (const auto& series : document->series)
    for (const auto& point : series.points) {
      if (!std::isfinite(point.value)) std::abort();
      ++kept;
    }
  for (const auto& [why, count] : document->dropped) kept += count;
  if (kept != document->read) std::abort();
  return 0;
}
