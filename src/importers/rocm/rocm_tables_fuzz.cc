#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/rocm/table_reader.h"
#include "importers/stream/source_testing.h"

// Whatever the bytes: what import_either_way() says, and no kernel starts before time begins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)importers::rocm::table_of_head(text);
  const auto table = [](trace::ByteSource& source, trace::Sink& sink) {
    return importers::rocm::import_table(source, sink, "fuzz");
  };
  const auto read = importers::import_either_way(table, text);
  if (!read) return 0;
  for (const auto& row : read->sink.rows<trace::KernelRow>())
    if (row.start_ns < 0) std::abort();
  return 0;
}
