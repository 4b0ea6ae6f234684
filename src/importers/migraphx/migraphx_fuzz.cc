#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "importers/migraphx.h"
#include "importers/stream/source_testing.h"

// Whatever the bytes: what import_either_way() says, and edges join instructions that exist, forwards.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto importer = importers::migraphx::make_importer();
  (void)importer->sniff(text, "perf.txt");
  const auto read = importers::import_either_way(importer, text);
  if (!read) return 0;
  const auto nodes = static_cast<std::int64_t>(read->sink.rows<trace::GraphNodeRow>().size());
  for (const auto& edge : read->sink.rows<trace::GraphEdgeRow>())
    if (edge.source_node >= edge.target_node || edge.target_node >= nodes) std::abort();
  return 0;
}
