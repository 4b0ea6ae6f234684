#include "graph/tokens.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/strings.h"

namespace aaco::graph {
namespace {

constexpr std::array<std::string_view, 6> kNames{"input_ids",    "token_ids",       "tokens",
                                                 "input_tokens", "input_token_ids", "decoder_input_ids"};

bool named_so(std::string_view name) {
  const std::string lower = core::to_lower(name);
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

// What hands ids on as they are.
constexpr std::array<std::string_view, 14> kPasses{"Cast", "Identity",  "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Clip",
                                                   "view", "unsqueeze", "squeeze", "reshape",   "to",      "clone",   "CAST"};

struct Lookup {
  std::string_view op_type;
  std::size_t table, ids;  // places of the operands
};
constexpr std::array<Lookup, 7> kLookups{{{"Gather", 0, 1},
                                          {"GatherBlockQuantized", 0, 1},
                                          {"embedding", 0, 1},
                                          {"GATHER", 0, 1},
                                          {"EMBEDDING_LOOKUP", 1, 0},
                                          {"EmbedLayerNormalization", 2, 0},
                                          {"Embedding", 0, 1}}};

class Lookups {
 public:
  explicit Lookups(const Graph& graph) : graph_(graph) {
    for (const Initializer& one : graph.initializers) constant_.insert(one.tensor);
    for (const TensorId id : graph.inputs) origin_[id] = id;
    for (const Node& node : graph.nodes) visit(node);
  }
  // Rows of the largest table that the input's values pick from; 0: none.
  [[nodiscard]] std::int64_t rows(TensorId input) const {
    const auto found = rows_.find(input);
    return found == rows_.end() ? 0 : found->second;
  }

 private:
  void visit(const Node& node) {
    if (node.inputs.empty()) return;
    const TensorId first = node.inputs[0];
    const bool of_constants =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) { return !id.valid() || constant_.contains(id); });
    if (of_constants)
      for (const TensorId id : node.outputs)
        if (id.valid()) constant_.insert(id);  // a table that is stored in a narrower type
    if (std::find(kPasses.begin(), kPasses.end(), node.op_type) != kPasses.end())
      if (const auto from = origin_.find(first); from != origin_.end() && !node.outputs.empty())
        origin_.emplace(node.outputs[0], from->second);
    for (const Lookup& lookup : kLookups)
      if (node.op_type == lookup.op_type) pick(node, lookup);
  }

  void pick(const Node& node, const Lookup& lookup) {
    if (node.inputs.size() <= std::max(lookup.table, lookup.ids) || node.int_or("axis", 0) != 0) return;
    const TensorId table = node.inputs[lookup.table];
    const auto from = origin_.find(node.inputs[lookup.ids]);
    if (from == origin_.end() || !table.valid() || !constant_.contains(table)) return;
    const auto& shape = graph_.tensor(table).shape;
    if (!shape || shape->size() != 2 || !(*shape)[0].fixed()) return;
    std::int64_t& most = rows_[from->second];
    most = std::max(most, (*shape)[0].size);
  }

  const Graph& graph_;
  std::set<TensorId> constant_;
  std::map<TensorId, TensorId> origin_;  // tensor -> the input whose ids it holds
  std::map<TensorId, std::int64_t> rows_;
};

bool is_scored(const Graph& graph, std::int64_t vocabulary) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](TensorId id) {
    const auto& shape = graph.tensor(id).shape;
    return shape && shape->size() >= 2 && shape->back().size == vocabulary;
  });
}

bool holds_ids(const TensorDescriptor& tensor) {
  const bool integers = tensor.type == ElementType::int64 || tensor.type == ElementType::int32;
  return integers && tensor.shape && (tensor.shape->size() == 1 || tensor.shape->size() == 2);
}

}  // namespace

std::vector<Tokens> token_inputs(const Graph& bound) {
  const Lookups lookups(bound);
  std::vector<Tokens> named, others;
  std::int64_t largest = 0;
  for (const TensorId id : bound.inputs) {
    const TensorDescriptor& tensor = bound.tensor(id);
    const std::int64_t rows = lookups.rows(id);
    const auto count = holds_ids(tensor) && rows > 1 ? element_count(*tensor.shape) : std::nullopt;
    if (!count || *count < 1) continue;
    Tokens one{tensor.name, {}, rows, *count};
    for (const Dimension& dimension : *tensor.shape) one.shape.push_back(dimension.size);
    (named_so(tensor.name) ? named : others).push_back(std::move(one));
    largest = std::max(largest, rows);
  }
  if (!named.empty()) return named;
  // Positions and types of segments pick rows of smaller tables.
  std::erase_if(others, [&](const Tokens& one) { return one.vocabulary != largest || !is_scored(bound, largest); });
  return others;
}

core::Json to_json(const Tokens& tokens) {
  core::Json shape = core::Json::array();
  for (const std::int64_t size : tokens.shape) shape.push(size);
  return core::Json::object(
      {{"count", tokens.count}, {"input", tokens.input}, {"shape", std::move(shape)}, {"vocabulary", tokens.vocabulary}});
}

}  // namespace aaco::graph
