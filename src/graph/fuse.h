#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "graph/cost.h"
#include "graph/element_type.h"
#include "graph/graph.h"

// Which nodes a backend's compiler makes one kernel of, by patterns that are data (data/fusion, docs/formats/fusion.md).
namespace aaco::graph {

// One node of a pattern. Operands, in order: a step's id, "const" (a constant), "scalar" (a constant of one element), "*"
// (anything), "$NAME" (the same tensor wherever the name stands). Inputs beyond them may be anything.
struct FusionStep {
  std::string id;
  std::vector<std::string> ops;   // any of these, with their domain where it is not ONNX's
  std::vector<std::string> near;  // that one may expect there too, and the compiler does not take (graph/near_miss.h)
  std::vector<std::string> operands;
  bool optional = false;  // where it is missing, its first operand stands for it
  bool shared = false;    // its result may be read elsewhere too: the compiler leaves a copy of the node there
};
// The ranks and shapes that an operand may have.
struct RankCondition {
  std::string step;
  std::size_t operand = 0;
  std::vector<std::int64_t> ranks;           // empty: any
  std::optional<std::int64_t> fixed_from;    // rank from which sizes must be fixed; empty: sizes may be open
  std::optional<std::size_t> same_as;        // another operand of the step with the same shape, names of open sizes included
  bool per_channel = false;                  // one value per channel: [C, 1, 1] or [1, C, 1, 1]
  bool or_scalar = false;                    // or rank 0
  std::optional<bool> one_element;           // one element, or (false) more than one
  std::optional<std::size_t> at_most;        // another operand of the step, whose rank is not below this one's
  std::optional<std::int64_t> fixed_behind;  // axis from which on sizes must be fixed
  std::optional<std::int64_t> result_from;   // only where the step's result has this rank or a higher one
};
// What an operand or an attribute of a step has to be. One that the node does not have is as required.
struct ValueCondition {
  std::string step;
  std::optional<std::size_t> operand;  // a constant; one of `values` where it has some and its value is known
  std::string attribute;               // otherwise: one of `values` or `words`
  std::vector<double> values;
  std::vector<std::string> words;
  bool last_axis = false;     // of an attribute that is an axis, or a list of one: the last axis of the step's first operand
  bool matrix_swap = false;   // of `perm`: the order of axes can be taken into a matrix product
  bool spatial_pads = false;  // of widths of padding: none negative, none of the first two axes
  // Of an operand, which then may be computed:
  bool absent = false;                  // the step does not have it
  std::set<ElementType> types;          // it has one of these types
  std::vector<std::string> made_by;     // one of these operators makes it,
  std::set<std::string> through;        // or makes what these hand on, by their first operand, to it
  std::string reason;                   // the reason where `made_by` is not met
  std::optional<std::int64_t> not_all;  // of a list of whole numbers: not all of them are this one
  bool lowest = false;                  // a zero point: the least value of its type
  bool quantised_bias = false;          // a bias on the scale that is the product of those of the step's first two operands
  std::optional<std::pair<std::string, std::size_t>> same_as;  // the same value as this operand of another step
  // Of the step as a whole: the number of its operands, the most results it may have.
  std::optional<std::int64_t> inputs, outputs;
};
struct FusionPattern {
  std::string name;
  std::vector<FusionStep> steps;  // the last one's result is the pattern's
  bool strict = false;            // nodes in between and computed constants make it another pattern, not a near miss
  bool inner = false;             // the pattern's result must not be an output of the graph
  std::string further;            // what the compiler requires besides and is not checked, in words
  std::string lacks;              // what the compiler requires in place of these steps: it never fuses them as they are
  std::set<std::string> between;  // further operators that it is looked for through (graph/near_miss.h)
  // What the compiler requires besides; fuse() takes it as given, near_misses() (graph/near_miss.h) checks it.
  std::string level;            // first optimisation level with this fusion; empty: every level
  std::set<ElementType> types;  // of the pattern's result; empty: any
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> opsets;  // domain -> first and last version
  std::vector<RankCondition> ranks;
  std::vector<ValueCondition> values;
};
// Nodes that one may expect to be gone after optimisation.
enum class Expected : std::uint8_t {
  always,          // whatever their operands are
  same_type,       // they convert to the type that the operand has
  round_trip,      // they convert back what a node of the same operator converted
  neutral,         // x + 0, x - 0, x * 1, x / 1
  whole,           // a cut from the first element on, by steps of 1, that leaves out nothing that is known to be there
  unchanged,       // type and shape are those of the first operand
  one_operand,     // they have one operand
  constants,       // their operands are constants
  computed_shape,  // a Reshape whose shape is put together from sizes of its operand and constants
};
// How a compiler does without single nodes: a pattern of one step called "node".
struct Elimination {
  FusionPattern pattern;  // no operators: any
  Expected expected = Expected::always;
  std::vector<std::int64_t> unread;    // results that must not be read
  std::set<std::string> undetermined;  // operators with another result in every run
  std::set<std::string> except;        // operators that it is not about
};

struct FusionRules {
  std::string backend;
  std::string source;
  std::vector<FusionPattern> patterns;  // earlier ones win
  std::vector<Elimination> eliminations;
  bool pointwise = false;                // chains of element-wise nodes become one kernel
  std::vector<OperatorClass> epilogues;  // classes whose kernels take the element-wise nodes behind them in
};
// Fails with invalid_input, with file and line, for an unknown key, a step that refers to none, a class that does not exist.
core::Result<FusionRules> load_fusion_rules(const std::string& path);

struct FusedGroup {
  std::string pattern;             // "pointwise" for a chain, "epilogue" for one behind a kernel
  std::vector<std::size_t> nodes;  // of graph.nodes, in order
  double saved_bytes = 0;          // of results that are neither written nor read again
};
// A pattern that fits but for a result that is needed elsewhere.
struct NotFused {
  std::string pattern;
  std::size_t node = 0;  // the pattern's last
  std::string reason;
};
struct Fusion {
  std::vector<FusedGroup> groups;  // of two nodes and more
  std::vector<NotFused> not_fused;
  std::vector<std::size_t> kernel_of;  // by node: nodes with one number are one kernel
  std::size_t kernels = 0;             // that are left, views and folded nodes not counted
  double saved_bytes = 0;
};
// The outermost graph's nodes only; bodies keep theirs. Shapes are inferred.
Fusion fuse(const Graph& graph, const FusionRules& rules);

}  // namespace aaco::graph
