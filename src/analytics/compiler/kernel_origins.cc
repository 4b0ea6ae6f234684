#include <algorithm>

#include "analytics/compiler/tensor_match.h"
#include "analytics/compiler_diff.h"

namespace aaco::analytics::compiler {

using graph::index_of;
using graph::Node;

KernelOrigins::KernelOrigins(const graph::Graph& before) : before_(before), maker_(makers_of(before)) {
  for (std::size_t number = 0; number < before.nodes.size(); ++number) {
    const Node& node = before.nodes[number];
    if (!node.name.empty()) by_name_[node.name] = number;
    if (!node.outputs.empty() && node.outputs[0].valid()) by_result_[before.tensor(node.outputs[0]).name] = number;
  }
}

std::vector<std::size_t> KernelOrigins::nodes(std::string_view name, std::string_view op_type) const {
  for (std::size_t length = name.size(); length > 0; --length) {
    const bool at_end = length == name.size() || name[length] == '/' || name.substr(length).starts_with("_token_");
    if (!at_end) continue;
    if (const auto found = by_name_.find(name.substr(0, length)); found != by_name_.end()) return {found->second};
  }
  const auto results = names_without_layout(name);
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const auto* names : {&by_result_, &by_name_})
      if (const auto found = names->find(results[i]); found != names->end())
        return i == 0 ? back_to(found->second, op_type) : std::vector{found->second};  // of a normalisation
  return {};
}

// From the node of a kernel's result to the one with its operator; the node alone where none is near.
std::vector<std::size_t> KernelOrigins::back_to(std::size_t node, std::string_view op_type) const {
  constexpr std::size_t kMaxBehind = 6;
  std::vector<std::size_t> found{node};
  while (before_.nodes[found.back()].op_type != plain_operator(op_type)) {
    const Node& last = before_.nodes[found.back()];
    const bool has_input = !last.inputs.empty() && last.inputs[0].valid();
    const auto maker = has_input ? maker_[index_of(last.inputs[0])] : std::nullopt;
    if (!maker || found.size() == kMaxBehind) return {node};
    found.push_back(*maker);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace aaco::analytics::compiler
