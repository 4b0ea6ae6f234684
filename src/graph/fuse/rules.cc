#include <algorithm>
#include <set>
#include <tuple>

#include "core/yaml.h"
#include "graph/element_type.h"
#include "graph/fuse.h"
#include "graph/near_miss.h"

namespace aaco::graph {
namespace {

using core::YamlNode;

core::Result<OperatorClass> class_from(const YamlNode& node) {
  AACO_ASSIGN(const std::string name, node.as_string());
  for (int kind = 0; kind <= static_cast<int>(OperatorClass::unknown); ++kind)
    if (to_string(static_cast<OperatorClass>(kind)) == name) return static_cast<OperatorClass>(kind);
  return node.error("unknown operator class '" + name + "'", "see docs/formats/fusion.md");
}

core::Result<FusionStep> read_step(const YamlNode& node, const std::set<std::string>& known) {
  AACO_TRY(node.only_keys({"id", "op", "near", "from", "optional", "shared"}));
  FusionStep step;
  AACO_ASSIGN(step.id, node.require_string("id"));
  AACO_ASSIGN(const YamlNode* ops, node.require("op"));
  AACO_ASSIGN(step.ops, ops->as_strings());
  if (step.ops.empty()) return ops->error("a step requires an operator");
  if (const YamlNode* near = node.find("near")) {
    AACO_ASSIGN(step.near, near->as_strings());
  }
  AACO_ASSIGN(const auto optional, node.optional_bool("optional"));
  step.optional = optional.value_or(false);
  AACO_ASSIGN(const auto shared, node.optional_bool("shared"));
  step.shared = shared.value_or(false);
  const YamlNode* from = node.find("from");
  if (from == nullptr) return step;
  AACO_ASSIGN(step.operands, from->as_strings());
  for (const std::string& operand : step.operands)
    if (operand != "const" && operand != "scalar" && operand != "*" && !operand.starts_with('$') && !known.contains(operand))
      return from->error("'" + operand + "' is not an earlier step", "use the id of an earlier step, const, scalar, * or $NAME");
  if (step.optional && (step.operands.empty() || !known.contains(step.operands[0])))
    return from->error("the first operand of an optional step must be a step");
  return step;
}

core::Status read_opsets(const YamlNode& node, FusionPattern& pattern) {
  for (const auto& [domain, range] : node.entries()) {
    if (range.items().size() != 2) return range.error("expected the first and the last version, such as [7, 22]");
    AACO_ASSIGN(const std::int64_t first, range.items()[0].as_i64());
    AACO_ASSIGN(const std::int64_t last, range.items()[1].as_i64());
    if (first > last) return range.error("the first version is newer than the last one");
    pattern.opsets[domain.scalar() == "ai.onnx" ? "" : domain.scalar()] = {first, last};
  }
  return {};
}

// The step that a condition is about; where there is only one, it is that.
core::Result<std::string> step_of(const YamlNode& node, const std::set<std::string>& known) {
  if (known.size() == 1 && node.find("step") == nullptr) return *known.begin();
  AACO_ASSIGN(std::string step, node.require_string("step"));
  if (!known.contains(step)) return node.error("unknown step '" + step + "'");
  return step;
}

core::Result<RankCondition> read_rank(const YamlNode& node, const std::set<std::string>& known) {
  AACO_TRY(node.only_keys({"step", "operand", "in", "fixed_from", "same_as", "per_channel", "or_scalar", "one_element", "at_most",
                           "result_from", "fixed_behind"}));
  RankCondition condition;
  AACO_ASSIGN(condition.step, step_of(node, known));
  AACO_ASSIGN(const std::int64_t operand, node.require_i64("operand"));
  if (operand < 0) return node.error("operand must be at least 0");
  condition.operand = static_cast<std::size_t>(operand);
  AACO_ASSIGN(condition.fixed_from, node.optional_i64("fixed_from"));
  if (const YamlNode* ranks = node.find("in"))
    for (const YamlNode& item : ranks->items()) {
      AACO_ASSIGN(const std::int64_t rank, item.as_i64());
      condition.ranks.push_back(rank);
    }
  AACO_ASSIGN(const auto same_as, node.optional_i64("same_as"));
  AACO_ASSIGN(const auto at_most, node.optional_i64("at_most"));
  for (const auto& [key, other, place] :
       {std::tuple("same_as", same_as, &condition.same_as), std::tuple("at_most", at_most, &condition.at_most)}) {
    if (other && (*other < 0 || *other == operand)) return node.error(std::string(key) + " must be another operand of the step");
    if (other) *place = static_cast<std::size_t>(*other);
  }
  AACO_ASSIGN(condition.one_element, node.optional_bool("one_element"));
  AACO_ASSIGN(condition.fixed_behind, node.optional_i64("fixed_behind"));
  AACO_ASSIGN(condition.result_from, node.optional_i64("result_from"));
  for (const auto& [key, flag] : {std::pair("per_channel", &condition.per_channel), std::pair("or_scalar", &condition.or_scalar)})
    if (const YamlNode* value = node.find(key)) {
      AACO_ASSIGN(*flag, value->as_bool());
    }
  if (condition.or_scalar && !condition.per_channel) return node.error("'or_scalar' requires 'per_channel'");
  if (condition.ranks.empty() && !condition.fixed_from && !condition.same_as && !condition.per_channel &&
      !condition.one_element && !condition.at_most && !condition.fixed_behind)
    return node.error(
        "expected 'in' with at least one rank, 'fixed_from', 'fixed_behind', 'same_as', 'at_most', 'one_element' or "
        "'per_channel'");
  return condition;
}

core::Result<std::set<ElementType>> read_types(const YamlNode& list) {
  std::set<ElementType> out;
  for (const YamlNode& item : list.items()) {
    AACO_ASSIGN(const std::string name, item.as_string());
    const auto type = element_type_from_string(name);
    if (!type) return item.error("unknown element type '" + name + "'", "use names such as float32 and int8");
    out.insert(*type);
  }
  return out;
}

// What an operand has to be besides its value.
core::Status read_operand_condition(const YamlNode& node, ValueCondition& condition) {
  AACO_ASSIGN(const auto absent, node.optional_bool("absent"));
  condition.absent = absent.value_or(false);
  if (const YamlNode* types = node.find("types")) {
    AACO_ASSIGN(condition.types, read_types(*types));
  }
  if (const YamlNode* makers = node.find("made_by")) {
    AACO_ASSIGN(condition.made_by, makers->as_strings());
    AACO_ASSIGN(condition.reason, node.require_string("reason"));
    if (const YamlNode* through = node.find("through")) {
      AACO_ASSIGN(const auto operators, through->as_strings());
      condition.through.insert(operators.begin(), operators.end());
    }
  }
  const bool has_any = condition.absent || !condition.types.empty() || !condition.made_by.empty();
  if (has_any && !condition.operand) return node.error("'absent', 'types' and 'made_by' require 'operand'");
  return {};
}

core::Result<ValueCondition> read_value(const YamlNode& node, const std::set<std::string>& known) {
  AACO_TRY(
      node.only_keys({"step", "operand", "attribute", "in", "last_axis", "matrix_swap", "spatial_pads", "absent", "types",
                      "made_by", "through", "reason", "inputs", "outputs", "not_all", "lowest", "quantised_bias", "same_as"}));
  ValueCondition condition;
  AACO_ASSIGN(condition.step, step_of(node, known));
  AACO_ASSIGN(const auto operand, node.optional_i64("operand"));
  AACO_ASSIGN(const auto attribute, node.optional_string("attribute"));
  AACO_ASSIGN(condition.inputs, node.optional_i64("inputs"));
  AACO_ASSIGN(condition.outputs, node.optional_i64("outputs"));
  AACO_ASSIGN(condition.not_all, node.optional_i64("not_all"));
  if (operand.has_value() + attribute.has_value() + condition.inputs.has_value() + condition.outputs.has_value() != 1)
    return node.error("expected one of 'operand', 'attribute', 'inputs' and 'outputs'");
  if (operand && *operand < 0) return node.error("operand must be at least 0");
  if (operand) condition.operand = static_cast<std::size_t>(*operand);
  condition.attribute = attribute.value_or("");
  for (const auto& [key, flag] : {std::pair("last_axis", &condition.last_axis), std::pair("matrix_swap", &condition.matrix_swap),
                                  std::pair("spatial_pads", &condition.spatial_pads), std::pair("lowest", &condition.lowest),
                                  std::pair("quantised_bias", &condition.quantised_bias)}) {
    AACO_ASSIGN(const auto given, node.optional_bool(key));
    *flag = given.value_or(false);
  }
  AACO_TRY(read_operand_condition(node, condition));
  if (const YamlNode* other = node.find("same_as")) {
    if (other->items().size() != 2) return other->error("expected a step and the number of its operand, such as [x, 1]");
    AACO_ASSIGN(const std::string step, other->items()[0].as_string());
    AACO_ASSIGN(const std::int64_t place, other->items()[1].as_i64());
    if (!known.contains(step) || place < 0) return other->error("expected a step and the number of its operand, such as [x, 1]");
    condition.same_as = {step, static_cast<std::size_t>(place)};
  }
  if (!condition.operand && (condition.same_as || condition.lowest || condition.quantised_bias))
    return node.error("'same_as', 'lowest' and 'quantised_bias' require 'operand'");
  if (const YamlNode* in = node.find("in"))
    for (const YamlNode& item : in->items()) {
      if (const auto number = item.as_f64())
        condition.values.push_back(*number);
      else
        condition.words.push_back(item.scalar());
    }
  const bool has_kind = condition.not_all || condition.last_axis || condition.matrix_swap || condition.spatial_pads;
  if (attribute && !has_kind && condition.values.empty() && condition.words.empty())
    return node.error("an attribute requires 'in', 'last_axis', 'matrix_swap' or 'spatial_pads'");
  return condition;
}

// What a pattern requires besides its steps.
core::Status read_conditions(const YamlNode& node, const std::set<std::string>& known, FusionPattern& pattern) {
  AACO_ASSIGN(const auto level, node.optional_string("level"));
  pattern.level = level.value_or("");
  if (const YamlNode* types = node.find("types")) {
    AACO_ASSIGN(pattern.types, read_types(*types));
  }
  AACO_ASSIGN(const auto strict, node.optional_bool("strict"));
  pattern.strict = strict.value_or(false);
  AACO_ASSIGN(const auto inner, node.optional_bool("inner"));
  pattern.inner = inner.value_or(false);
  AACO_ASSIGN(const auto lacks, node.optional_string("lacks"));
  pattern.lacks = lacks.value_or("");
  AACO_ASSIGN(const auto further, node.optional_string("further"));
  pattern.further = further.value_or("");
  if (const YamlNode* between = node.find("between")) {
    AACO_ASSIGN(const auto operators, between->as_strings());
    pattern.between.insert(operators.begin(), operators.end());
  }
  if (const YamlNode* opsets = node.find("opsets")) AACO_TRY(read_opsets(*opsets, pattern));
  if (const YamlNode* ranks = node.find("ranks"))
    for (const YamlNode& item : ranks->items()) {
      AACO_ASSIGN(RankCondition condition, read_rank(item, known));
      pattern.ranks.push_back(std::move(condition));
    }
  if (const YamlNode* values = node.find("values"))
    for (const YamlNode& item : values->items()) {
      AACO_ASSIGN(ValueCondition condition, read_value(item, known));
      pattern.values.push_back(std::move(condition));
    }
  return {};
}

core::Result<FusionPattern> read_pattern(const YamlNode& node) {
  AACO_TRY(node.only_keys(
      {"name", "steps", "level", "types", "opsets", "ranks", "values", "strict", "between", "inner", "lacks", "further"}));
  FusionPattern pattern;
  AACO_ASSIGN(pattern.name, node.require_string("name"));
  AACO_ASSIGN(const YamlNode* steps, node.require("steps"));
  std::set<std::string> known;
  for (const YamlNode& item : steps->items()) {
    AACO_ASSIGN(FusionStep step, read_step(item, known));
    if (!known.insert(step.id).second) return item.error("duplicate step '" + step.id + "'");
    pattern.steps.push_back(std::move(step));
  }
  if (pattern.steps.size() < 2) return steps->error("a pattern requires at least two steps");
  AACO_TRY(read_conditions(node, known, pattern));
  return pattern;
}

// A pattern of one step called "node".
core::Result<FusionPattern> read_one_node(const YamlNode& node) {
  FusionPattern pattern;
  FusionStep step;
  step.id = "node";
  if (const YamlNode* ops = node.find("op")) {
    AACO_ASSIGN(step.ops, ops->as_strings());
  }
  pattern.steps.push_back(std::move(step));
  AACO_TRY(read_conditions(node, {"node"}, pattern));
  return pattern;
}

core::Result<FusionPattern> read_node_rule(const YamlNode& node) {
  AACO_TRY(node.only_keys({"op", "types", "ranks", "values", "opsets"}));
  AACO_TRY(node.require("op"));
  return read_one_node(node);
}

core::Result<Expected> read_expected(const YamlNode& node) {
  static constexpr std::string_view kNames[] = {"always",    "same_type",   "round_trip", "neutral",       "whole",
                                                "unchanged", "one_operand", "constants",  "computed_shape"};
  AACO_ASSIGN(const std::string name, node.require_string("expected"));
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return node.error("unknown value '" + name + "' of 'expected'", "see docs/formats/fusion.md");
  return static_cast<Expected>(found - std::begin(kNames));
}

core::Result<Elimination> read_elimination(const YamlNode& node) {
  AACO_TRY(node.only_keys(
      {"name", "op", "level", "expected", "types", "ranks", "values", "inner", "lacks", "unread", "undetermined", "except"}));
  Elimination out;
  AACO_ASSIGN(out.pattern, read_one_node(node));
  AACO_ASSIGN(out.pattern.name, node.require_string("name"));
  AACO_ASSIGN(out.expected, read_expected(node));
  if (out.pattern.steps[0].ops.empty() && out.expected != Expected::constants)
    return node.error("an elimination without 'op' is one of constants");
  if (const YamlNode* unread = node.find("unread"))
    for (const YamlNode& item : unread->items()) {
      AACO_ASSIGN(const std::int64_t place, item.as_i64());
      if (place < 0) return item.error("a result's number must be at least 0");
      out.unread.push_back(place);
    }
  for (const auto& [key, list] : {std::pair("undetermined", &out.undetermined), std::pair("except", &out.except)})
    if (const YamlNode* given = node.find(key)) {
      AACO_ASSIGN(const auto names, given->as_strings());
      list->insert(names.begin(), names.end());
    }
  return out;
}

}  // namespace

core::Result<NodeRules> read_node_rules(const YamlNode& list) {
  NodeRules out;
  for (const YamlNode& item : list.items()) {
    AACO_ASSIGN(FusionPattern rule, read_node_rule(item));
    out.rules.push_back(std::move(rule));
  }
  return out;
}

core::Result<FusionRules> load_fusion_rules(const std::string& path) {
  AACO_ASSIGN(const YamlNode root, YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "backend", "source", "pointwise", "epilogues", "patterns", "eliminations"}));
  AACO_ASSIGN(const auto version, root.require_i64("schema_version"));
  if (version != 1) return root.error("unsupported schema_version " + std::to_string(version), "use a newer version of AACO");
  FusionRules rules;
  AACO_ASSIGN(rules.backend, root.require_string("backend"));
  AACO_ASSIGN(rules.source, root.require_string("source"));
  AACO_ASSIGN(const auto pointwise, root.optional_bool("pointwise"));
  rules.pointwise = pointwise.value_or(false);
  if (const YamlNode* classes = root.find("epilogues"))
    for (const YamlNode& item : classes->items()) {
      AACO_ASSIGN(const OperatorClass kind, class_from(item));
      rules.epilogues.push_back(kind);
    }
  if (const YamlNode* patterns = root.find("patterns"))
    for (const YamlNode& item : patterns->items()) {
      AACO_ASSIGN(FusionPattern pattern, read_pattern(item));
      rules.patterns.push_back(std::move(pattern));
    }
  if (const YamlNode* eliminations = root.find("eliminations"))
    for (const YamlNode& item : eliminations->items()) {
      AACO_ASSIGN(Elimination elimination, read_elimination(item));
      rules.eliminations.push_back(std::move(elimination));
    }
  return rules;
}

}  // namespace aaco::graph
