#include <algorithm>
#include <cmath>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
void constant(ShapeContext& c) {
  for (const Attribute& attribute : c.node().attributes) {
    if (const auto* literal = std::get_if<TensorLiteral>(&attribute.value)) {
      if (literal->descriptor.shape) c.set(0, *literal->descriptor.shape, literal->descriptor.type);
      if (auto value = value_of(literal->descriptor, literal->constant)) c.set_value(0, std::move(*value));
    } else if (const auto* number = std::get_if<std::int64_t>(&attribute.value); number && attribute.name == "value_int") {
      c.set(0, {}, ElementType::int64);
      c.set_value(0, {{}, {Element(static_cast<double>(*number))}});
    } else if (const auto* real = std::get_if<double>(&attribute.value); real && attribute.name == "value_float") {
      c.set(0, {}, ElementType::float32);
      c.set_value(0, {{}, {Element(*real)}});
    } else if (attribute.name == "value_ints") {
      const Ints numbers = c.node().ints_or("value_ints", {});
      Value value{{static_cast<std::int64_t>(numbers.size())}, {}};
      for (const std::int64_t item : numbers) value.elements.emplace_back(static_cast<double>(item));
      c.set(0, {value.dims[0]}, ElementType::int64);
      c.set_value(0, std::move(value));
    } else if (const auto* reals = std::get_if<std::vector<double>>(&attribute.value);
               reals && attribute.name == "value_floats") {
      Value value{{static_cast<std::int64_t>(reals->size())}, {}};
      for (const double item : *reals) value.elements.emplace_back(item);
      c.set(0, {value.dims[0]}, ElementType::float32);
      c.set_value(0, std::move(value));
    } else if (attribute.name == "value_string") {
      c.set(0, {}, ElementType::string);
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
      c.set(0, {static_cast<std::int64_t>(texts->size())}, ElementType::string);
    }
  }
}

void constant_of_shape(ShapeContext& c) {
  const auto* held = c.node().attribute("value");
  const auto* fill = held == nullptr ? nullptr : std::get_if<TensorLiteral>(held);
  const ElementType type = fill == nullptr ? ElementType::float32 : fill->descriptor.type;
  c.set_type(0, type);
  const Value* wanted = c.value(0);
  if (wanted == nullptr) return;
  const Shape shape = shape_from(*wanted);
  c.set(0, shape, type);
  const auto count = element_count(shape);
  if (!count || *count > static_cast<std::int64_t>(kMaxValueElements)) return;
  const auto number = fill == nullptr ? std::nullopt : value_of(fill->descriptor, fill->constant);
  Element element(0.0);
  if (number && number->elements.size() == 1) element = number->elements[0];
  Value value{{}, std::vector<Element>(static_cast<std::size_t>(*count), element)};
  for (const Dimension& dimension : shape) value.dims.push_back(dimension.size);
  c.set_value(0, std::move(value));
}

void shape_of(ShapeContext& c) {
  c.set_type(0, ElementType::int64);
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return c.set(0, {Dimension{}}, ElementType::int64);
  const auto rank = static_cast<std::int64_t>(shape->size());
  const auto bound = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t begin = bound(c.number("start", 0)), end = std::max(begin, bound(c.number("end", rank)));
  const std::vector<Dimension> part(shape->begin() + begin, shape->begin() + end);
  c.set(0, {static_cast<std::int64_t>(part.size())}, ElementType::int64);
  c.set_value(0, vector_value(part));
}

void size_of(ShapeContext& c) {
  c.set(0, {}, ElementType::int64);
  if (const Shape* shape = c.shape(0)) c.set_value(0, {{}, {Element(product(*shape))}});
}

