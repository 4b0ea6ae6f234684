#include "graph/catalogue/dims.h"

namespace aaco::graph {
namespace {

constexpr std::size_t kLongestSymbol = 96;

std::string text_of(const Dimension& dimension) { return dimension.fixed() ? std::to_string(dimension.size) : dimension.symbol; }

// A formula inside another one.
std::string factor_of(const Dimension& dimension) {
  const std::string text = text_of(dimension);
  return text.find_first_of("+-*/ ") == std::string::npos ? text : "(" + text + ")";
}

Dimension formula(const std::string& left, std::string_view op, const std::string& right) {
  if (left.empty() || right.empty() || left == "()" || right == "()" || left.size() + right.size() > kLongestSymbol) return {};
  std::string text = left;
  text.append(op).append(right);
  return Dimension(std::move(text));
}

bool unknown(const Dimension& dimension) { return !dimension.fixed() && dimension.symbol.empty(); }

}  // namespace

Dimension add(const Dimension& a, const Dimension& b) {
  std::int64_t sum = 0;
  if (a.fixed() && b.fixed()) return __builtin_add_overflow(a.size, b.size, &sum) ? Dimension{} : Dimension(sum);
  if (unknown(a) || unknown(b)) return {};
  if (a.size == 0) return b;
  if (b.size == 0) return a;
  return formula(text_of(a), " + ", text_of(b));
}

Dimension subtract(const Dimension& a, const Dimension& b) {
  if (a.fixed() && b.fixed()) return a.size >= b.size ? Dimension(a.size - b.size) : Dimension{};
  if (unknown(a) || unknown(b)) return {};
  if (b.size == 0) return a;
  if (certainly_equal(a, b)) return 0;
  return formula(text_of(a), " - ", factor_of(b));
}

Dimension multiply(const Dimension& a, const Dimension& b) {
  std::int64_t result = 0;
  if (a.size == 0 || b.size == 0) return 0;
  if (a.fixed() && b.fixed()) return __builtin_mul_overflow(a.size, b.size, &result) ? Dimension{} : Dimension(result);
  if (unknown(a) || unknown(b)) return {};
  if (a.size == 1) return b;
  if (b.size == 1) return a;
  return formula(factor_of(a), "*", factor_of(b));
}

Dimension divide(const Dimension& a, std::int64_t by) {
  if (by <= 0 || unknown(a)) return {};
  if (a.fixed()) return a.size / by;
  return by == 1 ? a : formula(factor_of(a), "//", std::to_string(by));
}

bool certainly_equal(const Dimension& a, const Dimension& b) {
  if (a.fixed() || b.fixed()) return a.size == b.size;
  return !a.symbol.empty() && a.symbol == b.symbol;
}

Dimension broadcast(const Dimension& a, const Dimension& b) {
  if (a.size == 1) return b;
  if (b.size == 1) return a;
  if (certainly_equal(a, b)) return a;
  // A symbol against a size above one can only be that size (or one).
  if (a.fixed()) return a;
  if (b.fixed()) return b;
  return {};
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    const Dimension &left = longer[lead + axis], &right = shorter[axis];
    if (left.fixed() && right.fixed() && left.size != right.size && left.size != 1 && right.size != 1) return std::nullopt;
    out[lead + axis] = broadcast(left, right);
  }
  return out;
}

Dimension product(std::span<const Dimension> dims) {
  Dimension result = 1;
  for (const Dimension& dimension : dims) result = multiply(result, dimension);
  return result;
}

std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < 0) axis += count;
  if (axis < 0 || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

}  // namespace aaco::graph
