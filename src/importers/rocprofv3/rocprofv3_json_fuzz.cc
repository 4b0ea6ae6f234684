#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/rocprofv3.h"
#include "importers/stream/source_testing.h"

// What is read is kept or dropped by reason, whatever the bytes; and reading in small pieces changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  trace::MemorySink whole;
  trace::MemorySink pieces;
  importers::TextSource at_once(text);
  importers::TextSource bit_by_bit(text, 7);
  const auto importer = importers::rocprofv3::make_json_importer();
  (void)importer->sniff(text, "results.json");
  const auto first = importer->import(at_once, whole);
  const auto second = importer->import(bit_by_bit, pieces);
  if (first.has_value() != second.has_value()) std::abort();
  if (!first) return 0;
  if (first->account != second->account) std::abort();
  if (first->account.read != first->account.kept + first->account.dropped_total()) std::abort();
  for (const auto& row : whole.rows<trace::KernelRow>())
    if (row.end_ns < row.start_ns) std::abort();
  return 0;
}
