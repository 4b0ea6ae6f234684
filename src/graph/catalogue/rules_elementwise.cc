#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
namespace {

// The operands' common shape; empty where one is not known, or they do not fit (which is a problem).
std::optional<Shape> common_shape(ShapeContext& c) {
  std::optional<Shape> result;
  for (std::size_t input = 0; input < c.inputs(); ++input) {
    if (!c.has(input)) continue;
    const Shape* shape = c.shape(input);
    if (shape == nullptr) return std::nullopt;
    const Shape before = result.value_or(Shape{});
    result = result ? broadcast(*result, *shape) : *shape;
    if (result) continue;
    c.problem("input shapes " + to_string(before) + " and " + to_string(*shape) + " cannot be broadcast");
    return std::nullopt;
  }
  return result;
}

void set_all(ShapeContext& c, std::size_t from, ElementType type) {
  for (std::size_t output = 0; output < c.outputs(); ++output) {
    if (const Shape* shape = c.shape(from))
      c.set(output, *shape, type);
    else
      c.set_type(output, type);
  }
}

}  // namespace

void same(ShapeContext& c) { set_all(c, 0, c.type(0)); }
void same_boolean(ShapeContext& c) { set_all(c, 0, ElementType::boolean); }
void cast(ShapeContext& c) { set_all(c, 0, c.type_attribute("to", c.type(0))); }
void cast_like(ShapeContext& c) { set_all(c, 0, c.type(1)); }
void like_with_dtype(ShapeContext& c) { set_all(c, 0, c.type_attribute("dtype", c.type(0))); }

void spread(ShapeContext& c) {
  c.set_type(0, c.type(0));
  // Before opset 7 the second operand was laid over the first at an axis.
  if (c.opset() < 7 && c.number("broadcast", 0) != 0 && c.shape(0) != nullptr) return c.set(0, *c.shape(0), c.type(0));
  if (const auto shape = common_shape(c)) c.set(0, *shape, c.type(0));
}

void spread_boolean(ShapeContext& c) {
  c.set_type(0, ElementType::boolean);
  if (c.opset() < 7 && c.number("broadcast", 0) != 0 && c.shape(0) != nullptr) return c.set(0, *c.shape(0), ElementType::boolean);
  if (const auto shape = common_shape(c)) c.set(0, *shape, ElementType::boolean);
}

void where(ShapeContext& c) {
  c.set_type(0, c.type(1));
  if (const auto shape = common_shape(c)) c.set(0, *shape, c.type(1));
}

void dropout(ShapeContext& c) {
  if (const Shape* shape = c.shape(0)) {
    c.set(0, *shape, c.type(0));
    c.set(1, *shape, c.opset() < 10 && c.node().domain.empty() ? c.type(0) : ElementType::boolean);  // the mask
  }
}

void normalise(ShapeContext& c) {
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return c.set_type(0, c.type(0));
  c.set(0, *shape, c.type(0));
  const auto axis = normal_axis(c.number("axis", -1), shape->size());
  if (!axis) return;
  Shape rows = *shape;
  for (std::size_t at = *axis; at < rows.size(); ++at) rows[at] = 1;
  const ElementType kept = c.type_attribute("stash_type", ElementType::float32);
  c.set(1, rows, kept);
  c.set(2, rows, kept);
}

void batch_normalise(ShapeContext& c) {
  if (const Shape* shape = c.shape(0)) c.set(0, *shape, c.type(0));
  c.set_type(0, c.type(0));
  for (std::size_t output = 1; output < c.outputs(); ++output)
    if (const Shape* channels = c.shape(1)) c.set(output, *channels, c.type(1));
}

void skip_normalise(ShapeContext& c) {
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  c.set(0, *shape, c.type(0));
  Shape rows = *shape;
  if (!rows.empty()) rows.back() = 1;
  c.set(1, rows, ElementType::float32);
  c.set(2, rows, ElementType::float32);
  c.set(3, *shape, c.type(0));  // the sum before the normalisation
}

void embed_normalise(ShapeContext& c) {
  const Shape* ids = c.shape(0);
  const Shape* words = c.shape(2);
  if (ids == nullptr || words == nullptr || ids->size() != 2 || words->size() != 2) return;
  const Shape out = {(*ids)[0], (*ids)[1], (*words)[1]};
  c.set(0, out, c.type(2));
  c.set(1, {(*ids)[0]}, ElementType::int32);
  c.set(2, out, c.type(2));
}

void half_last(ShapeContext& c) {
  const Shape* shape = c.shape(0);
  if (shape == nullptr || shape->empty()) return;
  Shape out = *shape;
  out.back() = divide(out.back(), 2);
  c.set(0, out, c.type(0));
}

}  // namespace aaco::graph::rules
