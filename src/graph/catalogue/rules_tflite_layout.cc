#include <algorithm>
#include <cstdlib>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules_tflite.h"

namespace aaco::graph::rules::lite {

void reshaped(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const Value* wanted = c.value(1);
  if (input == nullptr) return;
  Shape out;
  std::optional<std::size_t> rest;
  const auto add_size = [&](const Element& element) {
    if (element.known && element.number < 0) rest = out.size();
    out.push_back(element.dimension());
  };
  if (wanted != nullptr) {
    for (const Element& element : wanted->elements) add_size(element);
  } else if (!c.has(1) && c.node().attribute("new_shape") != nullptr) {
    for (const std::int64_t size : c.node().ints_or("new_shape", {})) add_size(Element(static_cast<double>(size)));
  } else {
    return;
  }
  if (rest) {
    Dimension others = 1;
    for (std::size_t axis = 0; axis < out.size(); ++axis)
      if (axis != *rest) others = multiply(others, out[axis]);
    if (others.fixed()) out[*rest] = divide(product(*input), others.size);
  }
  const auto before = element_count(*input), after = element_count(out);
  if (before && after && *before != *after) return c.problem("it cannot reshape " + to_string(*input) + " to " + to_string(out));
  give(c, 0, std::move(out));
}

void squeezed(ShapeContext& c) {
  const Shape* input = c.shape(0);
  if (input == nullptr) return;
  const Ints axes = c.node().ints_or("squeeze_dims", {});
  std::vector<bool> gone(input->size(), false);
  for (const std::int64_t axis : axes)
    if (const auto at = normal_axis(axis, input->size())) gone[*at] = true;
  Shape out;
  for (std::size_t axis = 0; axis < input->size(); ++axis)
    if (axes.empty() ? (*input)[axis].size != 1 : !gone[axis]) out.push_back((*input)[axis]);
  give(c, 0, std::move(out));
}

void expand_dims(ShapeContext& c) {
  const auto axis = number_of(c, 1);
  if (c.shape(0) == nullptr || !axis) return;
  const auto at = normal_axis(*axis, c.shape(0)->size() + 1);
  if (!at) return c.problem("the axis is out of range");
  Shape out = *c.shape(0);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*at), Dimension(1));
  give(c, 0, std::move(out));
}

void transposed(ShapeContext& c) {
  const auto order = c.ints(1);
  const Shape* input = c.shape(0);
  if (input == nullptr || !order || order->size() != input->size()) return;
  Shape out;
  for (const std::int64_t axis : *order) {
    const auto at = normal_axis(axis, input->size());
    if (!at) return c.problem("the permutation is out of range");
    out.push_back((*input)[*at]);
  }
  give(c, 0, std::move(out));
}

void concatenated(ShapeContext& c) {
  if (c.inputs() == 0 || c.shape(0) == nullptr) return;
  Shape out = *c.shape(0);
  const auto axis = normal_axis(c.number("axis", 0), out.size());
  if (!axis) return;
  for (std::size_t input = 1; input < c.inputs(); ++input) {
    const Shape* next = c.shape(input);
    if (next == nullptr || next->size() != out.size()) return;
    for (std::size_t at = 0; at < out.size(); ++at)
      if (at == *axis)
        out[at] = add(out[at], (*next)[at]);
      else if (!out[at].fixed())
        out[at] = (*next)[at];
      else if ((*next)[at].fixed() && (*next)[at].size != out[at].size)
        return c.problem("incompatible inputs: " + to_string(*c.shape(0)) + " and " + to_string(*next));
  }
  give(c, 0, std::move(out));
}

void packed(ShapeContext& c) {
  if (c.inputs() == 0 || c.shape(0) == nullptr) return;
  Shape out = *c.shape(0);
  const auto axis = normal_axis(c.number("axis", 0), out.size() + 1);
  if (!axis) return;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*axis), Dimension(static_cast<std::int64_t>(c.inputs())));
  give(c, 0, std::move(out));
  if (!c.shape(0)->empty()) return;
  Value value{{static_cast<std::int64_t>(c.inputs())}, {}};
  for (std::size_t input = 0; input < c.inputs(); ++input) {
    const Value* one = c.value(input);
    value.elements.push_back(one != nullptr && one->elements.size() == 1 ? one->elements[0] : Element::unknown());
  }
  c.set_value(0, std::move(value));
}

