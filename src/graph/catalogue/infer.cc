#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/entry.h"
#include "graph/catalogue/rules.h"
#include "graph/shapes.h"

namespace aaco::graph {
namespace {

// One graph while its shapes are found, and the graphs around it.
struct Scope {
  Graph& graph;
  Values values;
  Scope* outer = nullptr;
  std::unordered_map<std::string_view, TensorId> names;  // filled when a body asks

  explicit Scope(Graph& of, Scope* around) : graph(of), values(of), outer(around) {}

  TensorId find(const std::string& name) {
    if (names.empty())
      for (std::size_t number = 0; number < graph.tensors.size(); ++number)
        names.emplace(graph.tensors[number].name, TensorId{static_cast<std::int32_t>(number)});
    const auto found = names.find(name);
    return found == names.end() ? TensorId{} : found->second;
  }
};

void copy_tensor(Scope& from, TensorId source, Scope& to, TensorId target) {
  if (!source.valid() || !target.valid()) return;
  const TensorDescriptor& known = from.graph.tensor(source);
  TensorDescriptor& own = to.graph.tensor(target);
  if (known.type != ElementType::unknown) own.type = known.type;
  if (known.shape) own.shape = known.shape;
  if (const Value* value = from.values.find(source)) to.values.set(target, *value);
}

// What is true of both.
std::optional<Shape> merged(const std::optional<Shape>& a, const std::optional<Shape>& b) {
  if (!a || !b || a->size() != b->size()) return std::nullopt;
  Shape out = *a;
  for (std::size_t axis = 0; axis < out.size(); ++axis)
    if (!certainly_equal(out[axis], (*b)[axis])) out[axis] = Dimension{};
  return out;
}

void set_output(Graph& graph, const Node& node, std::size_t output, ElementType type, std::optional<Shape> shape) {
  if (output >= node.outputs.size() || !node.outputs[output].valid()) return;
  TensorDescriptor& tensor = graph.tensor(node.outputs[output]);
  if (type != ElementType::unknown) tensor.type = type;
  if (!shape) return;
  if (tensor.shape && tensor.shape->size() == shape->size())
    for (std::size_t axis = 0; axis < shape->size(); ++axis)
      if (!(*shape)[axis].fixed() && (*tensor.shape)[axis].fixed()) (*shape)[axis] = (*tensor.shape)[axis];
  tensor.shape = std::move(shape);
}

// What exporters call "position_ids" counts the tokens of each text from the ones that are kept: [batch, new tokens] beside a
// mask of [batch, kept and new ones]. Of very many only the ends are held, for the tables that they are looked up in.
void assume_positions(Scope& scope) {
  const auto dims = [&](const char* name) -> std::optional<std::pair<TensorId, Ints>> {
    for (const TensorId id : scope.graph.inputs) {
      const TensorDescriptor& tensor = scope.graph.tensor(id);
      if (tensor.name != name || !tensor.shape || tensor.shape->size() != 2) continue;
      if (!(*tensor.shape)[0].fixed() || !(*tensor.shape)[1].fixed()) continue;
      return std::pair(id, Ints{(*tensor.shape)[0].size, (*tensor.shape)[1].size});
    }
    return std::nullopt;
  };
  const auto positions = dims("position_ids"), mask = dims("attention_mask");
  if (!positions) return;
  const std::int64_t rows = positions->second[0], fresh = positions->second[1];
  if (rows < 1 || fresh < 1) return;
  const std::int64_t kept = mask ? std::max<std::int64_t>(0, mask->second[1] - fresh) : 0;
  const auto place = [kept](std::int64_t token) { return Element(static_cast<double>(kept) + static_cast<double>(token)); };
  Value value{{rows, fresh}, {}};
  if (fresh <= static_cast<std::int64_t>(kMaxHeldElements) / rows) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t token = 0; token < fresh; ++token) value.elements.push_back(place(token));
  } else {
    value = {{1, 2}, {place(0), place(fresh - 1)}};
  }
  scope.values.set(positions->first, std::move(value));
}

class Inference {
 public:
  Inference(const Graph& model, const ShapeOptions& options) : opsets_(model.opsets), options_(options) {}

  void run(Scope& scope, int depth) {
    for (Node& node : scope.graph.nodes) {
      around_ = &scope.graph;
      visit(scope, node, depth);
    }
  }

