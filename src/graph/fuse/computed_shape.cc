#include "graph/fuse/computed_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/constant_values.h"
#include "graph/fuse/unmet.h"

namespace aaco::graph {
namespace {

// One part of the joint shape.
struct Part {
  std::optional<std::int64_t> elements;
  bool is_constant = false, is_open = true;  // open: it stays to be found out (-1)
  bool is_size = false;                      // a size of some tensor
  std::optional<std::size_t> maker;          // the node to name
  std::string condition;                     // why it is open
};

class Reader {
 public:
  Reader(const Graph& graph, const Links& links, TensorId data) : graph_(graph), links_(links), data_(data) {}

  [[nodiscard]] Part part(TensorId id, std::int64_t place) const {
    Part out;
    if (const auto& shape = graph_.tensor(id).shape) out.elements = element_count(*shape);
    if (links_.constant[index_of(id)]) {
      const auto values = constant_values(graph_, id);
      out.is_constant = true;
      out.is_open = values && std::find(values->begin(), values->end(), -1) != values->end();
      out.condition = "'" + graph_.tensor(id).name + "' has the size -1";
      return out;
    }
    out.maker = producer(id);
    if (!out.maker) {
      out.condition = "'" + graph_.tensor(id).name + "' is an input of the graph";
      return out;
    }
    out.condition = "it is computed by " + quoted_name(graph_, *out.maker);
    size(id, place, out);
    return out;
  }

  [[nodiscard]] std::optional<std::size_t> producer(TensorId id) const {
    const std::int32_t made = id.valid() ? links_.producer[index_of(id)] : -1;
    return made < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(made));
  }

 private:
  // The node of this operator that makes the tensor.
  [[nodiscard]] std::optional<std::size_t> made_by(TensorId id, const char* op_type) const {
    const auto found = producer(id);
    return found && graph_.nodes[*found].qualified_type() == op_type && !graph_.nodes[*found].inputs.empty() ? found
                                                                                                             : std::nullopt;
  }

  // Unsqueeze(Gather(Shape(tensor), constant)), as `place` has it or not.
  void size(TensorId id, std::int64_t place, Part& out) const {
    const auto wide = made_by(id, "Unsqueeze");
    const auto gather = made_by(wide ? graph_.nodes[*wide].inputs[0] : id, "Gather");
    if (!gather || graph_.nodes[*gather].inputs.size() < 2) return;
    const auto sizes = made_by(graph_.nodes[*gather].inputs[0], "Shape");
    const auto index = constant_values(graph_, graph_.nodes[*gather].inputs[1]);
    if (!sizes || !index || index->size() != 1) return;
    out.maker = gather;
    out.is_size = true;
    const TensorId source = graph_.nodes[*sizes].inputs[0];
    const std::string what = quoted_name(graph_, *gather) + " takes size " + fmt::format("{:g}", index->front()) + " of '" +
                             graph_.tensor(source).name + "'";
    if (!wide) {
      out.condition = what + " by an index of rank 1; the pattern requires a scalar index and Unsqueeze";
      return;
    }
    if (!is_same(source)) {
      out.condition = what + "; the pattern requires sizes of '" + graph_.tensor(data_).name + "', which is reshaped";
      return;
    }
    const auto& shape = graph_.tensor(source).shape;
    const auto axis = static_cast<std::int64_t>(index->front());
    if (axis == place || (axis < 0 && shape && axis + static_cast<std::int64_t>(shape->size()) == place)) {
      out.is_open = false;
      return;
    }
    out.condition = what + fmt::format(" and is part {} of the shape; the pattern requires the same number", place);
  }

  [[nodiscard]] bool is_same(TensorId source) const {
    if (source == data_) return true;
    const auto &a = graph_.tensor(source).shape, &b = graph_.tensor(data_).shape;
    return a && a == b &&
           std::all_of(a->begin(), a->end(), [](const Dimension& one) { return one.fixed() || !one.symbol.empty(); });
  }

  const Graph& graph_;
  const Links& links_;
  TensorId data_;
};

}  // namespace

std::optional<ComputedShape> computed_shape(const Graph& graph, const Links& links, std::size_t number) {
  const Node& node = graph.nodes[number];
  if (node.inputs.size() < 2 || !node.inputs[0].valid() || !node.inputs[1].valid()) return std::nullopt;
  const Reader reader(graph, links, node.inputs[0]);
  const auto joint = reader.producer(node.inputs[1]);
  if (!joint || graph.nodes[*joint].op_type != "Concat" || links.constant[index_of(node.inputs[1])]) return std::nullopt;
  std::vector<Part> parts;
  std::int64_t place = 0;
  for (const TensorId id : graph.nodes[*joint].inputs) {
    parts.push_back(reader.part(id, place));
    place += parts.back().elements.value_or(1);
  }
  if (std::none_of(parts.begin(), parts.end(), [](const Part& one) { return one.is_size; })) return std::nullopt;
  ComputedShape out{*joint, {}, {}, {}};
  const auto open = std::count_if(parts.begin(), parts.end(), [](const Part& one) { return one.is_open; });
  const auto worst = [](const Part& a, const Part& b) {
    return std::pair(!a.is_size, !a.maker) < std::pair(!b.is_size, !b.maker);
  };
  std::vector<Part> left;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(left), [](const Part& one) { return one.is_open; });
  const auto wide =
      std::find_if(left.begin(), left.end(), [](const Part& one) { return !one.is_constant && one.elements.value_or(2) > 1; });
  if (wide != left.end()) {
    out = {*joint, "shape_not_covered", wide->condition + ", of several sizes; the pattern requires parts of one size",
           wide->maker};
  } else if (open > 1) {
    const Part& first = *std::min_element(left.begin(), left.end(), worst);
    out = {*joint, "value_not_covered",
           first.condition + fmt::format(" ({} parts of the shape are open, at most 1 may be)", open), first.maker};
  } else if (const auto leak = find_leak(graph, links, {*joint, number}, number)) {
    out.part = leak->reader;
    out.reason = leak->reader ? "several_consumers" : "graph_output";
    out.condition = "the shape that " + quoted_name(graph, *joint) + " makes is " +
                    (leak->reader ? "also read by " + quoted_name(graph, *leak->reader) : "an output of the graph");
  }
  return out;
}

}  // namespace aaco::graph
