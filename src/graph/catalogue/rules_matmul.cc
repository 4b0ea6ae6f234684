#include <algorithm>
#include <map>

#include "core/strings.h"
#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
namespace {

void swap_last(Shape& shape) {
  if (shape.size() >= 2) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
}

// NumPy's matmul: vectors become matrices, leading dimensions are broadcast.
void multiply_shapes(ShapeContext& c, Shape a, Shape b, ElementType type) {
  c.set_type(0, type);
  if (a.empty() || b.empty()) return c.problem("a scalar is not a valid matrix operand");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dimension(1));
  if (column) b.emplace_back(1);
  const Dimension &inner = a.back(), &other = b[b.size() - 2];
  if (inner.fixed() && other.fixed() && inner.size != other.size)
    return c.problem("inner dimensions differ: " + std::to_string(inner.size) + " and " + std::to_string(other.size));
  auto out = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!out) return c.problem("the leading dimensions cannot be broadcast");
  if (!row) out->push_back(a[a.size() - 2]);
  if (!column) out->push_back(b.back());
  c.set(0, *out, type);
}

void matmul_of(ShapeContext& c, std::size_t left, std::size_t right, ElementType type) {
  c.set_type(0, type);
  if (c.shape(left) != nullptr && c.shape(right) != nullptr) multiply_shapes(c, *c.shape(left), *c.shape(right), type);
}

}  // namespace

void matmul(ShapeContext& c) { matmul_of(c, 0, 1, c.type(0)); }
void matmul_integer(ShapeContext& c) { matmul_of(c, 0, 1, ElementType::int32); }
void quantised_matmul(ShapeContext& c) { matmul_of(c, 0, 3, c.has(7) ? c.type(7) : c.type(0)); }
void matmul_to_float(ShapeContext& c) { matmul_of(c, 0, 1, ElementType::float32); }

void fused_matmul(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) == nullptr || c.shape(1) == nullptr) return;
  Shape a = *c.shape(0), b = *c.shape(1);
  const auto turn = [](Shape& shape, bool batch, bool last) {
    // transBatch moves the first dimension to the last but one.
    if (batch && shape.size() >= 3) std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
    if (last) swap_last(shape);
  };
  turn(a, c.number("transBatchA", 0) != 0, c.number("transA", 0) != 0);
  turn(b, c.number("transBatchB", 0) != 0, c.number("transB", 0) != 0);
  multiply_shapes(c, std::move(a), std::move(b), c.type(0));
}

void gemm(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) == nullptr || c.shape(1) == nullptr) return;
  Shape a = *c.shape(0), b = *c.shape(1);
  if (a.size() != 2 || b.size() != 2) return c.problem("the operands are not matrices");
  if (c.number("transA", 0) != 0) swap_last(a);
  if (c.number("transB", 0) != 0) swap_last(b);
  if (a[1].fixed() && b[0].fixed() && a[1].size != b[0].size)
    return c.problem("inner dimensions differ: " + std::to_string(a[1].size) + " and " + std::to_string(b[0].size));
  c.set(0, {a[0], b[1]}, c.type(0));
}

void matmul_nbits(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const std::int64_t columns = c.number("N", -1);
  if (c.shape(0) == nullptr || c.shape(0)->empty() || columns < 0) return;
  Shape out = *c.shape(0);
  out.back() = columns;
  c.set(0, out, c.type(0));
}

void einsum(ShapeContext& c) {
  c.set_type(0, c.type(0));
  std::string equation;
  for (const char letter : c.node().string_or("equation", ""))
    if (letter != ' ') equation += letter;
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string_view> terms = core::split(std::string_view(equation).substr(0, arrow), ',');
  if (terms.size() != c.inputs()) return c.problem("the equation must have one term per input");
  std::map<char, Dimension> sizes;
  std::map<char, int> uses;
  Shape dots;
  for (std::size_t input = 0; input < terms.size(); ++input) {
    const Shape* shape = c.shape(input);
    if (shape == nullptr) return;
    const std::string_view term = terms[input];
    const std::size_t ellipsis = term.find("...");
    const std::size_t letters = term.size() - (ellipsis == std::string_view::npos ? 0 : 3);
    if (ellipsis == std::string_view::npos ? letters != shape->size() : letters > shape->size())
      return c.problem("the equation does not match the rank of input " + std::to_string(input));
    std::size_t axis = 0;
    for (std::size_t at = 0; at < term.size();) {
      if (at == ellipsis) {
        const std::size_t covered = shape->size() - letters;
        const auto merged = broadcast(dots, Shape(shape->begin() + static_cast<std::ptrdiff_t>(axis),
                                                  shape->begin() + static_cast<std::ptrdiff_t>(axis + covered)));
        if (!merged) return c.problem("the leading dimensions cannot be broadcast");
        dots = *merged;
        axis += covered;
        at += 3;
        continue;
      }
      const auto [found, is_new] = sizes.try_emplace(term[at], (*shape)[axis]);
      if (!is_new) found->second = broadcast(found->second, (*shape)[axis]);
      ++uses[term[at]];
      ++axis, ++at;
    }
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {  // implicit: letters used once, in alphabetic order, after what the dots stand for
    result = equation.find("...") == std::string::npos ? "" : "...";
    for (const auto& [letter, count] : uses)
      if (count == 1) result += letter;
  }
  Shape out;
  for (std::size_t at = 0; at < result.size(); ++at) {
    if (result.compare(at, 3, "...") == 0) {
      out.insert(out.end(), dots.begin(), dots.end());
      at += 2;
    } else if (const auto found = sizes.find(result[at]); found != sizes.end()) {
      out.push_back(found->second);
    } else {
      return c.problem("the equation has an output letter that appears in no input");
    }
  }
  c.set(0, out, c.type(0));
}

}  // namespace aaco::graph::rules
