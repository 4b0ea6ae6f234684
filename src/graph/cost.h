#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json.h"
#include "graph/graph.h"

// What a node has to do, from its operator's definition and the shapes of its tensors (graph/shapes.h infers them first).
namespace aaco::graph {

enum class OperatorClass : std::uint8_t {
  gemm,
  convolution,
  depthwise,  // convolution with one input channel a group
  attention,
  normalisation,
  softmax,
  elementwise,
  reduction,
  gather,  // indexed reads and writes: embedding, gather, scatter
  copy,    // moves data: transpose, concat, slice, pad
  view,    // moves none: reshape, squeeze, identity
  pooling,
  resize,
  recurrent,
  quantisation,
  sort,  // top-k, unique, non-maximum suppression
  rng,
  control,  // If, Loop, Scan: their bodies' nodes are counted
  host,     // shapes and other small integers that frameworks compute on the CPU
  unknown,
};
std::string_view to_string(OperatorClass kind);

// The sizes that decide how fast a kernel runs.
struct GemmSite {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool weights = false;  // the second operand is a constant
  int weight_bits = 0;   // bits an element of it takes in memory; 0: as the type says
  bool operator==(const GemmSite&) const = default;
};
struct ConvolutionSite {
  std::int64_t n = 0, c = 0, k = 0, groups = 1;                               // batch, input and output channels
  std::vector<std::int64_t> input, filter, output, strides, pads, dilations;  // spatial; pads: begins, then ends
  bool transposed = false;
  bool operator==(const ConvolutionSite&) const = default;
};
struct AttentionSite {
  std::int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_dim = 0, value_dim = 0;
  bool causal = false;
  double projection_macs = 0;  // of weights that the same node multiplies its input by first
  bool operator==(const AttentionSite&) const = default;
};
using Site = std::variant<std::monostate, GemmSite, ConvolutionSite, AttentionSite>;

// Numbers are exact up to 2^53. A multiply-accumulate is 2 FLOPs; an elementary function (exp, sqrt, erf) is one, as is a
// compare.
struct NodeCost {
  OperatorClass kind = OperatorClass::unknown;
  double flops = 0;
  double bytes_read = 0;    // what has to come from memory once: weights and activations
  double weight_bytes = 0;  // the part of it that constants are
  double bytes_written = 0;
  double steps = 1;                         // of a recurrent operator, each waiting for the one before
  ElementType type = ElementType::unknown;  // that the arithmetic is done in
  Site site;
  bool known = false;  // there is a model for this operator, and every shape it needs is known
  std::string reason;  // why not
};

// What kind of operator the catalogue says a node is; a convolution may turn out to be depthwise when it is costed.
OperatorClass class_of(const Node& node);
// `graph` owns the node. Many nodes are costed faster by cost_of(graph).
NodeCost cost_of(const Graph& graph, const Node& node);

// One node of the graph or of a body below it.
struct CostedNode {
  const Graph* graph = nullptr;  // that owns the node
  const Node* node = nullptr;
  double repeats = 1;  // trip counts of the loops around it; 0: a branch that does not run or, where the condition is not known,
                       // is not the costlier one
  NodeCost cost;       // of one run
};

struct ClassCost {
  std::int64_t nodes = 0;
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};

// An operator without a model, or without the shapes that its model needs.
struct Unmodelled {
  std::string op_type;  // with its domain: "com.microsoft.Foo"
  std::string reason;
  std::int64_t nodes = 0;
  double activation_bytes = 0;  // known bytes of the tensors around them
  double activation_share = 0;  // of all known activation bytes: how much of the graph they may hide
  double node_share = 0;        // of all nodes, where no bytes are known
};

// The file or its operators are of a newer version than AACO knows (docs/formats/inspect.md).
struct NewerVersion {
  std::string what;  // the operators' domain ("ai.onnx" the standard one), or "IR"
  std::int64_t found = 0, known = 0;
  std::int64_t nodes = 0;  // that it is about
  double doubt = 0;        // how much of the graph may be defined otherwise, at most
};
// A sentence for people.
std::string describe(const NewerVersion& newer);
core::Json to_json(const std::vector<NewerVersion>& list);

struct GraphCost {
  std::vector<CostedNode> nodes;  // in order of execution; points into the graph
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double weight_bytes = 0;  // of all constants, each once
  std::map<OperatorClass, ClassCost> classes;
  std::vector<Unmodelled> unmodelled;  // the largest share first
  std::vector<NewerVersion> newer;
  double confidence = 1;  // 1 - the share of known activation bytes around unmodelled nodes, less the doubts of newer versions
};
// The graph outlives the answer.
GraphCost cost_of(const Graph& graph);

}  // namespace aaco::graph
