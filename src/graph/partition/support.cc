#include "graph/support.h"

#include <algorithm>
#include <string_view>

#include "core/strings.h"
#include "core/yaml.h"

namespace aaco::graph {
namespace {

using core::YamlNode;

core::Result<std::set<std::string>> names_of(const YamlNode& node) {
  AACO_ASSIGN(const auto list, node.as_strings());
  std::set<std::string> names;
  for (const std::string& name : list)
    if (!names.insert(name).second) return node.error("duplicate entry '" + name + "'");
  return names;
}

core::Result<std::set<ElementType>> types_of(const YamlNode& node) {
  AACO_ASSIGN(const auto names, names_of(node));
  std::set<ElementType> types;
  for (const std::string& name : names) {
    const auto type = element_type_from_string(name);
    if (!type) return node.error("unknown element type '" + name + "'", "use names such as float32 and int8");
    types.insert(*type);
  }
  if (types.empty()) return node.error("a backend requires at least one data type");
  return types;
}

core::Result<HostLink> link_of(const YamlNode& node) {
  AACO_TRY(node.only_keys({"name", "bytes_per_s"}));
  HostLink link;
  AACO_ASSIGN(link.name, node.require_string("name"));
  AACO_ASSIGN(link.bytes_per_s, node.require_f64("bytes_per_s"));
  if (!(link.bytes_per_s > 0)) return node.error("bytes_per_s must be above 0");
  return link;
}

std::vector<bool> constants_of(const Graph& graph) {
  std::vector<bool> constant(graph.tensors.size(), false);
  for (const Initializer& one : graph.initializers) constant[index_of(one.tensor)] = true;
  for (const Node& node : graph.nodes) {
    const bool computed = node.op_type == "Constant" ||
                          (!node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
                            return !id.valid() || constant[index_of(id)];
                          }));
    for (const TensorId id : node.outputs)
      if (id.valid() && computed) constant[index_of(id)] = true;
  }
  return constant;
}

// The type a node works in: of what it reads, else of what it makes.
ElementType type_of(const Graph& graph, const Node& node, ElementType floats_as) {
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const TensorId id : *list) {
      if (!id.valid()) continue;
      const ElementType type = graph.tensor(id).type;
      return is_floating(type) && floats_as != ElementType::unknown ? floats_as : type;
    }
  return ElementType::unknown;
}

// The reason of a fusion's condition, as one of a provider.
std::string provider_reason(const std::string& reason) {
  if (reason == "type_not_covered") return "provider_type";
  if (reason == "shape_not_covered") return "provider_shape";
  if (reason == "operand_not_constant") return "provider_operand";
  if (reason == "attribute_not_covered" || reason == "value_not_covered" || reason == "operand_not_covered")
    return "provider_attribute";
  return reason == "opset_not_covered" ? "provider_opset" : reason;
}

// What a condition of a fusion says, of a provider.
std::string provider_words(std::string text, const std::string& backend) {
  constexpr std::string_view kPattern = "the pattern requires";
  const std::string words = backend + " requires";
  for (auto at = text.find(kPattern); at != std::string::npos; at = text.find(kPattern, at + words.size()))
    text.replace(at, kPattern.size(), words);
  return text;
}

std::string list_of(const std::set<ElementType>& types) {
  std::vector<std::string> names;
  for (const ElementType type : types) names.emplace_back(to_string(type));
  return core::join(names, ", ");
}

}  // namespace

