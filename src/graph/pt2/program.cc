#include <set>
#include <unordered_map>

#include "core/json.h"
#include "graph/condition.h"
#include "graph/pt2.h"
#include "graph/pt2/arguments.h"
#include "graph/pt2/header.h"

namespace aaco::graph::pt2 {
namespace {

using core::ErrorCode;
using core::Json;

constexpr int kMaxDepth = 32;

// ScalarType of torch/_export/serde/schema.py.
std::optional<ElementType> element_type_of(std::int64_t number) {
  switch (number) {
    case 0: return ElementType::unknown;
    case 1: return ElementType::uint8;
    case 2: return ElementType::int8;
    case 3: return ElementType::int16;
    case 4: return ElementType::int32;
    case 5: return ElementType::int64;
    case 6: return ElementType::float16;
    case 7: return ElementType::float32;
    case 8: return ElementType::float64;
    case 9:  // half complex: the nearest there is
    case 10: return ElementType::complex64;
    case 11: return ElementType::complex128;
    case 12: return ElementType::boolean;
    case 13: return ElementType::bfloat16;
    case 28: return ElementType::uint16;
    case 29: return ElementType::float8e4m3fn;
    case 30: return ElementType::float8e5m2;
    case 31: return ElementType::float8e4m3fnuz;
    case 32: return ElementType::float8e5m2fnuz;
    default: return std::nullopt;
  }
}

// The tensors of one graph of the file by name; graphs below have names of their own.
struct Scope {
  std::unordered_map<std::string_view, const Json*> values;  // tensor_values
  const Json& symbols;                                       // sym_int_values
  std::string prefix;                                        // of the tensors' names in the graph that is made
  std::unordered_map<std::string, TensorId> ids;
  std::set<std::string> made;

  explicit Scope(const Json& graph, std::string before = {}) : symbols(graph["sym_int_values"]), prefix(std::move(before)) {
    for (const auto& [name, meta] : graph["tensor_values"].members()) values.emplace(name, &meta);
  }
};

class Decoder {
 public:
  Decoder(std::string name, const StoredWeights& stored) : name_(std::move(name)), stored_(stored) {}

  core::Result<Graph> run(const Json& program) {
    AACO_ASSIGN(graph_.format_version, schema_of(program, name_));
    const Json& module = program["graph_module"];
    const Json& top = module["graph"];
    if (!top["nodes"].is_array() || !top["tensor_values"].is_object())
      return refuse("not an exported program: no graph_module.graph with nodes and tensor_values");
    Scope scope(top);
    AACO_TRY(add_inputs(module["signature"], top, scope));
    AACO_TRY(add_nodes(top, scope, graph_, 0));
    AACO_TRY(add_outputs(module["signature"], top, scope));
    for (const auto& [domain, version] : program["opset_version"].members())
      if (const auto number = version.as_i64()) graph_.opsets[domain] = *number;
    graph_.name = "exported_program";
    graph_.producer =
        "PyTorch" + (program["torch_version"].text().empty() ? "" : " " + std::string(program["torch_version"].text()));
    return std::move(graph_);
  }

 private:
  [[nodiscard]] tl::unexpected<core::Error> refuse(const std::string& what) const {
    return core::fail(ErrorCode::invalid_input, name_ + ": " + what, "export the model again with torch.export.save");
  }

  core::Result<Dimension> dimension_of(const Json& size, const std::string& tensor) const {
    if (const auto number = size["as_int"].as_i64()) {
      if (*number < 0) return refuse("the tensor '" + tensor + "' has a negative size, " + std::to_string(*number));
      return Dimension(*number);
    }
    const std::string_view text = size["as_expr"]["expr_str"].text();
    if (text.empty()) return refuse("a size of the tensor '" + tensor + "' is neither a number nor a formula");
    return Dimension(plain_formula(text));
  }

  // The tensor called `name`, with what the file says of it.
  core::Result<TensorId> tensor(const std::string& name, Scope& scope, Graph& graph) const {
    if (const auto found = scope.ids.find(name); found != scope.ids.end()) return found->second;
    const auto described = scope.values.find(name);
    if (described == scope.values.end()) return refuse("the tensor '" + name + "' has no description in tensor_values");
    const Json& meta = *described->second;
    const auto number = meta["dtype"].as_i64();
    const auto type = number ? element_type_of(*number) : std::nullopt;
    if (!type) return refuse("the tensor '" + name + "' has an element type unknown to PyTorch (" + meta["dtype"].dump(-1) + ")");
    TensorDescriptor descriptor{scope.prefix + name, *type, Shape{}};
    for (const Json& size : meta["sizes"].items()) {
      AACO_ASSIGN(Dimension dimension, dimension_of(size, name));
      descriptor.shape->push_back(std::move(dimension));
    }
    const TensorId id = graph.add_tensor(std::move(descriptor));
    scope.ids.emplace(name, id);
    return id;
  }