  // Once, after run(): a model may have thousands of branches.
  void tell_undecided() {
    if (undecided_.empty()) return;
    const std::string others = undecided_.size() == 1 ? "" : " and " + std::to_string(undecided_.size() - 1) + " more";
    report.assumptions.push_back("the costlier branch of the If '" + first_undecided_ + "'" + others +
                                 " is counted: the condition is not part of the model");
  }

  ShapeReport report;

 private:
  static constexpr int kMaxDepth = 64;
  static constexpr int kMaxRepeats = 4;  // loops in loops that are gone through twice

  std::int64_t opset_of(const std::string& domain) const {
    const auto found = opsets_.find(domain);
    return found != opsets_.end() ? found->second : domain.empty() && !opsets_.empty() ? 1 : 0;
  }

  void visit(Scope& scope, Node& node, int depth) {
    if (node.domain.empty() && (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan"))
      control(scope, node, depth);
    else if (node.domain == "tflite")
      apply(scope, node, &rules::tflite);
    else if (const Entry* entry = find_entry(node.domain, node.op_type); entry != nullptr && entry->shape != nullptr)
      apply(scope, node, entry->shape);
    if (const auto* bodies = bodies_of(node, "bodies")) repeat(scope, node, *bodies, depth);
    count(scope.graph, node);
  }

  void apply(Scope& scope, const Node& node, ShapeFunction shape) {
    ShapeContext context(scope.graph, node, scope.values, opset_of(node.domain));
    shape(context);
    if (!context.problem().empty()) return note(node, context.problem());
    fold(context);
  }

  void count(const Graph& graph, const Node& node) {
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      const auto& shape = graph.tensor(id).shape;
      if (!shape)
        ++report.unknown;
      else if (std::all_of(shape->begin(), shape->end(), [](const Dimension& dimension) { return dimension.fixed(); }))
        ++report.fixed;
      else
        ++report.symbolic;
    }
  }

  void note(const Node& node, const std::string& what) {
    if (report.problems.size() < kMaxProblems)
      report.problems.push_back("node '" + label_of(node) + "' (" + node.op_type + "): " + what);
  }

  // Its name; one that has none is known by what it makes.
  std::string label_of(const Node& node) const {
    if (!node.name.empty() || node.outputs.empty() || !node.outputs[0].valid() || around_ == nullptr) return node.name;
    return around_->tensor(node.outputs[0]).name;
  }

  static const std::vector<SubgraphId>* bodies_of(const Node& node, std::string_view name) {
    const AttributeValue* held = node.attribute(name);
    const auto* bodies = held == nullptr ? nullptr : std::get_if<std::vector<SubgraphId>>(held);
    return bodies == nullptr || bodies->empty() ? nullptr : bodies;
  }

  void control(Scope& scope, Node& node, int depth) {
    if (depth > kMaxDepth) return;
    if (node.op_type == "If") return branch(scope, node, depth);
    const auto* bodies = bodies_of(node, "body");
    if (bodies == nullptr) return note(node, "the body is missing");
    Scope body(scope.graph.subgraphs[static_cast<std::size_t>((*bodies)[0].value)], &scope);
    node.op_type == "Loop" ? loop(scope, node, body, depth) : scan(scope, node, body, depth);
  }

  // Captured tensors get what the graphs around know of them; then the body's nodes follow.
  void enter(Scope& body, int depth) {
    for (const TensorId id : body.graph.captured) {
      const std::string& name = body.graph.tensor(id).name;
      for (Scope* around = body.outer; around != nullptr; around = around->outer)
        if (const TensorId source = around->find(name); source.valid()) {
          copy_tensor(*around, source, body, id);
          break;
        }
    }
    run(body, depth + 1);
  }

  void branch(Scope& scope, Node& node, int depth) {
    const Value* condition = node.inputs.empty() ? nullptr : scope.values.find(node.inputs[0]);
    const bool decided = condition != nullptr && condition->elements.size() == 1 && condition->elements[0].known;
    node.trips.reset();
    if (!decided && undecided_.insert(&node).second && undecided_.size() == 1) first_undecided_ = label_of(node);
    if (decided) node.trips = condition->elements[0].number != 0 ? 1 : 0;
    std::vector<std::vector<TensorDescriptor>> results;
    std::size_t number = 0;
    for (const char* name : {"then_branch", "else_branch"}) {
      const auto* bodies = bodies_of(node, name);
      if (bodies == nullptr) return note(node, "a branch is missing");
      Scope body(scope.graph.subgraphs[static_cast<std::size_t>((*bodies)[0].value)], &scope);
      const std::size_t problems = report.problems.size();
      enter(body, depth);
      const bool taken = !decided || (condition->elements[0].number != 0) == (number == 0);
      if (!taken) report.problems.resize(std::min(problems, report.problems.size()));  // it is there for other sizes
      ++number;
      if (!taken) continue;
      std::vector<TensorDescriptor> outputs;
      for (const TensorId id : body.graph.outputs) outputs.push_back(body.graph.tensor(id));
      results.push_back(std::move(outputs));
    }
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      if (output >= results[0].size() || output >= results.back().size()) return note(node, "the branches have too few outputs");
      set_output(scope.graph, node, output, results[0][output].type,
                 merged(results[0][output].shape, results.back()[output].shape));
    }
  }

