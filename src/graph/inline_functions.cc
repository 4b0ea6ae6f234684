#include <algorithm>
#include <unordered_map>

#include "graph/shapes.h"

namespace aaco::graph {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr int kMaxDepth = 64;

using Names = std::unordered_map<std::string, std::string>;

// Gives a body of a function's node the names that its captured tensors have where the function is put in.
void rename_captured(Graph& body, const Names& names) {
  for (const TensorId id : body.captured)
    if (const auto found = names.find(body.tensor(id).name); found != names.end()) body.tensor(id).name = found->second;
  for (Graph& inner : body.subgraphs) {
    Names seen;
    for (const TensorId id : inner.captured)
      if (const auto found = names.find(inner.tensor(id).name); found != names.end()) seen.insert(*found);
    rename_captured(inner, seen);
  }
}

std::size_t count_nodes(const Graph& graph) {
  std::size_t count = graph.nodes.size();
  for (const Graph& body : graph.subgraphs) count += count_nodes(body);
  return count;
}

class Inliner {
 public:
  explicit Inliner(const std::vector<Function>& functions) : functions_(functions) {
    for (std::size_t number = 0; number < functions.size(); ++number)
      by_name_[functions[number].domain + "." + functions[number].name] = number;
  }

  core::Status expand(Graph& graph, int depth) {
    for (Graph& body : graph.subgraphs) AACO_TRY(expand(body, depth));
    const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return find(node) != nullptr; });
    if (!any) return {};
    if (depth > kMaxDepth)
      return fail(ErrorCode::invalid_input, "the model's functions are nested more than " + std::to_string(kMaxDepth) + " deep",
                  "a function must not call itself");
    std::vector<Node> nodes = std::move(graph.nodes);
    graph.nodes.clear();
    for (Node& node : nodes) {
      if (++nodes_ > kMaxNodes)
        return fail(ErrorCode::exhausted, "the model has more than a million nodes after inlining its functions");
      if (const Function* function = find(node))
        AACO_TRY(put_in(graph, node, *function));
      else
        graph.nodes.push_back(std::move(node));
    }
    return expand(graph, depth + 1);
  }

 private:
  const Function* find(const Node& node) const {
    const auto found = by_name_.find(node.domain + "." + node.op_type);
    return found == by_name_.end() ? nullptr : &functions_[found->second];
  }

  core::Status put_in(Graph& graph, const Node& call, const Function& function) {
    const Graph& body = function.body;
    if (call.inputs.size() > body.inputs.size() || call.outputs.size() > body.outputs.size())
      return fail(ErrorCode::invalid_input,
                  "node '" + call.name + "' passes more inputs or outputs than its function " + function.name + " has");
    const std::string prefix = (call.name.empty() ? function.name + std::to_string(++unnamed_) : call.name) + "/";
    std::vector<TensorId> ids(body.tensors.size());
    for (std::size_t at = 0; at < body.inputs.size(); ++at)
      ids[static_cast<std::size_t>(body.inputs[at].value)] = at < call.inputs.size() ? call.inputs[at] : TensorId{};
    std::vector<bool> settled(body.tensors.size(), false);
    for (const TensorId id : body.inputs) settled[static_cast<std::size_t>(id.value)] = true;
    for (std::size_t at = 0; at < call.outputs.size(); ++at) {
      const auto inside = static_cast<std::size_t>(body.outputs[at].value);
      if (settled[inside] || !call.outputs[at].valid()) continue;
      ids[inside] = call.outputs[at];
      settled[inside] = true;
    }
    Names names;
    for (std::size_t at = 0; at < ids.size(); ++at) {
      if (!settled[at]) {
        TensorDescriptor tensor = body.tensors[at];
        tensor.name = prefix + tensor.name;
        ids[at] = graph.add_tensor(std::move(tensor));
      }
      if (ids[at].valid()) names[body.tensors[at].name] = graph.tensor(ids[at]).name;
    }
    if (graph.tensors.size() > 4 * kMaxNodes)
      return fail(ErrorCode::exhausted, "the model has too many tensors after inlining its functions");
    for (const Initializer& initializer : body.initializers)
      graph.initializers.push_back({ids[static_cast<std::size_t>(initializer.tensor.value)], initializer.constant});
    for (const Node& node : body.nodes) graph.nodes.push_back(moved(graph, node, body, call, ids, names, prefix));
    // An output that is an input of the function, or one output given twice.
    for (std::size_t at = 0; at < call.outputs.size(); ++at) {
      const TensorId source = ids[static_cast<std::size_t>(body.outputs[at].value)];
      if (call.outputs[at].valid() && source.valid() && source != call.outputs[at])
        graph.nodes.push_back({prefix + "identity", "Identity", "", {source}, {call.outputs[at]}, {}});
    }
    return {};
  }

  Node moved(Graph& graph, const Node& node, const Graph& body, const Node& call, const std::vector<TensorId>& ids,
             const Names& names, const std::string& prefix) {
    Node copy = node;
    copy.name = prefix + node.name;
    for (auto* list : {&copy.inputs, &copy.outputs})
      for (TensorId& id : *list)
        if (id.valid()) id = ids[static_cast<std::size_t>(id.value)];
    copy.attributes.clear();
    for (const Attribute& attribute : node.attributes) {
      if (const auto* reference = std::get_if<AttributeReference>(&attribute.value)) {
        if (const AttributeValue* given = call.attribute(reference->name)) copy.attributes.push_back({attribute.name, *given});
        continue;
      }
      Attribute kept = attribute;
      if (auto* bodies = std::get_if<std::vector<SubgraphId>>(&kept.value)) {
        for (SubgraphId& id : *bodies) {
          Graph inner = body.subgraph(id);
          rename_captured(inner, names);
          nodes_ += count_nodes(inner);
          graph.subgraphs.push_back(std::move(inner));
          id = SubgraphId{static_cast<std::int32_t>(graph.subgraphs.size() - 1)};
        }
      }
      copy.attributes.push_back(std::move(kept));
    }
    return copy;
  }

  const std::vector<Function>& functions_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::size_t nodes_ = 0;
  std::size_t unnamed_ = 0;
};

}  // namespace

core::Status inline_functions(Graph& graph) {
  if (graph.functions.empty()) return {};
  const std::vector<Function> functions = std::move(graph.functions);
  graph.functions.clear();
  // A function may be written for other versions of the domains than the model; the model's own hold.
  for (const Function& function : functions)
    for (const auto& [domain, version] : function.body.opsets) graph.opsets.try_emplace(domain, version);
  return Inliner(functions).expand(graph, 0);
}

}  // namespace aaco::graph
