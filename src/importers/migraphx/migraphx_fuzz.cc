#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/migraphx.h"
#include "importers/stream/source_testing.h"

// Every line is kept or dropped by reason, edges join instructions that exist, and reading in small pieces changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  trace::MemorySink whole;
  trace::MemorySink pieces;
  importers::TextSource at_once(text);
  importers::TextSource bit_by_bit(text, 7);
  const auto importer = importers::migraphx::make_importer();
  (void)importer->sniff(text, "perf.txt");
  const auto first = importer->import(at_once, whole);
  const auto second = importer->import(bit_by_bit, pieces);
  if (first.has_value() != second.has_value()) std::abort();
  if (!first) return 0;
  if (first->account != second->account) std::abort();
  if (first->account.read != first->account.kept + first->account.dropped_total()) std::abort();
  const auto nodes = static_cast<std::int64_t>(whole.rows<trace::GraphNodeRow>().size());
  for (const auto& edge : whole.rows<trace::GraphEdgeRow>())
    if (edge.source_node >= edge.target_node || edge.target_node >= nodes) std::abort();
  return 0;
}
