#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/ort_profile.h"
#include "importers/stream/source_testing.h"

// What is read is kept or dropped by reason, whatever the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  importers::TextSource source(std::string(reinterpret_cast<const char*>(data), size));
  trace::MemorySink sink;
  const auto result = importers::ort::make_importer()->import(source, sink);
  if (result && result->account.read != result->account.kept + result->account.dropped_total()) std::abort();
  return 0;
}
