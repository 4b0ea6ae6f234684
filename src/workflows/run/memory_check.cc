#include "workflows/run/memory_check.h"

#include <algorithm>

#include "core/numbers.h"
#include "estimation/memory.h"
#include "graph/batch.h"
#include "graph/load.h"
#include "runner/memory_fit.h"

namespace aaco::workflows {
namespace {

std::int64_t weights_loaded(const RunPlan& plan) {
  const std::int64_t weights = graph::total_constants(plan.graph).bytes;
  const bool external = plan.model_bytes < weights / 2;
  const auto& constants = plan.graph.initializers;
  const bool half = plan.backend.provider == "CPUExecutionProvider" &&
                    std::any_of(constants.begin(), constants.end(), [&](const graph::Initializer& constant) {
                      return plan.graph.tensor(constant.tensor).type == graph::ElementType::float16;
                    });
  return runner::loading_bytes(weights, external, half);
}

// The sizes of the inputs as bindings of the graph's symbols.
graph::Bindings bindings_of(const graph::Graph& graph, const runner::ResolvedShapes& sizes) {
  const auto names = graph::free_symbols(graph);
  graph::Bindings bound;
  const auto put = [&](const std::string& name, std::int64_t size) {
    if (std::binary_search(names.begin(), names.end(), name)) bound.try_emplace(name, size);
  };
  for (const auto& [name, size] : sizes.dimensions) put(name, size);
  for (std::size_t number = 0; number < std::min(graph.inputs.size(), sizes.shapes.size()); ++number)
    for (std::size_t axis = 0; axis < sizes.shapes[number].size(); ++axis)
      put(graph.tensor(graph.inputs[number]).name + "#" + std::to_string(axis), sizes.shapes[number][axis]);
  return bound;
}

class Need {
 public:
  Need(const RunPlan& plan, const runner::ResolvedShapes& sizes)
      : plan_(plan), bindings_(bindings_of(plan.graph, sizes)), batch_symbol_(graph::batch_symbol(plan.graph)) {}

  struct Bytes {
    std::int64_t weights = 0, activations = 0;
    [[nodiscard]] std::int64_t all() const { return weights > INT64_MAX - activations ? INT64_MAX : weights + activations; }
  };

  // Empty where the sizes do not fit the graph: the runtime will say so.
  [[nodiscard]] std::optional<Bytes> with_batch(std::optional<std::int64_t> batch) const {
    graph::Bindings bindings = bindings_;
    if (batch)
      for (auto& [name, size] : bindings)
        if (name == batch_symbol_) size = *batch;
    const auto model = graph::prepare(plan_.graph, bindings);
    if (!model) return std::nullopt;
    estimation::MemoryPolicy policy = estimation::onnxruntime_cpu();
    policy.weight_copies = policy.loading_copies = 0;  // counted as the file holds them
    const auto estimate = estimation::estimate_memory(model->graph, policy);
    return Bytes{weights_loaded(plan_), estimate.peak_bytes};
  }

  // The largest batch below `batch` that fits; empty where not even 1 does, or nothing counts items.
  [[nodiscard]] std::optional<std::int64_t> largest_batch(std::int64_t batch, std::int64_t room) const {
    if (batch_symbol_.empty()) return std::nullopt;
    std::int64_t fits = 0, fails = batch;
    while (fails - fits > 1) {
      const std::int64_t middle = fits + (fails - fits) / 2;
      const auto need = with_batch(middle);
      (need && need->all() <= room ? fits : fails) = middle;
    }
    return fits > 0 ? std::optional(fits) : std::nullopt;
  }

 private:
  const RunPlan& plan_;
  graph::Bindings bindings_;
  std::string batch_symbol_;
};

std::string text_of(std::int64_t bytes) { return core::format_bytes(static_cast<double>(bytes)); }

}  // namespace

core::Status check_memory(const RunPlan& plan, const runner::ResolvedShapes& sizes) {
  const auto room = runner::memory_room();
  if (!room) return {};  // a machine that does not say cannot be asked
  AACO_TRY(runner::require_memory(plan.model_name, weights_loaded(plan), *room));
  if (plan.backend.provider != "CPUExecutionProvider") return {};
  const Need need(plan, sizes);
  const auto bytes = need.with_batch(std::nullopt);
  if (!bytes || bytes->all() <= room->bytes) return {};
  const auto smaller = need.largest_batch(sizes.batch, room->bytes);
  return core::fail(core::ErrorCode::exhausted,
                    plan.model_name + " with a batch of " + std::to_string(sizes.batch) + " needs about " +
                        text_of(bytes->all()) + " of memory (" + text_of(bytes->weights) + " to load it, " +
                        text_of(bytes->activations) + " for inputs and activations), but only " + text_of(room->bytes) +
                        " is available (" + room->bound + ")",
                    smaller ? "a batch of " + std::to_string(*smaller) + " would fit"
                            : "use smaller sizes, a smaller model or a machine with more memory; 'aaco analyze' predicts memory "
                              "use without running the model");
}

}  // namespace aaco::workflows
