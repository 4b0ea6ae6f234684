#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/near_miss.h"

// What a compiler made of a graph, from the graph before and the one after. Pure.
namespace aaco::analytics::compiler {

enum class Fate {
  kept,       // a kernel by itself, as it was
  rewritten,  // a kernel by itself, of another operator or layout
  fused,      // one kernel with others
  folded,     // computed at load time
  removed,    // no operation, or the same as another node
};
std::string_view to_string(Fate fate);

struct NodeFate {
  Fate fate = Fate::removed;
  std::optional<std::size_t> kernel;  // of the graph after
};
// A node of the graph after.
struct Kernel {
  std::vector<std::size_t> nodes;      // of the graph before, in order
  std::string inserted;                // cast, layout, copy, quantise, other: what the compiler put in; empty: it did not
  std::optional<std::size_t> part_of;  // inserted: the node of the graph before that became this and another kernel
  std::string precision;               // "float32 -> float16", where the result's type changed
};
struct GraphDiff {
  std::vector<NodeFate> nodes;  // by node of the graph before
  std::vector<Kernel> kernels;  // by node of the graph after
};
// The outermost graphs only. Tensors are recognised by their names, and by the nodes that only move them.
GraphDiff compare_graphs(const graph::Graph& before, const graph::Graph& after);

// Which nodes a kernel computes, by the name and operator that ONNX Runtime's log has of it: it adds to names ("_token_3",
// "/MatMulAddFusion"), and names a kernel in the blocked layout after its result ("OUTPUT_nchwc"). `before` must outlive it.
class KernelOrigins {
 public:
  explicit KernelOrigins(const graph::Graph& before);
  // In order; empty: no node of the model has the name.
  [[nodiscard]] std::vector<std::size_t> nodes(std::string_view name, std::string_view op_type) const;

 private:
  [[nodiscard]] std::vector<std::size_t> back_to(std::size_t node, std::string_view op_type) const;

  const graph::Graph& before_;
  std::map<std::string_view, std::size_t> by_name_, by_result_;  // nodes, by their names and those of their first results
  std::vector<std::optional<std::size_t>> maker_;                // by tensor
};

// The name of a node, or its operator and number where it has none.
std::string node_name(const graph::Graph& graph, std::size_t node);

// A node of a model as node_name() calls it; `within`: the body that it is in.
struct NamedNode {
  std::string name, op_type, within;
};
// By node of one model its node of the other, both in order: the one with the same name, and of those without a name (or whose
// name the other model does not have) the one with the same operator at the same place of the longest common sequence. Between
// the equal beginnings and ends of two models, more than kMaxAligned pairs of nodes are not looked at: then only names tell, and
// `by_place` is false.
struct NodePairs {
  std::vector<std::optional<std::size_t>> node;
  bool by_place = true;
};
inline constexpr std::size_t kMaxAligned = 50'000'000;
NodePairs pair_nodes(const std::vector<NamedNode>& here, const std::vector<NamedNode>& there);

// data/rules/compiler.yaml.
struct Reason {
  std::string id, title, remedy;
};
struct CompilerRules {
  graph::FusionSlack slack;
  std::vector<Reason> reasons;
  [[nodiscard]] const Reason* find(std::string_view id) const;
};
core::Result<CompilerRules> load_compiler_rules(const std::string& path);

inline constexpr const char* kLevels[] = {"disabled", "basic", "extended", "all"};
// Whether `level` has what `wanted` is the first level of; an empty one is in every level.
bool level_has(std::string_view level, std::string_view wanted);

// Those of the near misses that the compiler did not fuse at `level`, one per pair of nodes. Those without a reason get
// "level_too_low" or "unexplained".
std::vector<graph::NearMiss> missed_fusions(const GraphDiff& diff, std::vector<graph::NearMiss> near, std::string_view level);

}  // namespace aaco::analytics::compiler