core::Result<BackendSupport> load_backend_support(const std::string& path) {
  AACO_ASSIGN(const YamlNode root, YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "backend", "source", "devices", "types", "operators", "constant_operand",
                           "conditions", "one_part", "most_refused", "host_link"}));
  AACO_ASSIGN(const auto version, root.require_i64("schema_version"));
  if (version != 1) return root.error("unsupported schema_version " + std::to_string(version), "use a newer version of AACO");
  BackendSupport out;
  AACO_ASSIGN(out.backend, root.require_string("backend"));
  AACO_ASSIGN(out.source, root.require_string("source"));
  AACO_ASSIGN(const YamlNode* types, root.require("types"));
  AACO_ASSIGN(out.types, types_of(*types));
  AACO_ASSIGN(const YamlNode* operators, root.require("operators"));
  AACO_ASSIGN(out.operators, names_of(*operators));
  if (out.operators.empty()) return operators->error("a backend requires at least one operator");
  if (const YamlNode* devices = root.find("devices")) {
    AACO_ASSIGN(out.devices, devices->as_strings());
  }
  if (const YamlNode* constant = root.find("constant_operand")) {
    AACO_ASSIGN(out.constant_operand, names_of(*constant));
    for (const std::string& name : out.constant_operand)
      if (!out.operators.contains(name)) return constant->error("'" + name + "' is not in the list of operators");
  }
  if (const YamlNode* conditions = root.find("conditions")) {
    AACO_ASSIGN(out.rules, read_node_rules(*conditions));
  }
  if (const YamlNode* link = root.find("host_link")) {
    AACO_ASSIGN(out.link, link_of(*link));
  }
  AACO_ASSIGN(const auto one_part, root.optional_bool("one_part"));
  out.one_part = one_part.value_or(false);
  AACO_ASSIGN(out.most_refused, root.optional_i64("most_refused"));
  if (out.most_refused && *out.most_refused < 0)
    return root.find("most_refused")->error("the number of nodes must be at least 0");
  return out;
}

SupportCheck::SupportCheck(const BackendSupport& support, ElementType floats_as, const Graph& graph)
    : support_(support), floats_as_(floats_as), graph_(graph), rules_(graph, support.rules), constant_(constants_of(graph)) {}

std::optional<SupportRefusal> SupportCheck::refusal(std::size_t number) const {
  const Node& node = graph_.nodes[number];
  const std::string name = node.qualified_type();
  if (name == "Constant") return std::nullopt;
  if (!support_.operators.contains(name))
    return SupportRefusal{"provider_operator", support_.backend + " does not support " + name};
  const ElementType type = type_of(graph_, node, floats_as_);
  if (type != ElementType::unknown && !support_.types.contains(type))
    return SupportRefusal{"provider_type", "data type " + std::string(to_string(type)) +
                                               " is not supported: " + support_.backend + " supports " + list_of(support_.types)};
  if (support_.constant_operand.contains(name) && node.inputs.size() > 1 && node.inputs[1].valid() &&
      !constant_[index_of(node.inputs[1])])
    return SupportRefusal{"provider_operand", support_.backend + " supports " + name + " only with a constant second operand"};
  if (const auto unmet = rules_.unmet(number))
    return SupportRefusal{provider_reason(unmet->reason), provider_words(unmet->condition, support_.backend)};
  return std::nullopt;
}

Partition partition_by(const Graph& graph, const BackendSupport& support, ElementType floats_as, const std::string& host,
                       const std::vector<std::string>& on_host) {
  Target backend{support.backend, nullptr, support.one_part};
  const SupportCheck check(support, floats_as, graph);
  backend.refuses = [&](const Graph& whole, const Node& node) -> std::string {
    if (std::find(on_host.begin(), on_host.end(), node.qualified_type()) != on_host.end())
      return "assigned to the host on request";
    const auto refusal = check.refusal(static_cast<std::size_t>(&node - whole.nodes.data()));
    return refusal ? refusal->text : std::string();
  };
  Partition parts = partition(graph, {backend, {host, nullptr, false}});
  std::int64_t refused = 0;
  for (const Refusal& one : parts.refusals) refused += one.nodes;
  if (!support.most_refused || refused <= *support.most_refused) return parts;
  const std::string none = support.backend + " rejects the whole graph: " + std::to_string(refused) +
                           " nodes are unsupported, more than " + std::to_string(*support.most_refused);
  backend.refuses = [first = backend.refuses, none](const Graph& whole, const Node& node) -> std::string {
    const std::string own = first(whole, node);
    return own.empty() ? none : own;
  };
  return partition(graph, {backend, {host, nullptr, false}});
}

}  // namespace aaco::graph