  // The inputs that are weights, and what they are called in the module. Since 2.2 a list of what each input is, before that maps
  // from names.
  static std::unordered_map<std::string, std::string> weights_of(const Json& signature) {
    std::unordered_map<std::string, std::string> weights;
    for (const Json& spec : signature["input_specs"].items())
      for (const char* kind : {"parameter", "buffer", "tensor_constant"})
        if (spec.contains(kind))
          weights[std::string(spec[kind]["arg"]["name"].text())] = spec[kind][std::string(kind) + "_name"].text();
    for (const char* map : {"inputs_to_parameters", "inputs_to_buffers", "inputs_to_lifted_tensor_constants"})
      for (const auto& [name, target] : signature[map].members()) weights[name] = target.text();
    return weights;
  }

  // A weight. Tied ones (of one storage, place and layout) are one tensor.
  void add_weight(const std::string& name, const std::string& in_module, TensorId id, Scope& scope) {
    const auto stored = stored_.find(in_module);
    if (stored != stored_.end()) {
      const auto [first, is_new] = placed_.emplace(stored->second, id);
      if (!is_new && graph_.tensor(first->second).shape == graph_.tensor(id).shape) {
        scope.ids[name] = first->second;
        return;
      }
    }
    graph_.initializers.push_back({id, {}});
  }

  core::Status add_inputs(const Json& signature, const Json& top, Scope& scope) {
    const auto weights = weights_of(signature);
    for (const Json& input : top["inputs"].items()) {
      const auto name = input["as_tensor"]["name"].as_string();
      if (!name) continue;  // a number, a symbol or a token
      AACO_ASSIGN(const TensorId id, tensor(*name, scope, graph_));
      if (!scope.made.insert(*name).second) return refuse("duplicate input '" + *name + "'");
      if (const auto weight = weights.find(*name); weight != weights.end())
        add_weight(*name, weight->second, id, scope);
      else
        graph_.inputs.push_back(id);
    }
    return {};
  }

  core::Status add_outputs(const Json& signature, const Json& top, Scope& scope) {
    std::vector<std::string> names;
    for (const Json& spec : signature["output_specs"].items())
      if (const auto name = spec["user_output"]["arg"]["as_tensor"]["name"].as_string()) names.push_back(*name);
    if (!signature["output_specs"].is_array())
      for (const Json& output : top["outputs"].items())
        if (const auto name = output["as_tensor"]["name"].as_string()) names.push_back(*name);
    for (const std::string& name : names) {
      if (!scope.made.contains(name)) return refuse("no node produces the output '" + name + "'");
      AACO_ASSIGN(const TensorId id, tensor(name, scope, graph_));
      graph_.outputs.push_back(id);
    }
    return {};
  }

  core::Status add_nodes(const Json& source, Scope& scope, Graph& graph, int depth) {
    if (depth > kMaxDepth) return refuse("graphs are nested more than " + std::to_string(kMaxDepth) + " deep");
    for (const Json& item : source["nodes"].items()) {
      const auto target = item["target"].as_string();
      if (!target) return refuse("a node has no target");
      if (is_bookkeeping(*target)) continue;
      if (const Json* body = wrapped_graph(item, *target)) {
        AACO_TRY(put_in(item, *body, scope, graph, depth));
        continue;
      }
      Node node = named(behind_functional(item).value_or(*target));
      AACO_TRY(add_arguments(item, node, scope, graph, depth));
      for (const Json& output : item["outputs"].items()) AACO_TRY(add_results(output, node, scope, graph));
      node.name = item["name"].as_string().value_or(node.outputs.empty() ? node.op_type : graph.tensor(node.outputs[0]).name);
      name_as_onnx(node, spatial_axes(node, graph));
      graph.nodes.push_back(std::move(node));
    }
    return {};
  }

  static std::size_t spatial_axes(const Node& node, const Graph& graph) {
    if (node.inputs.empty() || !node.inputs[0].valid()) return 0;
    const std::size_t rank = graph.tensor(node.inputs[0]).shape->size();
    return rank > 2 ? rank - 2 : 0;
  }

  // Arithmetic on sizes, and checks that compute nothing.
  static bool is_bookkeeping(const std::string& target) {
    for (const std::string_view beginning :
         {"_operator.", "operator.", "math.", "builtins.", "torch.sym_", "torch.ops.aten.sym_", "torch.ops.aten._assert",
          "torch.ops.aten._check", "torch._C.", "torch.ops.prims.device_put", "torch.ops.aten.sym_constrain"})
      if (std::string_view(target).starts_with(beginning)) return true;
    return false;
  }

