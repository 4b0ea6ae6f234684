#include "graph/rewrite/edit.h"

#include <algorithm>
#include <utility>

namespace aaco::graph::rewrite {
namespace {

void collect_captured(const Graph& graph, std::set<std::string>& names) {
  for (const Graph& body : graph.subgraphs) {
    for (const TensorId id : body.captured) names.insert(body.tensor(id).name);
    collect_captured(body, names);
  }
}

}  // namespace

Edit::Edit(Graph& graph) : graph_(graph) {
  collect_captured(graph, captured_);
  for (const TensorDescriptor& tensor : graph.tensors) names_.insert(tensor.name);
  for (const TensorId id : graph.outputs) outputs_.insert(id.value);
  for (std::size_t i = 0; i < graph.initializers.size(); ++i) constants_[graph.initializers[i].tensor.value] = i;
}

const Initializer* Edit::constant(TensorId id) const {
  const auto found = constants_.find(id.value);
  return found == constants_.end() ? nullptr : &graph_.initializers[found->second];
}

TensorId Edit::add_tensor(const std::string& name, ElementType type, std::optional<Shape> shape) {
  std::string unique = name;
  for (int i = 2; !names_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return graph_.add_tensor({unique, type, std::move(shape)});
}

TensorId Edit::add_constant(const std::string& name, ElementType type, const std::vector<std::int64_t>& dims,
                            std::vector<std::byte> data) {
  const TensorId id = add_tensor(name, type, Shape(dims.begin(), dims.end()));
  make_constant(id, {std::move(data), std::nullopt});
  return id;
}

void Edit::redirect(TensorId old, TensorId now) {
  if (const auto further = redirected_.find(now.value); further != redirected_.end()) now = further->second;
  for (auto& [from, to] : redirected_)
    if (to.value == old.value) to = now;
  redirected_[old.value] = now;
}

void Edit::make_constant(TensorId id, Constant constant) {
  constants_[id.value] = graph_.initializers.size();
  graph_.initializers.push_back({id, std::move(constant)});
}

// ONNX Runtime refuses two nodes of one name. Those that were there keep theirs.
void Edit::name_apart() {
  std::set<std::string> taken;
  for (Node& node : graph_.nodes) {
    if (node.name.empty()) continue;
    const std::string name = node.name;
    for (int i = 2; !taken.insert(node.name).second; ++i) node.name = name + "_" + std::to_string(i);
  }
}

void Edit::finish() {
  std::vector<Node> nodes;
  for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
    const auto found = replaced_.find(at);
    if (found == replaced_.end())
      nodes.push_back(std::move(graph_.nodes[at]));
    else
      std::move(found->second.begin(), found->second.end(), std::back_inserter(nodes));
  }
  graph_.nodes = std::move(nodes);
  name_apart();
  std::set<std::int64_t> read = outputs_;
  for (Node& node : graph_.nodes) {
    for (TensorId& input : node.inputs) {
      if (const auto found = redirected_.find(input.value); found != redirected_.end()) input = found->second;
      read.insert(input.value);
    }
  }
  std::erase_if(graph_.initializers,
                [&](const Initializer& one) { return !read.contains(one.tensor.value) && !captured(one.tensor); });
  replaced_.clear();
  redirected_.clear();
  constants_.clear();
  for (std::size_t i = 0; i < graph_.initializers.size(); ++i) constants_[graph_.initializers[i].tensor.value] = i;
}

}  // namespace aaco::graph::rewrite
