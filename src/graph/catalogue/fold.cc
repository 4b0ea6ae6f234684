#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "graph/catalogue/context.h"
#include "graph/catalogue/dims.h"

// The small computations that exporters write between Shape and Reshape, done on numbers (and on symbols as far as that goes).
namespace aaco::graph {
namespace {

using Binary = Element (*)(const Element&, const Element&, bool integers);

template <class Op>
Element numbers_only(const Element& a, const Element& b, Op op) {
  return a.known && b.known ? Element(static_cast<double>(op(a.number, b.number))) : Element::unknown();
}

Element of_dimension(const Dimension& dimension) { return Element(dimension); }

Element plus(const Element& a, const Element& b, bool) {
  return a.known && b.known ? Element(a.number + b.number) : of_dimension(add(a.dimension(), b.dimension()));
}
Element minus(const Element& a, const Element& b, bool) {
  return a.known && b.known ? Element(a.number - b.number) : of_dimension(subtract(a.dimension(), b.dimension()));
}
Element times(const Element& a, const Element& b, bool) {
  return a.known && b.known ? Element(a.number * b.number) : of_dimension(multiply(a.dimension(), b.dimension()));
}
Element over(const Element& a, const Element& b, bool integers) {
  if (!b.known || b.number == 0) return Element::unknown();
  if (a.known) return Element(integers ? std::trunc(a.number / b.number) : a.number / b.number);
  return integers ? of_dimension(divide(a.dimension(), b.integer())) : Element::unknown();
}
Element modulo(const Element& a, const Element& b, bool) {
  if (!a.known || !b.known || b.number == 0) return Element::unknown();
  return Element(a.number - std::floor(a.number / b.number) * b.number);
}
Element power(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return std::pow(x, y); });
}
Element equal(const Element& a, const Element& b, bool) {
  if (!a.known && !b.known && !a.symbol.empty() && a.symbol == b.symbol) return Element(1.0);
  // A size is never negative: what is compared with -1 (an "infer this" mark) differs from it.
  if ((!a.known && !a.symbol.empty() && b.known && b.number < 0) || (!b.known && !b.symbol.empty() && a.known && a.number < 0))
    return Element(0.0);
  return numbers_only(a, b, [](double x, double y) { return x == y; });
}
Element less(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return x < y; });
}
Element less_equal(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return x <= y; });
}
Element greater(const Element& a, const Element& b, bool) { return less(b, a, true); }
Element greater_equal(const Element& a, const Element& b, bool) { return less_equal(b, a, true); }
Element smaller_of(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return std::min(x, y); });
}
Element larger_of(const Element& a, const Element& b, bool) {
  // An Expand's target: max(size, 1) is the size.
  if (!a.known && !a.symbol.empty() && b.known && b.number <= 1) return a;
  if (!b.known && !b.symbol.empty() && a.known && a.number <= 1) return b;
  return numbers_only(a, b, [](double x, double y) { return std::max(x, y); });
}
Element both(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return x != 0 && y != 0; });
}
Element either(const Element& a, const Element& b, bool) {
  return numbers_only(a, b, [](double x, double y) { return x != 0 || y != 0; });
}

const std::unordered_map<std::string_view, Binary>& binaries() {
  static const std::unordered_map<std::string_view, Binary> kTable = {{"Add", &plus},
                                                                      {"Sub", &minus},
                                                                      {"Mul", &times},
                                                                      {"Div", &over},
                                                                      {"Mod", &modulo},
                                                                      {"Pow", &power},
                                                                      {"Equal", &equal},
                                                                      {"Less", &less},
                                                                      {"Greater", &greater},
                                                                      {"LessOrEqual", &less_equal},
                                                                      {"GreaterOrEqual", &greater_equal},
                                                                      {"Min", &smaller_of},
                                                                      {"Max", &larger_of},
                                                                      {"And", &both},
                                                                      {"Or", &either}};
  return kTable;
}

std::size_t count_of(const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t size : dims)
    count = size == 0 ? 0 : std::min(count, kMaxHeldElements + 1) * static_cast<std::size_t>(size);
  return count;
}

// What grows much by an operation (the mask of two ranges) is small; what does not (positions of a batch) may be as long as a
// range.
bool is_held(std::size_t count, std::size_t longest) {
  constexpr std::size_t kGrowth = 16;
  return count <= kMaxValueElements || (count <= kMaxHeldElements && count <= kGrowth * longest);
}

