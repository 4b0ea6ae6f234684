#include <algorithm>
#include <cmath>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
namespace {

// Which axes a list names, by number of the output's axes; empty (and a problem) where one is out of range or named twice.
std::optional<std::vector<bool>> marked(ShapeContext& c, const Ints& axes, std::size_t rank) {
  std::vector<bool> marks(rank, false);
  for (const std::int64_t axis : axes) {
    const auto at = normal_axis(axis, rank);
    if (!at || marks[*at]) {
      c.problem("axis " + std::to_string(axis) + " is out of range or duplicated");
      return std::nullopt;
    }
    marks[*at] = true;
  }
  return marks;
}

// What a -1 in a reshape stands for. Factors that both sides have as the same symbol cancel out.
Dimension remainder(const Shape& from, Shape to) {
  std::int64_t above = 1, below = 1;
  std::vector<Dimension> open;
  for (const Dimension& dimension : from) {
    if (dimension.fixed()) {
      if (__builtin_mul_overflow(above, dimension.size, &above)) return {};
      continue;
    }
    const auto twin = std::find_if(to.begin(), to.end(),
                                   [&](const Dimension& other) { return !other.fixed() && certainly_equal(dimension, other); });
    if (twin != to.end())
      to.erase(twin);
    else
      open.push_back(dimension);
  }
  for (const Dimension& dimension : to)
    if (!dimension.fixed() || __builtin_mul_overflow(below, dimension.size, &below)) return {};
  if (below == 0) return {};
  if (open.empty()) return above % below == 0 ? Dimension(above / below) : Dimension{};
  if (above % below != 0) return {};
  return multiply(product(open), above / below);
}

}  // namespace

void reshape(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* from = c.shape(0);
  Value wanted;
  if (c.node().attribute("shape") != nullptr) {
    const Ints sizes = c.node().ints_or("shape", {});
    for (const std::int64_t size : sizes) wanted.elements.emplace_back(static_cast<double>(size));
  } else if (const Value* value = c.value(1)) {
    wanted = *value;
  } else {
    // Its length alone tells the rank.
    const Shape* length = c.shape(1);
    if (length != nullptr && length->size() == 1 && (*length)[0].fixed() && (*length)[0].size <= 64)
      c.set(0, Shape(static_cast<std::size_t>((*length)[0].size)), c.type(0));
    return;
  }
  const bool zero_copies = c.number("allowzero", 0) == 0;
  Shape to;
  std::optional<std::size_t> open;
  for (std::size_t axis = 0; axis < wanted.elements.size(); ++axis) {
    const Element& element = wanted.elements[axis];
    if (element.known && element.number < 0) {
      if (open) return c.problem("the shape has more than one -1");
      open = axis;
      to.emplace_back(1);
    } else if (element.known && element.number == 0 && zero_copies) {
      if (from != nullptr && axis >= from->size()) return c.problem("the shape copies a dimension the input does not have");
      to.push_back(from != nullptr ? (*from)[axis] : Dimension{});
    } else {
      to.push_back(element.dimension());
    }
  }
  const auto before = from != nullptr ? element_count(*from) : std::nullopt;
  if (open) {
    Shape others = to;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*open));
    to[*open] = from != nullptr ? remainder(*from, others) : Dimension{};
    const auto rest = element_count(others);
    if (before && rest && *rest > 0 && *before % *rest != 0)
      return c.problem("" + std::to_string(*before) + " elements do not fill the shape " + to_string(others));
  } else if (const auto after = element_count(to); before && after && *before != *after) {
    return c.problem("" + std::to_string(*before) + " elements do not fill the shape " + to_string(to));
  }
  c.set(0, to, c.type(0));
}

