#include <cstddef>
#include <cstdint>

#include "importers/rocprof.h"
#include "importers/stream/source_testing.h"

// Whatever the bytes: what import_either_way() says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto importer = importers::rocprof::make_json_importer();
  (void)importer->sniff(text, "results.json");
  (void)importers::import_either_way(importer, text);
  return 0;
}