// The common dims of two values; empty where they do not fit or are too many.
std::optional<std::vector<std::int64_t>> common_dims(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> out(std::max(a.size(), b.size()), 1);
  for (std::size_t from_end = 0; from_end < out.size(); ++from_end) {
    const std::int64_t left = from_end < a.size() ? a[a.size() - 1 - from_end] : 1;
    const std::int64_t right = from_end < b.size() ? b[b.size() - 1 - from_end] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    out[out.size() - 1 - from_end] = left == 1 ? right : left;
  }
  return is_held(count_of(out), std::max(count_of(a), count_of(b))) ? std::optional(out) : std::nullopt;
}

// The element of `value` that stands at `at` (row-major) of a tensor of `dims` it is broadcast to.
const Element& element_at(const Value& value, const std::vector<std::int64_t>& dims, std::size_t at) {
  std::size_t index = 0, stride = 1;
  for (std::size_t from_end = 0; from_end < dims.size(); ++from_end) {
    const auto size = static_cast<std::size_t>(dims[dims.size() - 1 - from_end]);
    const std::size_t here = at % size;
    at /= size;
    if (from_end >= value.dims.size()) continue;
    const auto own = static_cast<std::size_t>(value.dims[value.dims.size() - 1 - from_end]);
    index += (own == 1 ? 0 : here) * stride;
    stride *= own;
  }
  return value.elements[index];
}

bool is_integer(ElementType type) { return !is_floating(type); }

void fold_binary(ShapeContext& c, Binary op) {
  const Value* first = c.value(0);
  if (first == nullptr) return;
  Value result = *first;
  for (std::size_t input = 1; input < c.inputs(); ++input) {
    const Value* next = c.value(input);
    if (next == nullptr) return;
    const auto dims = common_dims(result.dims, next->dims);
    if (!dims) return;
    Value merged{*dims, {}};
    for (std::size_t at = 0; at < count_of(*dims); ++at)
      merged.elements.push_back(op(element_at(result, *dims, at), element_at(*next, *dims, at), is_integer(c.type(0))));
    result = std::move(merged);
  }
  c.set_value(0, std::move(result));
}

void fold_where(ShapeContext& c) {
  const Value *condition = c.value(0), *yes = c.value(1), *no = c.value(2);
  if (condition == nullptr || yes == nullptr || no == nullptr) return;
  const auto pair = common_dims(yes->dims, no->dims);
  const auto dims = pair ? common_dims(*pair, condition->dims) : std::nullopt;
  if (!dims) return;
  Value out{*dims, {}};
  for (std::size_t at = 0; at < count_of(*dims); ++at) {
    const Element& chosen = element_at(*condition, *dims, at);
    out.elements.push_back(!chosen.known ? Element::unknown() : element_at(chosen.number != 0 ? *yes : *no, *dims, at));
  }
  c.set_value(0, std::move(out));
}

// Of vectors (and scalars as indices) along their only axis.
void fold_gather(ShapeContext& c) {
  const Value *data = c.value(0), *indices = c.value(1);
  if (data == nullptr || indices == nullptr || data->dims.size() != 1) return;
  Value out{indices->dims, {}};
  for (const Element& index : indices->elements) {
    const auto at = index.known ? normal_axis(index.integer(), data->elements.size()) : std::nullopt;
    if (!at && index.known) return;
    out.elements.push_back(at ? data->elements[*at] : Element::unknown());
  }
  c.set_value(0, std::move(out));
}

void fold_concat(ShapeContext& c) {
  Value out{{0}, {}};
  for (std::size_t input = 0; input < c.inputs(); ++input) {
    const Value* part = c.value(input);
    const Shape* shape = c.shape(input);
    if (part != nullptr && part->dims.size() == 1) {
      out.elements.insert(out.elements.end(), part->elements.begin(), part->elements.end());
    } else if (part == nullptr && shape != nullptr && shape->size() == 1 && (*shape)[0].fixed() && (*shape)[0].size <= 64) {
      out.elements.insert(out.elements.end(), static_cast<std::size_t>((*shape)[0].size), Element::unknown());
    } else {
      return;
    }
    if (out.elements.size() > kMaxValueElements) return;
  }
  out.dims[0] = static_cast<std::int64_t>(out.elements.size());
  c.set_value(0, std::move(out));
}