  // "torch.ops.aten.convolution.default" -> domain "aten", "convolution".
  static Node named(std::string target) {
    constexpr std::string_view kOps = "torch.ops.";
    if (target.starts_with(kOps)) target = target.substr(kOps.size());
    Node node;
    const std::size_t first = target.find('.');
    node.domain = first == std::string::npos ? "python" : target.substr(0, first);
    const std::string rest = first == std::string::npos ? target : target.substr(first + 1);
    node.op_type = rest.substr(0, rest.find('.'));
    if (node.domain == "higher_order" && node.op_type == "cond") {
      node.domain.clear();
      node.op_type = "If";
    }
    return node;
  }

  // The operator that auto_functionalized only calls: one that writes over its arguments, without doing so.
  static std::optional<std::string> behind_functional(const Json& item) {
    if (item["target"].text().find("higher_order.auto_functionalized") == std::string_view::npos) return std::nullopt;
    for (const Json& input : item["inputs"].items())
      for (const char* kind : {"as_operator", "as_string"})
        if (const auto name = input["arg"][kind].as_string(); name && name->find('.') != std::string::npos) return name;
    return std::nullopt;
  }

  // The body of an operator that only runs it under another setting (torch.no_grad, autocast).
  static const Json* wrapped_graph(const Json& item, const std::string& target) {
    if (target.find("higher_order.wrap") == std::string::npos && target.find("higher_order.hints_wrapper") == std::string::npos &&
        target.find("higher_order.invoke_subgraph") == std::string::npos)
      return nullptr;
    for (const Json& input : item["inputs"].items())
      if (input["arg"].contains("as_graph")) return &input["arg"]["as_graph"]["graph"];
    return nullptr;
  }

  // The body's nodes in place of the node: its inputs are the node's tensors in order, its outputs the node's.
  core::Status put_in(const Json& item, const Json& body, Scope& scope, Graph& graph, int depth) {
    std::vector<TensorId> given;
    for (const Json& input : item["inputs"].items()) {
      AACO_ASSIGN(const auto ids, tensors_of(input["arg"], scope, graph));
      given.insert(given.end(), ids.begin(), ids.end());
    }
    Scope inner(body, scope.prefix + item["name"].as_string().value_or("body") + "/");
    std::size_t next = 0;
    for (const Json& input : body["inputs"].items()) {
      const auto name = input["as_tensor"]["name"].as_string();
      if (!name) continue;
      if (next >= given.size()) return refuse("a body has more inputs than its node passes");
      inner.ids.emplace(*name, given[next++]);
      inner.made.insert(*name);
    }
    AACO_TRY(add_nodes(body, inner, graph, depth + 1));
    std::vector<std::string> results;
    for (const Json& output : item["outputs"].items()) append_names(output, results);
    std::size_t number = 0;
    for (const Json& output : body["outputs"].items()) {
      const auto name = output["as_tensor"]["name"].as_string();
      if (!name) continue;
      if (number >= results.size() || !inner.made.contains(*name)) return refuse("the outputs of a body do not match its node");
      AACO_ASSIGN(const TensorId id, tensor(*name, inner, graph));
      if (!scope.made.insert(results[number]).second)
        return refuse("the tensor '" + results[number] + "' has more than one producer");
      scope.ids[results[number++]] = id;
    }
    return {};
  }

  static void append_names(const Json& output, std::vector<std::string>& names) {
    if (const auto name = output["as_tensor"]["name"].as_string()) names.push_back(*name);
    for (const Json& item : output["as_tensors"].items())
      if (const auto name = item["name"].as_string()) names.push_back(*name);
  }

  core::Result<TensorId> existing(const Json& item, Scope& scope, Graph& graph) const {
    const auto name = item["name"].as_string();
    if (!name) return refuse("a tensor argument has no name");
    if (!scope.made.contains(*name))
      return refuse("the tensor '" + *name + "' is read before it is produced (a cycle or a missing node)");
    return tensor(*name, scope, graph);
  }

  // The tensors of an argument; one that is left out is not valid.
  core::Result<std::vector<TensorId>> tensors_of(const Json& argument, Scope& scope, Graph& graph) const {
    std::vector<TensorId> ids;
    const auto add = [&](const Json& item) -> core::Status {
      AACO_ASSIGN(const TensorId id, existing(item, scope, graph));
      ids.push_back(id);
      return {};
    };
    const auto add_optional = [&](const Json& item) -> core::Status {
      if (item.contains("as_tensor")) return add(item["as_tensor"]);
      ids.emplace_back();
      return {};
    };
    if (argument.contains("as_tensor")) AACO_TRY(add(argument["as_tensor"]));
    for (const Json& item : argument["as_tensors"].items()) AACO_TRY(add(item));
    for (const Json& item : argument["as_optional_tensors"].items()) AACO_TRY(add_optional(item));
    if (argument.contains("as_optional_tensor")) AACO_TRY(add_optional(argument["as_optional_tensor"]));
    for (const Json& list : argument["as_nested_tensors"].items())
      for (const Json& item : list.items()) AACO_TRY(add(item));
    return ids;
  }