  // Loop(M, cond, v...) with the body (i, cond, v...) -> (cond, v..., scanned...). Version 1: values keep their shape.
  void loop(Scope& scope, Node& node, Scope& body, int depth) {
    const auto& inputs = body.graph.inputs;
    const std::size_t carried = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
    if (inputs.size() != carried + 2 || body.graph.outputs.size() < carried + 1)
      return note(node, "the body does not match the node's inputs and outputs");
    const Value* limit = node.inputs[0].valid() ? scope.values.find(node.inputs[0]) : nullptr;
    Dimension trips;
    if (limit != nullptr && limit->elements.size() == 1 && limit->elements[0].known && limit->elements[0].number < 1e9)
      trips = std::max<std::int64_t>(0, limit->elements[0].integer());
    node.trips = trips.fixed() ? trips.size : options_.loop_trips;
    if (!trips.fixed()) assume_trips("loop", node, "the trip count is not part of the model");
    body.graph.tensor(inputs[0]).type = ElementType::int64;
    if (!body.graph.tensor(inputs[0]).shape) body.graph.tensor(inputs[0]).shape = Shape{};
    for (std::size_t number = 0; number < carried; ++number) {
      copy_tensor(scope, node.inputs[number + 2], body, inputs[number + 2]);
      forget_value(body, inputs[number + 2]);
    }
    enter(body, depth);
    // A value that changes its shape on the way round has none that is known.
    bool changed = false;
    for (std::size_t number = 0; number < carried; ++number) {
      TensorDescriptor& before = body.graph.tensor(inputs[number + 2]);
      const TensorDescriptor& after = body.graph.tensor(body.graph.outputs[number + 1]);
      if (!before.shape || !after.shape || before.shape == after.shape || node.trips == 1) continue;
      before.shape = merged(before.shape, after.shape);
      changed = true;
    }
    if (changed && depth < kMaxRepeats) enter(body, depth);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      if (output + 1 >= body.graph.outputs.size()) break;
      const TensorDescriptor& result = body.graph.tensor(body.graph.outputs[output + 1]);
      std::optional<Shape> shape = result.shape;
      if (shape && output >= carried) shape->insert(shape->begin(), trips);
      set_output(scope.graph, node, output, result.type, std::move(shape));
    }
  }

  // A loop of TFLite or PyTorch: every body takes the node's inputs in order, of the one numbered "scanned" (and those behind it,
  // up to "scanned_end") a slice along its first axis. The file says the shapes of PyTorch's bodies.
  void repeat(Scope& scope, Node& node, const std::vector<SubgraphId>& bodies, int depth) {
    if (depth > kMaxDepth) return;
    const std::int64_t scanned = node.int_or("scanned", -1);
    Dimension trips;
    if (scanned >= 0 && static_cast<std::size_t>(scanned) < node.inputs.size() &&
        node.inputs[static_cast<std::size_t>(scanned)].valid())
      if (const auto& shape = scope.graph.tensor(node.inputs[static_cast<std::size_t>(scanned)]).shape; shape && !shape->empty())
        trips = shape->front();
    node.trips = trips.fixed() ? trips.size : options_.loop_trips;
    if (!trips.fixed()) assume_trips("loop", node, "the trip count is not part of the model");
    for (const SubgraphId id : bodies) {
      Scope body(scope.graph.subgraphs[static_cast<std::size_t>(id.value)], &scope);
      const std::vector<TensorId> inputs = body.graph.inputs;
      for (std::size_t number = 0; number < std::min(inputs.size(), node.inputs.size()) && scanned < 0; ++number) {
        const bool declared = body.graph.tensor(inputs[number]).shape.has_value() && node.domain != "tflite";
        if (!declared) copy_tensor(scope, node.inputs[number], body, inputs[number]);
        forget_value(body, inputs[number]);
      }
      enter(body, depth);
    }
    for (std::size_t output = 0; output < std::min(node.outputs.size(), node.inputs.size()) && node.domain == "tflite"; ++output)
      if (node.inputs[output].valid() && node.outputs[output].valid())
        set_output(scope.graph, node, output, ElementType::unknown, merged_with_declared(scope.graph, node, output));
  }

  // A carried value leaves a loop as it came, where the file does not say otherwise.
  static std::optional<Shape> merged_with_declared(const Graph& graph, const Node& node, std::size_t output) {
    const auto& declared = graph.tensor(node.outputs[output]).shape;
    const auto& before = graph.tensor(node.inputs[output]).shape;
    if (!declared || !before || declared->size() != before->size()) return declared ? declared : before;
    Shape shape = *declared;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (!shape[axis].fixed()) shape[axis] = (*before)[axis];
    return shape;
  }

  void assume_trips(std::string_view kind, const Node& node, std::string_view why) {
    report.assumptions.push_back("the " + std::string(kind) + " '" + label_of(node) + "' is assumed to run " +
                                 std::to_string(*node.trips) + (*node.trips == 1 ? " time: " : " times: ") + std::string(why));
  }

  // What a carried value was at the start is not what it is later.
  static void forget_value(Scope& body, TensorId id) {
    if (const Value* value = body.values.find(id)) {
      Value unknown = *value;
      for (Element& element : unknown.elements) element = Element::unknown();
      body.values.set(id, std::move(unknown));
    }
  }

  // Scan(states..., scanned...): the body sees one slice of each scanned input, along axis 0 unless scan_input_axes says another.
  // Version 8 had a batch before everything and a first input of lengths.
  void scan(Scope& scope, Node& node, Scope& body, int depth) {
    const std::size_t skip = opset_of("") < 9 ? 1 : 0;
    const auto scanned = static_cast<std::size_t>(std::max<std::int64_t>(0, node.int_or("num_scan_inputs", 0)));
    const auto& inputs = body.graph.inputs;
    if (node.inputs.size() != inputs.size() + skip || scanned > inputs.size())
      return note(node, "the body does not match the node's inputs and outputs");
    const std::size_t states = inputs.size() - scanned;
    const Ints axes = node.ints_or("scan_input_axes", Ints(scanned, 0)), out_axes = node.ints_or("scan_output_axes", {});
    Dimension trips;
    for (std::size_t number = 0; number < inputs.size(); ++number) {
      copy_tensor(scope, node.inputs[number + skip], body, inputs[number]);
      forget_value(body, inputs[number]);
      auto& shape = body.graph.tensor(inputs[number]).shape;
      if (!shape) continue;
      if (skip != 0 && !shape->empty()) shape->erase(shape->begin());
      if (number < states) continue;
      const auto axis = normal_axis(number - states < axes.size() ? axes[number - states] : 0, shape->size());
      if (!axis) return note(node, "a scanned input lacks the scan axis");
      if (!trips.fixed()) trips = (*shape)[*axis];
      shape->erase(shape->begin() + static_cast<std::ptrdiff_t>(*axis));
    }
    node.trips = trips.fixed() ? trips.size : options_.loop_trips;
    if (!trips.fixed()) assume_trips("scan", node, "the length of the scanned axis is unknown");
    enter(body, depth);
    for (std::size_t output = 0; output < std::min(node.outputs.size(), body.graph.outputs.size()); ++output) {
      const TensorDescriptor& result = body.graph.tensor(body.graph.outputs[output]);
      std::optional<Shape> shape = result.shape;
      if (shape && output >= states) {
        const std::size_t number = output - states;
        const auto axis = normal_axis(number < out_axes.size() ? out_axes[number] : 0, shape->size() + 1);
        shape->insert(shape->begin() + static_cast<std::ptrdiff_t>(axis.value_or(0)), trips);
      }
      if (shape && skip != 0) shape->insert(shape->begin(), Dimension{});
      set_output(scope.graph, node, output, result.type, std::move(shape));
    }
  }

  const Graph* around_ = nullptr;    // of the node that is visited
  std::set<const Node*> undecided_;  // conditions that are not in the model
  std::string first_undecided_;
  const std::map<std::string, std::int64_t> opsets_;
  const ShapeOptions& options_;
};

}  // namespace

ShapeReport infer_shapes(Graph& graph, const ShapeOptions& options) {
  Inference inference(graph, options);
  Scope scope(graph, nullptr);
  assume_positions(scope);
  inference.run(scope, 0);
  inference.tell_undecided();
  return std::move(inference.report);
}

}  // namespace aaco::graph
