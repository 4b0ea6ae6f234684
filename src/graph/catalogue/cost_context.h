#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/catalogue/entry.h"

namespace aaco::graph {

// What a cost function sees of its node. A question whose answer is not known leaves the reason, and the cost is not known.
class CostContext {
 public:
  // `constants`: by tensor, whether it is a weight or computed from weights alone.
  CostContext(const Graph& graph, const Node& node, const Entry& entry, const std::vector<bool>& constants, NodeCost& out)
      : graph_(graph), node_(node), entry_(entry), constants_(constants), out_(out) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const Entry& entry() const { return entry_; }
  NodeCost& out() { return out_; }

  [[nodiscard]] bool has(std::size_t input) const { return input < node_.inputs.size() && node_.inputs[input].valid(); }
  [[nodiscard]] bool has_output(std::size_t output) const {
    return output < node_.outputs.size() && node_.outputs[output].valid();
  }
  [[nodiscard]] bool constant(std::size_t input) const;
  [[nodiscard]] ElementType type(std::size_t input) const;
  // Of fixed sizes; empty (and the reason noted) otherwise.
  std::vector<std::int64_t> dims(std::size_t input);
  std::vector<std::int64_t> output_dims(std::size_t output = 0);
  double elements(std::size_t input);
  double output_elements(std::size_t output = 0);
  double bytes(std::size_t input);
  double output_bytes(std::size_t output = 0);
  // Noted by any question above that had no answer.
  [[nodiscard]] bool failed() const { return !out_.reason.empty(); }
  void fail(std::string reason) {
    if (out_.reason.empty()) out_.reason = std::move(reason);
  }

  // Adds a tensor to what is read or written.
  void read(std::size_t input);
  void read_bytes(std::size_t input, double bytes);
  void write(std::size_t output);
  // Every input read once, every output written once.
  void touch_all();
  void read_all();
  void write_all();

 private:
  double elements_of(TensorId id);
  double bytes_of_tensor(TensorId id);
  std::vector<std::int64_t> dims_of(TensorId id);

  const Graph& graph_;
  const Node& node_;
  const Entry& entry_;
  const std::vector<bool>& constants_;
  NodeCost& out_;
};

// A multiply-accumulate is two FLOPs (the convention of the papers that models' published counts come from).
inline constexpr double kMac = 2;

}  // namespace aaco::graph