void unpacked(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const auto axis = input == nullptr ? std::nullopt : normal_axis(c.number("axis", 0), input->size());
  if (!axis) return;
  Shape out = *input;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(*axis));
  const Value* held = c.value(0);
  const bool known = held != nullptr && held->dims.size() == 1 && held->elements.size() == c.outputs();
  const std::vector<Element> elements = known ? held->elements : std::vector<Element>();
  for (std::size_t output = 0; output < c.outputs(); ++output) {
    give(c, output, out);
    if (known) c.set_value(output, {{}, {elements[output]}});
  }
}

void split_evenly(ShapeContext& c) {
  const Shape* input = c.shape(1);
  const auto number = number_of(c, 0);
  const auto axis = input == nullptr || !number ? std::nullopt : normal_axis(*number, input->size());
  if (!axis || c.outputs() == 0) return;
  Shape out = *input;
  out[*axis] = divide(out[*axis], static_cast<std::int64_t>(c.outputs()));
  for (std::size_t output = 0; output < c.outputs(); ++output) give(c, output, out);
}

void split_by_sizes(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const auto number = number_of(c, 2);
  const auto sizes = c.ints(1);
  const auto axis = input == nullptr || !number ? std::nullopt : normal_axis(*number, input->size());
  if (!axis || !sizes || sizes->size() != c.outputs()) return;
  Dimension rest = (*input)[*axis];
  for (const std::int64_t size : *sizes)
    if (size >= 0) rest = subtract(rest, size);
  Shape out = *input;
  for (std::size_t output = 0; output < c.outputs(); ++output) {
    out[*axis] = (*sizes)[output] < 0 ? rest : Dimension((*sizes)[output]);
    give(c, output, out);
  }
}

void sliced(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const Value* sizes = c.value(2);
  if (input == nullptr || sizes == nullptr || sizes->elements.size() != input->size()) return;
  const auto begins = c.ints(1);
  Shape out;
  for (std::size_t axis = 0; axis < input->size(); ++axis) {
    const Element& size = sizes->elements[axis];
    if (!size.known || size.number >= 0)
      out.push_back(size.dimension());
    else
      out.push_back(begins && begins->size() == input->size() ? subtract((*input)[axis], (*begins)[axis]) : Dimension{});
  }
  give(c, 0, std::move(out));
}

namespace {

struct Cut {
  std::int64_t begin = 0, end = 0, step = 1;
};

// Of a dimension of that size, as a slice of Python.
std::int64_t length_of(const Cut& cut) {
  const std::int64_t span = cut.step > 0 ? cut.end - cut.begin : cut.begin - cut.end;
  return span <= 0 ? 0 : (span + std::abs(cut.step) - 1) / std::abs(cut.step);
}

Cut cut_of(std::int64_t begin, std::int64_t end, std::int64_t step, bool from_start, bool to_end, std::int64_t size) {
  const bool back = step < 0;
  const auto inside = [&](std::int64_t at) {
    const double from_end = static_cast<double>(at) + (at < 0 ? static_cast<double>(size) : 0.0);
    return static_cast<std::int64_t>(std::clamp(from_end, back ? -1.0 : 0.0, static_cast<double>(back ? size - 1 : size)));
  };
  return {from_start ? (back ? size - 1 : 0) : inside(begin), to_end ? (back ? -1 : size) : inside(end), step};
}

}  // namespace

