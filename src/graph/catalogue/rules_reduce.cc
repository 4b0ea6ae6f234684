#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
namespace {

// `shape` without the axes (or with ones in their place); empty for an axis out of range.
std::optional<Shape> without(ShapeContext& c, const Shape& shape, const Ints& axes, bool keep) {
  std::vector<bool> gone(shape.size(), axes.empty());
  for (const std::int64_t axis : axes) {
    const auto at = normal_axis(axis, shape.size());
    if (!at) {
      c.problem("axis " + std::to_string(axis) + " is out of range for the shape " + to_string(shape));
      return std::nullopt;
    }
    gone[*at] = true;
  }
  Shape out;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!gone[axis])
      out.push_back(shape[axis]);
    else if (keep)
      out.emplace_back(1);
  }
  return out;
}

}  // namespace

void reduce(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const auto axes = c.ints("axes", 1);
  if (shape == nullptr) return;
  const bool keep = c.number("keepdims", 1) != 0;
  if (!axes) {
    if (keep) c.set(0, Shape(shape->size()), c.type(0));  // the rank at least
    return;
  }
  if (axes->empty() && c.number("noop_with_empty_axes", 0) != 0) return c.set(0, *shape, c.type(0));
  if (const auto out = without(c, *shape, *axes, keep)) c.set(0, *out, c.type(0));
}

void arg_reduce(ShapeContext& c) {
  c.set_type(0, ElementType::int64);
  if (const Shape* shape = c.shape(0))
    if (const auto out = without(c, *shape, {c.number("axis", 0)}, c.number("keepdims", 1) != 0))
      c.set(0, *out, ElementType::int64);
}

void top_k(ShapeContext& c) {
  c.set_type(0, c.type(0));
  c.set_type(1, ElementType::int64);
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  const auto axis = normal_axis(c.number("axis", -1), shape->size());
  if (!axis) return c.problem("the axis is out of range");
  Shape out = *shape;
  out[*axis] = Dimension{};
  if (const AttributeValue* k = c.node().attribute("k"); k != nullptr)
    out[*axis] = c.number("k", 0);
  else if (const Value* value = c.value(1); value != nullptr && value->elements.size() == 1)
    out[*axis] = value->elements[0].dimension();
  c.set(0, out, c.type(0));
  c.set(1, out, ElementType::int64);
}

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: scores [N, C, d...], labels [N, d...].
void cross_entropy(ShapeContext& c) {
  const std::string reduction = c.node().string_or("reduction", "mean");
  if (reduction != "none")
    c.set(0, {}, c.type(0));
  else if (c.shape(1) != nullptr)
    c.set(0, *c.shape(1), c.type(0));
  if (c.shape(0) != nullptr) c.set(1, *c.shape(0), c.type(0));
}

void determinant(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) != nullptr && c.shape(0)->size() >= 2) c.set(0, Shape(c.shape(0)->begin(), c.shape(0)->end() - 2), c.type(0));
}

}  // namespace aaco::graph::rules
