#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {

void quantise(ShapeContext& c) {
  const ElementType type = c.has(2) ? c.type(2) : c.type_attribute("output_dtype", ElementType::uint8);
  c.set_type(0, type);
  if (const Shape* shape = c.shape(0)) c.set(0, *shape, type);
}

void dequantise(ShapeContext& c) {
  const ElementType type = c.type_attribute("output_dtype", c.type(1) == ElementType::unknown ? ElementType::float32 : c.type(1));
  c.set_type(0, type);
  if (const Shape* shape = c.shape(0)) c.set(0, *shape, type);
}

void dynamic_quantise(ShapeContext& c) {
  if (const Shape* shape = c.shape(0)) c.set(0, *shape, ElementType::uint8);
  c.set_type(0, ElementType::uint8);
  c.set(1, {}, ElementType::float32);
  c.set(2, {}, ElementType::uint8);
}

void quantised_binary(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) == nullptr || c.shape(3) == nullptr) return;
  if (const auto shape = broadcast(*c.shape(0), *c.shape(3)))
    c.set(0, *shape, c.type(0));
  else
    c.problem("the operands cannot be broadcast");
}

void quantised_where(ShapeContext& c) {
  c.set_type(0, c.type(1));
  if (c.shape(0) == nullptr || c.shape(1) == nullptr || c.shape(4) == nullptr) return;
  const auto both = broadcast(*c.shape(1), *c.shape(4));
  const auto all = both ? broadcast(*both, *c.shape(0)) : std::nullopt;
  if (!all) return c.problem("the operands cannot be broadcast");
  c.set(0, *all, c.type(1));
}

// y_scale, y_zero, then (tensor, scale, zero) for each part.
void quantised_concat(ShapeContext& c) {
  const Shape* first = c.shape(2);
  if (first == nullptr) return;
  const auto axis = normal_axis(c.number("axis", 0), first->size());
  if (!axis) return c.problem("the axis is out of range");
  Shape out = *first;
  for (std::size_t input = 5; input < c.inputs(); input += 3) {
    const Shape* part = c.shape(input);
    if (part == nullptr || part->size() != out.size()) return;
    out[*axis] = add(out[*axis], (*part)[*axis]);
  }
  c.set(0, out, c.type(2));
}

}  // namespace aaco::graph::rules
