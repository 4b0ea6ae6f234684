#include <cstddef>
#include <cstdint>

#include "importers/jax_trace.h"
#include "importers/stream/source_testing.h"

// Whatever the bytes: what import_either_way() says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto importer = importers::jax_trace::make_importer();
  (void)importer->sniff(text, "x.trace.json");
  (void)importers::import_either_way([&](trace::ByteSource& source, trace::Sink& sink) { return importer->import(source, sink); },
                                     text);
  return 0;
}
