#include "runner/input_meaning.h"

#include <algorithm>
#include <array>

#include "core/strings.h"

namespace aaco::runner {
namespace {

using graph::Graph;
using graph::Node;
using graph::TensorId;
using Kind = InputMeaning::Kind;

// Operators that pass their first input's values on.
constexpr std::array<std::string_view, 11> kPassThrough = {"Cast",      "Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten",
                                                           "Transpose", "Slice",    "Expand",  "Concat",    "Clip"};

// An operator that looks rows up in a table: which of its inputs is the index, which the table.
struct Lookup {
  std::string_view op_type;
  std::string_view domain;
  std::size_t index;
  std::size_t table;
};
constexpr std::array<Lookup, 4> kLookups = {{{"Gather", "", 1, 0},
                                             {"GatherBlockQuantized", "com.microsoft", 1, 0},
                                             {"EmbedLayerNormalization", "com.microsoft", 0, 2},
                                             {"EmbedLayerNormalization", "com.microsoft", 1, 4}}};

class TableFinder {
 public:
  explicit TableFinder(const Graph& graph) : graph_(graph), readers_(graph.tensors.size()), rows_(graph.tensors.size(), -1) {
    for (std::size_t number = 0; number < graph.nodes.size(); ++number)
      for (const TensorId id : graph.nodes[number].inputs)
        if (id.valid()) readers_[index(id)].push_back(number);
    for (const auto& initializer : graph.initializers) set_rows(initializer.tensor, initializer.tensor);
    // A table may be stored in another form and converted: its rows stay its rows.
    for (const Node& node : graph.nodes)
      if ((node.op_type == "Cast" || node.op_type == "DequantizeLinear" || node.op_type == "Identity") && !node.inputs.empty() &&
          node.inputs[0].valid())
        for (const TensorId out : node.outputs)
          if (out.valid()) rows_[index(out)] = rows_[index(node.inputs[0])];
  }

  // The rows of the smallest table that `start` is an index into.
  std::optional<std::int64_t> rows_indexed_by(TensorId start) const {
    std::vector<bool> seen(graph_.tensors.size(), false);
    std::vector<TensorId> queue = {start};
    std::optional<std::int64_t> smallest;
    while (!queue.empty()) {
      const TensorId tensor = queue.back();
      queue.pop_back();
      if (seen[index(tensor)]) continue;
      seen[index(tensor)] = true;
      for (const std::size_t reader : readers_[index(tensor)]) {
        const Node& node = graph_.nodes[reader];
        if (const std::int64_t rows = rows_looked_up(node, tensor); rows > 0) smallest = std::min(smallest.value_or(rows), rows);
        const bool passes = std::find(kPassThrough.begin(), kPassThrough.end(), node.op_type) != kPassThrough.end();
        if (passes && node.inputs[0] == tensor && !node.outputs.empty() && node.outputs[0].valid())
          queue.push_back(node.outputs[0]);
      }
    }
    return smallest;
  }

 private:
  static std::size_t index(TensorId id) { return static_cast<std::size_t>(id.value); }

  void set_rows(TensorId target, TensorId source) {
    const auto& shape = graph_.tensor(source).shape;
    if (shape && shape->size() >= 2 && shape->front().fixed()) rows_[index(target)] = shape->front().size;
  }

  std::int64_t rows_looked_up(const Node& node, TensorId tensor) const {
    for (const Lookup& lookup : kLookups) {
      if (node.op_type != lookup.op_type || node.domain != lookup.domain) continue;
      if (lookup.index >= node.inputs.size() || lookup.table >= node.inputs.size() || node.inputs[lookup.index] != tensor)
        continue;
      if (node.inputs[lookup.table].valid() && node.int_or("axis", 0) == 0) return rows_[index(node.inputs[lookup.table])];
    }
    return -1;
  }

  const Graph& graph_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::int64_t> rows_;  // of the table that a tensor is, or -1
};

bool names(const std::string& lower, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

Kind kind_of(const graph::TensorDescriptor& input, bool is_index) {
  const std::string lower = core::to_lower(input.name);
  const bool real = graph::is_floating(input.type);
  if (names(lower, {"mask"})) return Kind::mask;
  if (input.type == ElementType::boolean) return names(lower, {"cache", "past"}) ? Kind::flag : Kind::mask;
  if (real) return names(lower, {"past", "cache", "state"}) ? Kind::cache : Kind::values;
  if (names(lower, {"position"})) return Kind::positions;
  if (names(lower, {"token_type", "segment"})) return Kind::segment;
  if (is_index) return Kind::indices;
  if (input.type == ElementType::uint8 || input.type == ElementType::int8) return Kind::values;
  return Kind::counts;
}

}  // namespace

std::vector<InputMeaning> find_meanings(const Graph& graph) {
  const TableFinder finder(graph);
  std::vector<InputMeaning> meanings;
  for (const TensorId id : graph.inputs) {
    InputMeaning meaning;
    if (!graph::is_floating(graph.tensor(id).type)) meaning.table_rows = finder.rows_indexed_by(id);
    meaning.kind = kind_of(graph.tensor(id), meaning.table_rows.has_value());
    meanings.push_back(meaning);
  }
  return meanings;
}

}  // namespace aaco::runner