void range(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Value *start = c.value(0), *limit = c.value(1), *step = c.value(2);
  const auto one = [](const Value* value) { return value != nullptr && value->elements.size() == 1; };
  if (!one(start) || !one(limit) || !one(step) || !step->elements[0].known || step->elements[0].number == 0)
    return c.set(0, {Dimension{}}, c.type(0));
  const Element &from = start->elements[0], &to = limit->elements[0];
  const double by = step->elements[0].number;
  if (!from.known || !to.known) {
    return c.set(0, {by == 1 ? subtract(to.dimension(), from.dimension()) : Dimension{}}, c.type(0));
  }
  const double count = std::ceil((to.number - from.number) / by);
  if (!(count < 1e15)) return c.problem("the element count overflows");
  c.set(0, {static_cast<std::int64_t>(std::max(0.0, count))}, c.type(0));
  if (count > static_cast<double>(kMaxHeldElements)) return;
  Value value{{static_cast<std::int64_t>(std::max(0.0, count))}, {}};
  for (double at = 0; at < count; ++at) value.elements.emplace_back(from.number + at * by);
  c.set_value(0, std::move(value));
}

void random(ShapeContext& c) {
  const ElementType type = c.type_attribute("dtype", ElementType::float32);
  const Ints sizes = c.node().ints_or("shape", {});
  c.set(0, Shape(sizes.begin(), sizes.end()), type);
}

void multinomial(ShapeContext& c) {
  if (c.shape(0) != nullptr && c.shape(0)->size() == 2)
    c.set(0, {(*c.shape(0))[0], c.number("sample_size", 1)}, c.type_attribute("dtype", ElementType::int32));
}

// HannWindow, HammingWindow, BlackmanWindow.
void window(ShapeContext& c) {
  const Value* size = c.value(0);
  c.set(0, {size != nullptr && size->elements.size() == 1 ? size->elements[0].dimension() : Dimension{}},
        c.type_attribute("output_datatype", ElementType::float32));
}

void mel_weights(ShapeContext& c) {
  const auto bins = c.ints(0), length = c.ints(1);
  const ElementType type = c.type_attribute("output_datatype", ElementType::float32);
  if (bins && length && bins->size() == 1 && length->size() == 1)
    c.set(0, {(*length)[0] / 2 + 1, (*bins)[0]}, type);
  else
    c.set(0, Shape(2), type);
}

// DFT: [batch, signal..., 1 or 2]; the last dimension of the answer is 2 (1 of an inverse that is real).
void dft(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr || shape->size() < 2) return;
  std::int64_t number = c.number("axis", c.opset() >= 20 ? -2 : 1);
  if (c.has(2)) {
    const auto given = c.ints(2);
    if (!given || given->size() != 1) return c.set(0, Shape(shape->size()), c.type(0));
    number = (*given)[0];
  }
  const auto axis = normal_axis(number, shape->size());
  if (!axis) return c.problem("the axis is out of range");
  Shape out = *shape;
  if (c.has(1)) {
    const Value* length = c.value(1);
    out[*axis] = length != nullptr && length->elements.size() == 1 ? length->elements[0].dimension() : Dimension{};
  }
  out.back() = 2;
  if (c.number("onesided", 0) != 0) {
    if (c.number("inverse", 0) != 0)
      out.back() = 1;
    else
      out[*axis] = add(divide(out[*axis], 2), 1);
  }
  c.set(0, out, c.type(0));
}

void stft(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* signal = c.shape(0);
  const auto step = c.ints(1);
  if (signal == nullptr || signal->size() < 2 || !step || step->size() != 1 || (*step)[0] < 1) return;
  Dimension frame;
  if (const Value* length = c.value(3); length != nullptr && length->elements.size() == 1)
    frame = length->elements[0].dimension();
  else if (c.shape(2) != nullptr && c.shape(2)->size() == 1)
    frame = (*c.shape(2))[0];
  const Dimension frames = add(divide(subtract((*signal)[1], frame), (*step)[0]), 1);
  c.set(0, {(*signal)[0], frames, c.number("onesided", 1) != 0 ? add(divide(frame, 2), 1) : frame, 2}, c.type(0));
}

void scalar_integer(ShapeContext& c) {
  c.set(0, {}, c.node().op_type == "OptionalHasElement" ? ElementType::boolean : ElementType::int64);
}

void opaque(ShapeContext&) {}

}  // namespace aaco::graph::rules