void fold_slice(ShapeContext& c) {
  const Value* data = c.value(0);
  if (data == nullptr || data->dims.size() != 1) return;
  const bool old = c.node().attribute("starts") != nullptr;
  const auto starts = old ? std::optional(c.node().ints_or("starts", {})) : c.ints(1);
  const auto ends = old ? std::optional(c.node().ints_or("ends", {})) : c.ints(2);
  const auto steps = old || !c.has(4) ? std::optional(Ints{1}) : c.ints(4);
  if (!starts || !ends || !steps || starts->size() != 1 || ends->size() != 1 || steps->size() != 1 || (*steps)[0] == 0) return;
  const auto size = static_cast<double>(data->elements.size());
  const auto step = static_cast<double>((*steps)[0]);
  const bool back = step < 0;
  auto from = static_cast<double>((*starts)[0]), to = static_cast<double>((*ends)[0]);
  from = std::clamp(from < 0 ? from + size : from, back ? -1.0 : 0.0, back ? size - 1 : size);
  to = std::clamp(to < 0 ? to + size : to, back ? -1.0 : 0.0, size);
  Value out{{0}, {}};
  for (double at = from; back ? at > to : at < to; at += step)
    out.elements.push_back(data->elements[static_cast<std::size_t>(at)]);
  out.dims[0] = static_cast<std::int64_t>(out.elements.size());
  c.set_value(0, std::move(out));
}

void fold_split(ShapeContext& c, const Graph& graph) {
  const Value* data = c.value(0);
  if (data == nullptr || data->dims.size() != 1) return;
  const std::vector<Element> all = data->elements;
  std::size_t at = 0;
  for (std::size_t output = 0; output < c.outputs(); ++output) {
    if (!c.node().outputs[output].valid()) return;
    const auto& shape = graph.tensor(c.node().outputs[output]).shape;
    const auto count = shape ? element_count(*shape) : std::nullopt;
    if (!count || at + static_cast<std::size_t>(*count) > all.size()) return;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    c.set_value(output, {{*count}, std::vector<Element>(begin, begin + *count)});
    at += static_cast<std::size_t>(*count);
  }
}

template <class Map>
void fold_unary(ShapeContext& c, Map map) {
  const Value* value = c.value(0);
  if (value == nullptr) return;
  Value out = *value;
  for (Element& element : out.elements)
    element = element.known ? Element(static_cast<double>(map(element.number))) : Element::unknown();
  c.set_value(0, std::move(out));
}

// To integers a cast cuts; between integers nothing changes, symbols included.
void fold_cast(ShapeContext& c) {
  const Value* value = c.value(0);
  if (value == nullptr) return;
  const ElementType to = c.type_attribute("to", c.type(0));
  Value out = *value;
  for (Element& element : out.elements) {
    if (!element.known) continue;
    if (to == ElementType::boolean) element.number = element.number != 0 ? 1 : 0;
    if (is_integer(to)) element.number = std::trunc(element.number);
  }
  c.set_value(0, std::move(out));
}

// The same elements in another shape.
void fold_moved(ShapeContext& c, const Graph& graph) {
  const Value* value = c.value(0);
  if (value == nullptr || c.outputs() == 0 || !c.node().outputs[0].valid()) return;
  const auto& shape = graph.tensor(c.node().outputs[0]).shape;
  const auto count = shape ? element_count(*shape) : std::nullopt;
  if (!count || static_cast<std::size_t>(*count) != value->elements.size()) return;
  Value out{{}, value->elements};
  for (const Dimension& dimension : *shape) out.dims.push_back(dimension.size);
  c.set_value(0, std::move(out));
}

void fold_expand(ShapeContext& c, const Graph& graph) {
  const Value* value = c.value(0);
  if (value == nullptr || c.outputs() == 0 || !c.node().outputs[0].valid()) return;
  const auto& shape = graph.tensor(c.node().outputs[0]).shape;
  const auto count = shape ? element_count(*shape) : std::nullopt;
  if (!count || !is_held(static_cast<std::size_t>(*count), value->elements.size()) || shape->size() < value->dims.size()) return;
  Value out;
  for (const Dimension& dimension : *shape) out.dims.push_back(dimension.size);
  for (std::size_t at = 0; at < static_cast<std::size_t>(*count); ++at) out.elements.push_back(element_at(*value, out.dims, at));
  c.set_value(0, std::move(out));
}

// Over all elements of a vector.
void fold_reduce(ShapeContext& c, const Graph& graph, Binary op) {
  const Value* value = c.value(0);
  if (value == nullptr || value->elements.empty() || value->dims.size() > 1) return;
  const auto axes = c.ints("axes", 1);
  if (!axes || (axes->empty() && c.number("noop_with_empty_axes", 0) != 0) || c.outputs() == 0 || !c.node().outputs[0].valid())
    return;
  Element total = value->elements[0];
  for (std::size_t at = 1; at < value->elements.size(); ++at) total = op(total, value->elements[at], is_integer(c.type(0)));
  Value out{{}, {total}};
  if (const auto& shape = graph.tensor(c.node().outputs[0]).shape; shape && shape->size() == 1) out.dims = {1};
  c.set_value(0, std::move(out));
}