void flatten(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  std::int64_t axis = c.number("axis", 1);
  const auto rank = static_cast<std::int64_t>(shape->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return c.problem("the axis is out of range");
  const std::span<const Dimension> dims(*shape);
  c.set(0, {product(dims.first(static_cast<std::size_t>(axis))), product(dims.subspan(static_cast<std::size_t>(axis)))},
        c.type(0));
}

void squeeze(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const auto axes = c.ints("axes", 1);
  if (shape == nullptr || !axes) return;
  const auto marks = marked(c, *axes, shape->size());
  if (!marks) return;
  Shape out;
  for (std::size_t axis = 0; axis < shape->size(); ++axis) {
    const Dimension& size = (*shape)[axis];
    if (axes->empty() && !size.fixed()) return;  // it may be a one
    if ((*marks)[axis] && size.fixed() && size.size != 1)
      return c.problem("it squeezes dimension " + std::to_string(axis) + " of " + to_string(*shape) + ", whose size is not 1");
    if (axes->empty() ? size.size != 1 : !(*marks)[axis]) out.push_back(size);
  }
  c.set(0, out, c.type(0));
}

void unsqueeze(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const auto axes = c.ints("axes", 1);
  if (shape == nullptr || !axes || axes->size() > 64) return;
  const auto marks = marked(c, *axes, shape->size() + axes->size());
  if (!marks) return;
  Shape out;
  std::size_t next = 0;
  for (const bool is_new : *marks) out.push_back(is_new ? Dimension(1) : (*shape)[next++]);
  c.set(0, out, c.type(0));
}

void transpose(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  Shape out(shape->rbegin(), shape->rend());
  const Ints order = c.node().ints_or("perm", {});
  if (!order.empty()) {
    if (order.size() != shape->size() || !marked(c, order, shape->size()))
      return c.problem("the permutation does not match the rank");
    for (std::size_t axis = 0; axis < order.size(); ++axis) out[axis] = (*shape)[*normal_axis(order[axis], order.size())];
  }
  c.set(0, out, c.type(0));
}

void concat(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* first = c.shape(0);
  if (first == nullptr) return;
  const auto axis = normal_axis(c.number("axis", 1), first->size());
  if (!axis) return c.problem("the axis is out of range");
  Shape out = *first;
  for (std::size_t input = 1; input < c.inputs(); ++input) {
    const Shape* part = c.shape(input);
    if (part == nullptr) {
      out[*axis] = Dimension{};
      continue;
    }
    if (part->size() != out.size()) return c.problem("the inputs differ in rank");
    for (std::size_t at = 0; at < out.size(); ++at) {
      if (at == *axis)
        out[at] = add(out[at], (*part)[at]);
      else if (!out[at].fixed())
        out[at] = (*part)[at].fixed() ? (*part)[at] : out[at];
      else if ((*part)[at].fixed() && (*part)[at].size != out[at].size)
        return c.problem("inputs " + to_string(*first) + " and " + to_string(*part) + " differ in more than axis " +
                         std::to_string(*axis));
    }
  }
  c.set(0, out, c.type(0));
}

void split(ShapeContext& c) {
  for (std::size_t output = 0; output < c.outputs(); ++output) c.set_type(output, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr || c.outputs() == 0) return;
  const auto axis = normal_axis(c.number("axis", 0), shape->size());
  if (!axis) return c.problem("the axis is out of range");
  const auto parts = c.ints("split", 1);
  const Dimension& whole = (*shape)[*axis];
  const auto count = static_cast<std::int64_t>(c.outputs());
  const bool equal = parts && parts->empty();
  if (parts && !equal && static_cast<std::int64_t>(parts->size()) != count)
    return c.problem("the number of sizes differs from the number of outputs");
  // The last part is the smaller one where they cannot be equal (opset 18).
  const std::int64_t each = whole.fixed() ? (whole.size + count - 1) / count : 0;
  for (std::size_t output = 0; output < c.outputs(); ++output) {
    Shape out = *shape;
    if (!parts)
      out[*axis] = Dimension{};
    else if (!equal)
      out[*axis] = (*parts)[output];
    else if (whole.fixed())
      out[*axis] = std::clamp<std::int64_t>(whole.size - each * static_cast<std::int64_t>(output), 0, each);
    else
      out[*axis] = divide(whole, count);
    c.set(output, out, c.type(0));
  }
}

void slice(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  const bool attributes = c.node().attribute("starts") != nullptr;
  const auto list = [&](std::string_view name, std::size_t input) -> std::optional<std::vector<Element>> {
    std::vector<Element> elements;
    if (attributes) {
      for (const std::int64_t number : c.node().ints_or(name, {})) elements.emplace_back(static_cast<double>(number));
      return elements;
    }
    if (!c.has(input)) return elements;
    const Value* value = c.value(input);
    return value == nullptr ? std::nullopt : std::optional(value->elements);
  };
  const auto starts = list("starts", 1), ends = list("ends", 2), axes = list("axes", 3), steps = list("steps", 4);
  Shape out = *shape;
  if (!axes) return c.set(0, Shape(shape->size()), c.type(0));
  const std::size_t count = !axes->empty() ? axes->size() : starts ? starts->size() : ends ? ends->size() : shape->size();
  for (std::size_t number = 0; number < count; ++number) {
    const std::int64_t axis_number = axes->empty() ? static_cast<std::int64_t>(number) : (*axes)[number].integer();
    const auto axis = normal_axis(axis_number, shape->size());
    if (!axis) return c.problem("the axis is out of range");
    Dimension& size = out[*axis];
    const auto part = [number](const std::optional<std::vector<Element>>& elements) {
      return elements && number < elements->size() ? (*elements)[number] : Element::unknown();
    };
    const Element start = part(starts), end = part(ends);
    const Element step = steps && steps->empty() ? Element(1.0) : part(steps);
    const Dimension whole = size;
    size = Dimension{};
    if (!step.known || step.number == 0) continue;
    const bool from_start = start.known && start.number == 0, to_end = end.known && end.number >= 2147483647.0;
    if (step.number == 1 && from_start && (to_end || (!end.known && certainly_equal(end.dimension(), whole)))) {
      size = whole;
    } else if (step.number == 1 && !whole.fixed() && start.known && start.number >= 0 && to_end) {
      size = subtract(whole, start.integer());
    } else if (step.number == 1 && from_start && !end.known && !end.symbol.empty()) {
      size = end.dimension();  // what exporters cut by a length is at least that long
    } else if (whole.fixed() && start.known && end.known) {
      const auto limit = static_cast<double>(whole.size);
      const bool back = step.number < 0;
      double first = start.number < 0 ? start.number + limit : start.number;
      double last = end.number < 0 ? end.number + limit : end.number;
      first = std::clamp(first, 0.0, back ? limit - 1 : limit);
      last = std::clamp(last, back ? -1.0 : 0.0, limit);
      size = static_cast<std::int64_t>(std::max(0.0, std::ceil((last - first) / step.number)));
    }
  }
  c.set(0, out, c.type(0));
}

void expand(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Value* value = c.value(1);
  if (c.shape(0) == nullptr || value == nullptr) return;
  Shape wanted;
  for (const Element& element : value->elements) wanted.push_back(element.dimension());
  if (const auto out = broadcast(*c.shape(0), wanted))
    c.set(0, *out, c.type(0));
  else
    c.problem("input " + to_string(*c.shape(0)) + " cannot be expanded to " + to_string(wanted));
}

void tile(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  Shape out(shape->size());
  if (const Value* repeats = c.value(1)) {
    if (repeats->elements.size() != shape->size())
      return c.problem("the number of repeats differs from the number of dimensions");
    for (std::size_t axis = 0; axis < out.size(); ++axis)
      out[axis] = multiply((*shape)[axis], repeats->elements[axis].dimension());
  }
  c.set(0, out, c.type(0));
}

void pad(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  auto pads = c.ints(c.node().attribute("paddings") != nullptr ? "paddings" : "pads", 1);
  if (!pads) return c.set(0, Shape(shape->size()), c.type(0));
  Ints axes;
  if (c.has(3)) {
    const auto named = c.ints(3);
    if (!named) return c.set(0, Shape(shape->size()), c.type(0));
    axes = *named;
  } else {
    for (std::size_t axis = 0; axis < shape->size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (pads->size() != 2 * axes.size() || !marked(c, axes, shape->size())) return c.problem("the pads do not match the rank");
  Shape out = *shape;
  for (std::size_t number = 0; number < axes.size(); ++number) {
    std::int64_t total = 0;
    if (__builtin_add_overflow((*pads)[number], (*pads)[number + axes.size()], &total) || total == INT64_MIN)
      return c.problem("the pads are out of range");
    Dimension& size = out[*normal_axis(axes[number], shape->size())];
    size = total >= 0 ? add(size, total) : subtract(size, -total);
  }
  c.set(0, out, c.type(0));
}

void depth_to_space(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const std::int64_t block = c.number("blocksize", 0);
  if (shape == nullptr) return;
  if (shape->size() != 4 || block < 1 || block > 65536)
    return c.problem("it requires four dimensions and a block size of at least 1");
  c.set(0, {(*shape)[0], divide((*shape)[1], block * block), multiply((*shape)[2], block), multiply((*shape)[3], block)},
        c.type(0));
}

void space_to_depth(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const std::int64_t block = c.number("blocksize", 0);
  if (shape == nullptr) return;
  if (shape->size() != 4 || block < 1 || block > 65536)
    return c.problem("it requires four dimensions and a block size of at least 1");
  c.set(0, {(*shape)[0], multiply((*shape)[1], block * block), divide((*shape)[2], block), divide((*shape)[3], block)},
        c.type(0));
}

// Upsample-7 (scales an attribute), -9 and Resize-10 (X, scales), Resize-11 and later (X, roi, scales, sizes).
void resize(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  if (shape == nullptr) return;
  Ints axes = c.node().ints_or("axes", {});
  if (axes.empty())
    for (std::size_t axis = 0; axis < shape->size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  if (!marked(c, axes, shape->size())) return;
  const bool old = c.node().op_type == "Upsample" || c.inputs() == 2;
  std::vector<Element> scales, sizes;
  if (const auto* listed = c.node().attribute("scales"); listed != nullptr) {
    if (const auto* numbers = std::get_if<std::vector<double>>(listed))
      for (const double number : *numbers) scales.emplace_back(number);
  } else if (const Value* value = c.value(old ? 1 : 2)) {
    scales = value->elements;
  }
  if (const Value* value = old ? nullptr : c.value(3)) sizes = value->elements;
  Shape out = *shape;
  const std::string policy = c.node().string_or("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  if (!sizes.empty() && policy != "stretch") {
    for (std::size_t number = 0; number < std::min(axes.size(), sizes.size()); ++number) {
      const Dimension& from = (*shape)[*normal_axis(axes[number], shape->size())];
      if (!from.fixed() || from.size == 0 || !sizes[number].known) return c.set(0, Shape(shape->size()), c.type(0));
      const double ratio = sizes[number].number / static_cast<double>(from.size);
      common = common == 0 ? ratio : policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
    }
  }
  for (std::size_t number = 0; number < axes.size(); ++number) {
    Dimension& size = out[*normal_axis(axes[number], shape->size())];
    if (sizes.size() == axes.size())
      size = common != 0
                 ? Dimension(static_cast<std::int64_t>(std::llround(std::min(common * static_cast<double>(size.size), 1e15))))
                 : sizes[number].dimension();
    else if (scales.size() != axes.size() || !scales[number].known)
      size = Dimension{};
    else if (size.fixed())
      // A scale that was meant to give a whole size misses it by rounding in single precision.
      size = static_cast<std::int64_t>(
          std::clamp(std::floor(static_cast<double>(size.size) * scales[number].number + 1e-5), 0.0, 1e15));
    else if (scales[number].number != 1)
      size = Dimension{};
  }
  c.set(0, out, c.type(0));
}

void crop_pad(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* shape = c.shape(0);
  const auto sizes = c.ints(1);
  if (shape == nullptr || !sizes) return;
  Ints axes = c.node().ints_or("axes", {});
  if (axes.empty())
    for (std::size_t axis = 0; axis < shape->size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  if (axes.size() != sizes->size() || !marked(c, axes, shape->size())) return c.problem("the sizes do not match the axes");
  Shape out = *shape;
  for (std::size_t number = 0; number < axes.size(); ++number) out[*normal_axis(axes[number], shape->size())] = (*sizes)[number];
  c.set(0, out, c.type(0));
}

}  // namespace aaco::graph::rules
