#include "graph/catalogue/context.h"

namespace aaco::graph {
namespace {

constexpr std::size_t kMaxRank = 64;  // no runtime takes more

}  // namespace

Values::Values(const Graph& graph) : graph_(graph), constant_(graph.tensors.size(), -1), known_(graph.tensors.size()) {
  for (std::size_t number = 0; number < graph.initializers.size(); ++number)
    constant_[index_of(graph.initializers[number].tensor)] = static_cast<std::int32_t>(number);
}

const Value* Values::find(TensorId id) {
  if (!id.valid()) return nullptr;
  const std::size_t at = index_of(id);
  if (constant_[at] >= 0) {
    const Initializer& initializer = graph_.initializers[static_cast<std::size_t>(constant_[at])];
    known_[at] = value_of(graph_.tensor(id), initializer.constant);
    constant_[at] = -1;
  }
  return known_[at] ? &*known_[at] : nullptr;
}

void Values::set(TensorId id, Value value) {
  if (id.valid() && value.elements.size() <= kMaxHeldElements) known_[index_of(id)] = std::move(value);
}

bool ShapeContext::has(std::size_t input) const { return input < node_.inputs.size() && node_.inputs[input].valid(); }

const Shape* ShapeContext::shape(std::size_t input) const {
  if (!has(input)) return nullptr;
  const auto& shape = graph_.tensor(node_.inputs[input]).shape;
  return shape ? &*shape : nullptr;
}

ElementType ShapeContext::type(std::size_t input) const {
  return has(input) ? graph_.tensor(node_.inputs[input]).type : ElementType::unknown;
}

const Value* ShapeContext::value(std::size_t input) const { return has(input) ? values_.find(node_.inputs[input]) : nullptr; }

std::optional<Ints> ShapeContext::ints(std::size_t input) const {
  const Value* known = value(input);
  return known == nullptr ? std::nullopt : integers(*known);
}

std::optional<Ints> ShapeContext::ints(std::string_view attribute, std::size_t input, const Ints& fallback) const {
  if (node_.attribute(attribute) != nullptr) return node_.ints_or(attribute, fallback);
  return has(input) ? ints(input) : fallback;
}

ElementType ShapeContext::type_attribute(std::string_view attribute, ElementType fallback) const {
  const AttributeValue* held = node_.attribute(attribute);
  return held == nullptr ? fallback : element_type_from_onnx(node_.int_or(attribute, 0)).value_or(ElementType::unknown);
}

void ShapeContext::set(std::size_t output, Shape shape, ElementType type) {
  if (output >= node_.outputs.size() || !node_.outputs[output].valid() || shape.size() > kMaxRank) return;
  // Hostile attributes make sizes below zero; no definition does.
  for (Dimension& dimension : shape)
    if (dimension.size < -1) dimension = Dimension();
  std::optional<Shape>& held = graph_.tensor(node_.outputs[output]).shape;
  // What the file declares fills the gaps of what was inferred.
  if (held && held->size() == shape.size())
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (!shape[axis].fixed() && ((*held)[axis].fixed() || shape[axis].symbol.empty())) shape[axis] = (*held)[axis];
  held = std::move(shape);
  set_type(output, type);
}

void ShapeContext::set_type(std::size_t output, ElementType type) {
  if (output >= node_.outputs.size() || !node_.outputs[output].valid() || type == ElementType::unknown) return;
  graph_.tensor(node_.outputs[output]).type = type;
}

void ShapeContext::set_value(std::size_t output, Value value) {
  if (output < node_.outputs.size()) values_.set(node_.outputs[output], std::move(value));
}

}  // namespace aaco::graph
