#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/fuse.h"
#include "graph/graph.h"

namespace aaco::core {
class YamlNode;
}

// Where a backend's fusion patterns fit but for one condition.
namespace aaco::graph {

// Operators that a pattern is looked for through (with their domain where it is not ONNX's).
struct FusionSlack {
  std::set<std::string> transparent;  // compilers remove them before they fuse
  std::set<std::string> between;      // they keep two nodes apart
};

struct NearMiss {
  std::string pattern;
  std::string level;   // first optimisation level with the pattern; empty: every level
  std::string reason;  // id in data/rules/compiler.yaml; empty: every known condition is met
  // Of graph.nodes: the two that stay apart, the second reads what the first makes (the same node where an operand has no
  // producer).
  std::size_t first = 0, second = 0;
  std::optional<std::size_t> cause;  // a third node: the other reader, or what is in between
  std::vector<std::size_t> nodes;    // all that match, in order
  std::string condition;             // what was found, and what the pattern requires
  bool copied = false;               // the compiler leaves a copy of `first` where others read its result
  // The node that the compiler would do without or compute at load time; empty: it would fuse `first` and `second`.
  std::optional<std::size_t> removal = {};
};

// All places of the outermost graph where a pattern fits, entirely or but for one condition, in the order of the patterns, then
// the nodes that one may expect to be gone (Elimination), in their order; shapes are inferred. One place may appear for several
// patterns. What is known not to be met is the reason; where nothing is, and a condition cannot be checked, that it cannot.
std::vector<NearMiss> near_misses(const Graph& graph, const FusionRules& rules, const FusionSlack& slack);

// What a backend requires of single nodes: patterns of one step, in the form of data/fusion (docs/formats/support.md).
struct NodeRules {
  std::vector<FusionPattern> rules;
};
// Each item: `op`, `reason`?, `types`, `ranks`, `values` (without `step`). Fails with invalid_input, with file and line.
core::Result<NodeRules> read_node_rules(const core::YamlNode& list);
// Which rule about its operator the node does not meet: the reason's id and what was found.
struct NodeRefusal {
  std::string reason, condition;
};
// Holds the nodes of one graph against rules; both must outlive it. Who makes each tensor is found out once, for all nodes.
class NodeRuleCheck {
 public:
  NodeRuleCheck(const Graph& graph, const NodeRules& rules);
  NodeRuleCheck(NodeRuleCheck&&) noexcept;
  ~NodeRuleCheck();
  // `node`: index into graph.nodes. Empty: the node meets the rules, or none is about its operator.
  [[nodiscard]] std::optional<NodeRefusal> unmet(std::size_t node) const;

 private:
  const Graph& graph_;
  const NodeRules& rules_;
  std::unique_ptr<const struct Links> links_;
};

}  // namespace aaco::graph
