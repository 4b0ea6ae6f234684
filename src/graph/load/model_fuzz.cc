#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/cost.h"
#include "graph/load.h"
#include "graph/onnx.h"
#include "graph/parameters.h"
#include "graph/pt2.h"
#include "graph/tflite.h"

// Any model that can be read: dimensions bound, shapes inferred, work counted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace graph = aaco::graph;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto onnx = [&]() -> aaco::core::Result<graph::Source> {
    AACO_ASSIGN(graph::Graph read, graph::onnx::parse(bytes, "fuzz"));
    return graph::Source{std::move(read), {}, {}};
  };
  auto read = bytes.starts_with("PK")                ? graph::pt2::parse(bytes, "fuzz")
              : bytes.substr(0, 8).ends_with("TFL3") ? graph::tflite::parse(bytes, "fuzz")
              : bytes.starts_with("{")               ? graph::pt2::parse_program(bytes, "fuzz")
                                                     : onnx();
  if (!read) return 0;
  const auto model = graph::prepare(*std::move(read));
  if (!model) return 0;
  const graph::GraphCost cost = cost_of(model->graph);
  (void)count_parameters(model->graph);
  return cost.nodes.size() > model->graph.nodes.size() + (std::size_t{1} << 30) ? 1 : 0;
}
