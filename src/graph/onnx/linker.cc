#include "graph/onnx/linker.h"

#include <algorithm>

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;

std::string describe(const Node& node) { return "node '" + node.name + "' (" + node.op_type + ")"; }

}  // namespace

TensorId Linker::tensor(const std::string& name) {
  if (name.empty()) return {};
  const auto [entry, is_new] = ids_.try_emplace(name);
  if (is_new) {
    input_.charge(static_cast<std::int64_t>(sizeof(TensorDescriptor) + 2 * name.size() + 64));
    entry->second = graph_.add_tensor({name, ElementType::unknown, std::nullopt});
  }
  return entry->second;
}

void Linker::finish(bool inside_another_graph) {
  if (input_.failed()) return;
  find_producers();
  drop_defaulted_inputs();
  find_captured(inside_another_graph);
  if (!input_.failed()) sort_nodes();
}

void Linker::find_producers() {
  producer_.assign(graph_.tensors.size(), kNone);
  for (const TensorId id : graph_.inputs) producer_[index_of(id)] = kGiven;
  for (const Initializer& initializer : graph_.initializers) producer_[index_of(initializer.tensor)] = kGiven;
  for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
    for (const TensorId id : graph_.nodes[number].outputs) {
      if (!id.valid()) continue;
      if (producer_[index_of(id)] != kNone)
        return input_.fail(ErrorCode::invalid_input, "duplicate producer of the tensor '" + graph_.tensor(id).name +
                                                         "': " + describe(graph_.nodes[number]));
      producer_[index_of(id)] = static_cast<std::int32_t>(number);
    }
  }
}

// Before IR version 4 every initializer was listed among the inputs too; from then on, one that is may be replaced by the caller.
void Linker::drop_defaulted_inputs() {
  std::vector<bool> constant(graph_.tensors.size(), false);
  for (const Initializer& initializer : graph_.initializers) constant[index_of(initializer.tensor)] = true;
  for (const TensorId id : graph_.inputs)
    if (constant[index_of(id)]) graph_.overridable.push_back(id);
  std::erase_if(graph_.inputs, [&](TensorId id) { return constant[index_of(id)]; });
}

// What a node waits for: its inputs and what its subgraphs capture from this graph.
std::vector<TensorId> Linker::needs(const Node& node) const {
  std::vector<TensorId> tensors;
  for (const TensorId id : node.inputs)
    if (id.valid()) tensors.push_back(id);
  for (const Attribute& attribute : node.attributes) {
    const auto* bodies = std::get_if<std::vector<SubgraphId>>(&attribute.value);
    if (bodies == nullptr) continue;
    for (const SubgraphId body : *bodies)
      for (const TensorId captured : graph_.subgraph(body).captured)
        if (const auto found = ids_.find(graph_.subgraph(body).tensor(captured).name); found != ids_.end())
          tensors.push_back(found->second);
  }
  return tensors;
}

void Linker::find_captured(bool inside_another_graph) {
  // A name that only a body reads is this graph's own (or comes from further out): it gets an id here too.
  for (std::size_t body = 0; body < graph_.subgraphs.size(); ++body)
    for (const TensorId captured : graph_.subgraphs[body].captured) (void)tensor(graph_.subgraphs[body].tensor(captured).name);
  producer_.resize(graph_.tensors.size(), kNone);
  std::vector<bool> noted(graph_.tensors.size(), false);
  const auto require = [&](TensorId id, const std::string& reader) {
    if (producer_[index_of(id)] != kNone || noted[index_of(id)]) return;
    noted[index_of(id)] = true;
    if (inside_another_graph)
      graph_.captured.push_back(id);
    else
      input_.fail(ErrorCode::invalid_input,
                  reader + " reads the tensor '" + graph_.tensor(id).name + "', which no node produces");
  };
  for (const Node& node : graph_.nodes)
    for (const TensorId id : needs(node)) require(id, describe(node));
  for (const TensorId id : graph_.outputs) require(id, "the model's list of outputs");
}

// Kahn's algorithm, keeping the file's order among nodes that are ready.
void Linker::sort_nodes() {
  const std::size_t count = graph_.nodes.size();
  std::vector<std::int32_t> waits(count, 0);
  std::vector<std::vector<std::int32_t>> readers(count);
  bool in_order = true;
  for (std::size_t number = 0; number < count; ++number) {
    for (const TensorId id : needs(graph_.nodes[number])) {
      const std::int32_t from = producer_[index_of(id)];
      if (from < 0) continue;
      in_order = in_order && from < static_cast<std::int32_t>(number);
      readers[static_cast<std::size_t>(from)].push_back(static_cast<std::int32_t>(number));
      ++waits[number];
    }
  }
  if (in_order) return;
  std::vector<std::int32_t> order;
  for (std::size_t number = 0; number < count; ++number)
    if (waits[number] == 0) order.push_back(static_cast<std::int32_t>(number));
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const std::int32_t reader : readers[static_cast<std::size_t>(order[at])])
      if (--waits[static_cast<std::size_t>(reader)] == 0) order.push_back(reader);
  if (order.size() < count) {
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](std::int32_t left) { return left > 0; });
    return input_.fail(ErrorCode::invalid_input, "the graph has a cycle through " +
                                                     describe(graph_.nodes[static_cast<std::size_t>(stuck - waits.begin())]));
  }
  std::vector<Node> sorted;
  sorted.reserve(count);
  for (const std::int32_t number : order) sorted.push_back(std::move(graph_.nodes[static_cast<std::size_t>(number)]));
  graph_.nodes = std::move(sorted);
}

}  // namespace aaco::graph::onnx
