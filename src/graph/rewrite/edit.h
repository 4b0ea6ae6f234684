#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace aaco::graph::rewrite {

// Changes to the nodes of the outermost graph. Nodes are marked and put in place by finish(), so that their numbers stay valid
// meanwhile.
class Edit {
 public:
  explicit Edit(Graph& graph);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  // Whether a body of an If, Loop or Scan reads the tensor, by name.
  [[nodiscard]] bool captured(TensorId id) const { return captured_.contains(graph_.tensor(id).name); }
  [[nodiscard]] bool is_output(TensorId id) const { return outputs_.contains(id.value); }
  // The initializer that is the tensor; null for another tensor.
  [[nodiscard]] const Initializer* constant(TensorId id) const;

  // A tensor of a name that the graph does not have yet.
  TensorId add_tensor(const std::string& name, ElementType type, std::optional<Shape> shape = std::nullopt);
  TensorId add_constant(const std::string& name, ElementType type, const std::vector<std::int64_t>& dims,
                        std::vector<std::byte> data);
  // The new nodes stand where node `at` is; it goes.
  void replace(std::size_t at, std::vector<Node> nodes) { replaced_[at] = std::move(nodes); }
  void remove(std::size_t at) { replace(at, {}); }
  // Everything that reads `old` reads `now`. `old` must be no output and not captured.
  void redirect(TensorId old, TensorId now);
  // Makes the tensor, which a removed node made, a constant.
  void make_constant(TensorId id, Constant constant);

  // Puts all changes in place and drops constants that nothing reads any more.
  void finish();

 private:
  void name_apart();

  Graph& graph_;
  std::set<std::string> names_, captured_;
  std::set<std::int64_t> outputs_;
  std::map<std::int64_t, std::size_t> constants_;  // tensor -> initializer
  std::map<std::size_t, std::vector<Node>> replaced_;
  std::map<std::int64_t, TensorId> redirected_;
};

}  // namespace aaco::graph::rewrite
