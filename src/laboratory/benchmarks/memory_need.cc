#include "laboratory/benchmarks/memory_need.h"

#include "estimation/memory.h"
#include "graph/onnx.h"
#include "laboratory/benchmarks/sized_model.h"
#include "runner/memory_fit.h"

namespace aaco::laboratory::benchmarks {

std::int64_t memory_needed(const graph::Graph& graph, const std::map<std::string, std::int64_t>& dimensions, bool on_host) {
  const std::int64_t weights = graph::total_constants(graph).bytes;
  const std::int64_t loading = runner::loading_bytes(weights, weights > graph::onnx::kEmbedLimitBytes, false);
  if (!on_host) return loading;
  const auto model = model_at(graph, dimensions);
  if (!model) return loading;
  estimation::MemoryPolicy policy = estimation::onnxruntime_cpu();
  policy.weight_copies = policy.loading_copies = 0;  // counted above
  const std::int64_t live = estimation::estimate_memory(model->graph, policy).peak_bytes;
  return loading > INT64_MAX - live ? INT64_MAX : loading + live;
}

}  // namespace aaco::laboratory::benchmarks
