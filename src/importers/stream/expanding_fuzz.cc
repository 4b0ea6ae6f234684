#include <cstddef>
#include <cstdint>

#include "importers/stream/expanding_source.h"
#include "importers/stream/source_testing.h"

// Whatever the compressed bytes, reading ends, within its limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string packed(reinterpret_cast<const char*>(data), size);
  const auto kind = formats::detect_compression(packed);
  if (kind == formats::Compression::none) return 0;
  const auto source =
      importers::make_expanding_source(std::make_unique<importers::TextSource>(packed, 1000), kind,
                                       {.always_allowed_bytes = 1 << 16, .largest_ratio = 100, .largest_bytes = 1 << 22});
  std::string block(5000, '\0');
  for (;;) {
    const auto count = source->read(block);
    if (!count || *count == 0) break;
  }
  return 0;
}
