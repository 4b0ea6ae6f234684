#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {

bool indices_reach(ShapeContext& c, const Dimension& table) {
  const Value* indices = c.value(1);
  if (indices == nullptr || !table.fixed()) return true;
  const auto rows = static_cast<double>(table.size);
  for (const Element& index : indices->elements)
    if (index.known && (index.number >= rows || index.number < -rows)) {
      c.problem("the indices reach " + std::to_string(index.integer()) + ", but there are " + std::to_string(table.size) +
                (table.size == 1 ? " entry" : " entries") + " to pick from");
      return false;
    }
  return true;
}

void gather(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data == nullptr || indices == nullptr) return;
  const auto axis = normal_axis(c.number("axis", 0), data->size());
  if (!axis) return c.problem("the axis is out of range");
  if (!indices_reach(c, (*data)[*axis])) return;
  const auto at = static_cast<std::ptrdiff_t>(*axis);
  Shape out(data->begin(), data->begin() + at);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + at + 1, data->end());
  c.set(0, out, c.type(0));
}

void gather_elements(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* data = c.shape(0);
  const auto axis = data == nullptr ? std::nullopt : normal_axis(c.number("axis", 0), data->size());
  if (axis && !indices_reach(c, (*data)[*axis])) return;
  if (c.shape(1) != nullptr) c.set(0, *c.shape(1), c.type(0));
}

void gather_nd(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data == nullptr || indices == nullptr || indices->empty() || !indices->back().fixed()) return;
  const std::int64_t depth = indices->back().size + c.number("batch_dims", 0);
  if (depth < 0 || depth > static_cast<std::int64_t>(data->size()))
    return c.problem("the indices have more dimensions than the data");
  Shape out(indices->begin(), indices->end() - 1);
  out.insert(out.end(), data->begin() + depth, data->end());
  c.set(0, out, c.type(0));
}

// com.microsoft.GatherBlockQuantized: two 4-bit values a byte where the data is uint8 and bits is 4.
void gather_block_quantised(ShapeContext& c) {
  c.set_type(0, c.type(2));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data == nullptr || indices == nullptr) return;
  const auto axis = normal_axis(c.number("gather_axis", 0), data->size());
  if (!axis) return c.problem("the axis is out of range");
  if (!indices_reach(c, (*data)[*axis])) return;
  Shape rows = *data;
  if (c.type(0) == ElementType::uint8 && c.number("bits", 4) == 4) rows.back() = multiply(rows.back(), 2);
  const auto at = static_cast<std::ptrdiff_t>(*axis);
  Shape out(rows.begin(), rows.begin() + at);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), rows.begin() + at + 1, rows.end());
  c.set(0, out, c.type(2));
}

void one_hot(ShapeContext& c) {
  c.set_type(0, c.type(2));
  const Shape* indices = c.shape(0);
  if (indices == nullptr) return;
  const auto axis = normal_axis(c.number("axis", -1), indices->size() + 1);
  if (!axis) return c.problem("the axis is out of range");
  const Value* depth = c.value(1);
  Shape out = *indices;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*axis),
             depth != nullptr && depth->elements.size() == 1 ? depth->elements[0].dimension() : Dimension{});
  c.set(0, out, c.type(2));
}

// How many there are is known at run time only.
void non_zero(ShapeContext& c) {
  c.set_type(0, ElementType::int64);
  if (const Shape* shape = c.shape(0)) c.set(0, {static_cast<std::int64_t>(shape->size()), Dimension{}}, ElementType::int64);
}

void unique(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  Shape out = {Dimension{}};
  if (c.node().attribute("axis") != nullptr) {
    if (shape == nullptr) return;
    const auto axis = normal_axis(c.number("axis", 0), shape->size());
    if (!axis) return c.problem("the axis is out of range");
    out = *shape;
    out[*axis] = Dimension{};
  }
  c.set(0, out, c.type(0));
  for (std::size_t output = 1; output < 4; ++output) c.set(output, {Dimension{}}, ElementType::int64);
}

void compress(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.node().attribute("axis") == nullptr) return c.set(0, {Dimension{}}, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  const auto axis = normal_axis(c.number("axis", 0), shape->size());
  if (!axis) return c.problem("the axis is out of range");
  Shape out = *shape;
  out[*axis] = Dimension{};
  c.set(0, out, c.type(0));
}

void non_max_suppression(ShapeContext& c) { c.set(0, {Dimension{}, 3}, ElementType::int64); }

// X [N, C, D...], grid [N, D_out..., spatial rank] -> [N, C, D_out...].
void grid_sample(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape *x = c.shape(0), *grid = c.shape(1);
  if (x == nullptr || grid == nullptr || x->size() < 3) return;
  if (grid->size() != x->size()) return c.problem("the input and grid differ in rank");
  Shape out = {(*x)[0], (*x)[1]};
  out.insert(out.end(), grid->begin() + 1, grid->end() - 1);
  c.set(0, out, c.type(0));
}

void affine_grid(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const auto size = c.ints(1);
  if (!size || size->size() < 3) return;
  Shape out = {(*size)[0]};
  out.insert(out.end(), size->begin() + 2, size->end());
  out.emplace_back(static_cast<std::int64_t>(size->size()) - 2);
  c.set(0, out, c.type(0));
}

}  // namespace aaco::graph::rules