  // A tensor that may be left out: it keeps its place where others follow.
  static bool is_optional_tensor(std::string_view name) {
    for (const std::string_view known : {"bias", "weight", "running_mean", "running_var", "attn_mask", "attn_bias", "mask"})
      if (name == known) return true;
    return false;
  }

  core::Status add_arguments(const Json& item, Node& node, Scope& scope, Graph& graph, int depth) {
    std::vector<SubgraphId> bodies;
    for (const Json& input : item["inputs"].items()) {
      const std::string name(input["name"].text());
      const Json& argument = input["arg"];
      AACO_ASSIGN(const auto ids, tensors_of(argument, scope, graph));
      if (name == "xs" && is_loop(node)) node.attributes.push_back({"scanned", static_cast<std::int64_t>(node.inputs.size())});
      node.inputs.insert(node.inputs.end(), ids.begin(), ids.end());
      if (argument.contains("as_none") && is_optional_tensor(name)) node.inputs.emplace_back();
      if (argument.contains("as_graph") && (node.op_type == "If" || is_loop(node))) {
        const std::string prefix = scope.prefix + argument["as_graph"]["name"].as_string().value_or(name) + "/";
        AACO_TRY(add_body(argument["as_graph"]["graph"], prefix, graph, depth));
        bodies.push_back(SubgraphId{static_cast<std::int32_t>(graph.subgraphs.size() - 1)});
      }
      for (const auto& [kind, value] : argument.members())
        if (auto attribute = attribute_of(kind, value, scope.symbols)) node.attributes.push_back({name, *std::move(attribute)});
    }
    while (!node.inputs.empty() && !node.inputs.back().valid()) node.inputs.pop_back();
    if (node.op_type != "If") {
      if (is_loop(node) && !bodies.empty()) node.attributes.push_back({"bodies", std::move(bodies)});
      return {};
    }
    if (bodies.size() != 2 || node.inputs.empty()) return refuse("a condition must have two branches and a predicate tensor");
    if (!make_condition(graph, node, bodies)) return refuse("a branch of a condition has more inputs than are passed to it");
    return {};
  }

  // Runs its bodies as often as loops run, or once for each slice of its argument "xs".
  static bool is_loop(const Node& node) {
    if (node.domain != "higher_order") return false;
    for (const char* known : {"while_loop", "scan", "map", "map_impl", "associative_scan"})
      if (node.op_type == known) return true;
    return false;
  }

  core::Status add_body(const Json& source, const std::string& prefix, Graph& graph, int depth) {
    Graph body;
    Scope scope(source, prefix);
    for (const Json& input : source["inputs"].items())
      if (const auto name = input["as_tensor"]["name"].as_string()) {
        AACO_ASSIGN(const TensorId id, tensor(*name, scope, body));
        scope.made.insert(*name);
        body.inputs.push_back(id);
      }
    AACO_TRY(add_nodes(source, scope, body, depth + 1));
    for (const Json& output : source["outputs"].items())
      if (const auto name = output["as_tensor"]["name"].as_string()) {
        if (!scope.made.contains(*name)) return refuse("no node produces the output '" + *name + "' of a branch");
        AACO_ASSIGN(const TensorId id, tensor(*name, scope, body));
        body.outputs.push_back(id);
      }
    graph.subgraphs.push_back(std::move(body));
    return {};
  }

  core::Status add_results(const Json& output, Node& node, Scope& scope, Graph& graph) {
    std::vector<std::string> names;
    append_names(output, names);
    for (const std::string& name : names) {
      if (!scope.made.insert(name).second) return refuse("the tensor '" + name + "' has more than one producer");
      AACO_ASSIGN(const TensorId id, tensor(name, scope, graph));
      node.outputs.push_back(id);
    }
    return {};
  }

  std::string name_;
  const StoredWeights& stored_;
  std::unordered_map<std::string, TensorId> placed_;  // by their place in the archive
  Graph graph_;
};

}  // namespace

core::Result<Source> parse_program(std::string_view json, const std::string& name, const StoredWeights& stored) {
  auto program = Json::parse(json);
  if (!program) return tl::unexpected<core::Error>(std::move(program).error().with("reading the program of " + name));
  AACO_ASSIGN(Graph graph, Decoder(name, stored).run(*program));
  return Source{std::move(graph), ranges_of(*program), {}};
}

}  // namespace aaco::graph::pt2