// What ONNX calls an operator of TFLite that computes the same.
std::string_view standard_name(std::string_view op) {
  static const std::unordered_map<std::string_view, std::string_view> kTable = {{"ADD", "Add"},
                                                                                {"SUB", "Sub"},
                                                                                {"MUL", "Mul"},
                                                                                {"DIV", "Div"},
                                                                                {"FLOOR_DIV", "Div"},
                                                                                {"FLOOR_MOD", "Mod"},
                                                                                {"POW", "Pow"},
                                                                                {"EQUAL", "Equal"},
                                                                                {"LESS", "Less"},
                                                                                {"LESS_EQUAL", "LessOrEqual"},
                                                                                {"GREATER", "Greater"},
                                                                                {"GREATER_EQUAL", "GreaterOrEqual"},
                                                                                {"MINIMUM", "Min"},
                                                                                {"MAXIMUM", "Max"},
                                                                                {"LOGICAL_AND", "And"},
                                                                                {"LOGICAL_OR", "Or"},
                                                                                {"LOGICAL_NOT", "Not"},
                                                                                {"RESHAPE", "Reshape"},
                                                                                {"SQUEEZE", "Squeeze"},
                                                                                {"EXPAND_DIMS", "Unsqueeze"},
                                                                                {"CAST", "Cast"},
                                                                                {"GATHER", "Gather"},
                                                                                {"CONCATENATION", "Concat"},
                                                                                {"SELECT", "Where"},
                                                                                {"SELECT_V2", "Where"},
                                                                                {"REDUCE_PROD", "ReduceProd"},
                                                                                {"SUM", "ReduceSum"},
                                                                                {"REDUCE_MAX", "ReduceMax"},
                                                                                {"REDUCE_MIN", "ReduceMin"},
                                                                                {"NEG", "Neg"},
                                                                                {"ABS", "Abs"},
                                                                                {"FLOOR", "Floor"},
                                                                                {"CEIL", "Ceil"},
                                                                                {"ROUND", "Round"},
                                                                                {"SQRT", "Sqrt"}};
  const auto found = kTable.find(op);
  return found == kTable.end() ? std::string_view() : found->second;
}

}  // namespace

void fold(ShapeContext& c) {
  const std::string_view op = c.node().domain == "tflite" ? standard_name(c.node().op_type) : std::string_view(c.node().op_type);
  if ((!c.node().domain.empty() && c.node().domain != "tflite") || !c.problem().empty() || c.inputs() == 0) return;
  if (const auto found = binaries().find(op); found != binaries().end()) return fold_binary(c, found->second);
  if (op == "Identity" || op == "Squeeze" || op == "Unsqueeze" || op == "Reshape" || op == "Flatten")
    return fold_moved(c, c.graph());
  if (op == "Cast") return fold_cast(c);
  if (op == "Gather") return fold_gather(c);
  if (op == "Concat") return fold_concat(c);
  if (op == "Slice") return fold_slice(c);
  if (op == "Split") return fold_split(c, c.graph());
  if (op == "Where") return fold_where(c);
  if (op == "Expand") return fold_expand(c, c.graph());
  if (op == "ReduceProd") return fold_reduce(c, c.graph(), &times);
  if (op == "ReduceSum") return fold_reduce(c, c.graph(), &plus);
  if (op == "ReduceMax") return fold_reduce(c, c.graph(), &larger_of);
  if (op == "ReduceMin") return fold_reduce(c, c.graph(), &smaller_of);
  if (op == "Neg") return fold_unary(c, [](double x) { return -x; });
  if (op == "Abs") return fold_unary(c, [](double x) { return std::abs(x); });
  if (op == "Floor") return fold_unary(c, [](double x) { return std::floor(x); });
  if (op == "Ceil") return fold_unary(c, [](double x) { return std::ceil(x); });
  if (op == "Round") return fold_unary(c, [](double x) { return std::nearbyint(x); });
  if (op == "Sqrt") return fold_unary(c, [](double x) { return std::sqrt(x); });
  if (op == "Not") return fold_unary(c, [](double x) { return x == 0; });
}

}  // namespace aaco::graph