// Axes by their bits: begin_mask and end_mask open an end, shrink_axis_mask takes one element and the axis away.
void strided_slice(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const auto begins = c.ints(1), ends = c.ints(2), steps = c.ints(3);
  if (input == nullptr || !begins || !steps || c.number("ellipsis_mask", 0) != 0 || c.number("new_axis_mask", 0) != 0) return;
  const std::size_t count = begins->size();
  if (count > input->size() || steps->size() != count || (ends && ends->size() != count)) return;
  const auto bit = [&](const char* mask, std::size_t axis) {
    return (c.number(mask, 0) >> std::min<std::size_t>(axis, 31) & 1) != 0;
  };
  Shape out;
  std::optional<Cut> only;
  for (std::size_t axis = 0; axis < input->size(); ++axis) {
    const Dimension& size = (*input)[axis];
    if (axis >= count) {
      out.push_back(size);
      continue;
    }
    if (bit("shrink_axis_mask", axis)) {
      if (size.fixed()) only = cut_of((*begins)[axis], 0, 1, false, true, size.size);
      continue;
    }
    const bool from_start = bit("begin_mask", axis), to_end = bit("end_mask", axis);
    const std::int64_t step = (*steps)[axis];
    if (from_start && to_end && step == 1) {
      out.push_back(size);
    } else if (size.fixed() && step != 0 && step > INT32_MIN && step <= INT32_MAX && (to_end || ends)) {
      only = cut_of((*begins)[axis], to_end ? 0 : (*ends)[axis], step, from_start, to_end, size.size);
      out.push_back(length_of(*only));
    } else {
      out.push_back({});
    }
  }
  const Value* held = c.value(0);
  if (held != nullptr && held->dims.size() == 1 && count == 1 && only) {
    Value value{out.empty() ? Ints{} : Ints{out[0].size}, {}};
    const std::int64_t length = out.empty() ? 1 : out[0].size;
    for (std::int64_t number = 0; number < length; ++number) {
      const std::int64_t at = only->begin + number * only->step;
      if (at < 0 || at >= static_cast<std::int64_t>(held->elements.size())) return give(c, 0, std::move(out));
      value.elements.push_back(held->elements[static_cast<std::size_t>(at)]);
    }
    c.set_value(0, std::move(value));
  }
  give(c, 0, std::move(out));
}

void gathered(ShapeContext& c) {
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data == nullptr || indices == nullptr) return;
  const auto axis = normal_axis(c.number("axis", 0), data->size());
  const std::int64_t batch = c.number("batch_dims", 0);
  if (!axis || batch < 0 || batch > static_cast<std::int64_t>(std::min(*axis, indices->size())))
    return c.problem("the axis is out of range");
  if (!indices_reach(c, (*data)[*axis])) return;
  const auto at = static_cast<std::ptrdiff_t>(*axis);
  Shape out(data->begin(), data->begin() + at);
  out.insert(out.end(), indices->begin() + batch, indices->end());
  out.insert(out.end(), data->begin() + at + 1, data->end());
  give(c, 0, std::move(out));
}

void looked_up(ShapeContext& c) {
  const Shape *ids = c.shape(0), *table = c.shape(1);
  if (ids == nullptr || table == nullptr || table->empty()) return;
  Shape out = *ids;
  out.insert(out.end(), table->begin() + 1, table->end());
  give(c, 0, std::move(out));
}

void tiled(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const Value* times = c.value(1);
  if (input == nullptr || times == nullptr || times->elements.size() != input->size()) return;
  Shape out = *input;
  for (std::size_t axis = 0; axis < out.size(); ++axis) out[axis] = multiply(out[axis], times->elements[axis].dimension());
  give(c, 0, std::move(out));
}

void padded(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const auto pads = c.ints(1);
  if (input == nullptr || !pads || pads->size() != 2 * input->size()) return;
  Shape out = *input;
  for (std::size_t axis = 0; axis < out.size(); ++axis) {
    std::int64_t both = 0;
    if (__builtin_add_overflow((*pads)[2 * axis], (*pads)[2 * axis + 1], &both)) return;
    out[axis] = both < 0 ? Dimension{} : add(out[axis], both);
  }
  give(c, 0, std::move(out));
}

void blocks(ShapeContext& c) {
  const Shape* input = c.shape(0);
  const std::int64_t block = c.number("block_size", 0);
  if (input == nullptr || input->size() != 4 || block < 1 || block > INT16_MAX) return;
  Shape out = *input;
  const bool deeper = c.node().op_type == "SPACE_TO_DEPTH";
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}})
    out[axis] = deeper ? divide(out[axis], block) : multiply(out[axis], block);
  out[3] = deeper ? multiply(out[3], block * block) : divide(out[3], block * block);
  give(c, 0, std::move(out));
}

}  // namespace aaco::graph::rules::lite
