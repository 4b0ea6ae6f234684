#include <algorithm>
#include <map>

#include "core/strings.h"
#include "graph/catalogue/costs.h"

// A product of m x k and k x n takes m n k multiply-accumulates.
namespace aaco::graph::costs {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t leading(const Sizes& sizes, std::size_t last) {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis + last < sizes.size(); ++axis)
    if (__builtin_mul_overflow(product, sizes[axis], &product)) return INT64_MAX;
  return product;
}

double volume(const GemmSite& site) {
  return static_cast<double>(site.batch) * static_cast<double>(site.m) * static_cast<double>(site.n) *
         static_cast<double>(site.k);
}

void settle(CostContext& c, GemmSite site, std::size_t right) {
  site.weights = c.constant(right);
  c.out().flops += kMac * volume(site);
  c.out().site = site;
  c.touch_all();
}

// `n` and `k` where the right operand is laid out [n, k].
void multiply(CostContext& c, std::size_t left, std::size_t right, bool turn_left = false, bool turn_right = false) {
  Sizes a = c.dims(left), b = c.dims(right);
  if (c.failed()) return;
  if (a.empty() || b.empty()) return c.fail("an operand is a scalar");
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  if (turn_left) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (turn_right) std::swap(b[b.size() - 1], b[b.size() - 2]);
  GemmSite site;
  site.n = b.back();
  site.k = a.back();
  if (b.size() == 2) {  // one matrix for all: the leading dimensions of the left are rows
    site.m = leading(a, 1);
  } else {
    site.m = a[a.size() - 2];
    site.batch = std::max(leading(a, 2), leading(b, 2));
    if (a.size() > 2 && b.size() > 2) {  // both have leading dimensions, broadcast against each other
      const Sizes out = c.output_dims();
      if (c.failed()) return;
      if (out.size() >= 2) site.batch = leading(out, 2);
    }
  }
  settle(c, site, right);
}

}  // namespace

void matmul(CostContext& c) {
  const Node& node = c.node();
  multiply(c, 0, 1, node.int_or("transA", node.int_or("adj_x", 0)) != 0, node.int_or("transB", node.int_or("adj_y", 0)) != 0);
  c.out().flops += c.entry().flops * c.output_elements();
}

void matmul_quantised(CostContext& c) {
  multiply(c, 0, 3);
  c.out().flops += c.entry().flops * c.output_elements();
}

void gemm(CostContext& c) {
  multiply(c, 0, 1, c.node().int_or("transA", 0) != 0, c.node().int_or("transB", 0) != 0);
  if (c.has(2)) c.out().flops += c.output_elements();
  c.out().flops += c.entry().flops * c.output_elements();
}

// Weights of `bits` bits in blocks along k, each with a scale: two operations an element to expand them.
void matmul_nbits(CostContext& c) {
  const Sizes a = c.dims(0);
  const std::int64_t n = c.node().int_or("N", 0), k = c.node().int_or("K", 0);
  if (c.failed()) return;
  if (a.empty() || n < 1 || k < 1) return c.fail("N and K are missing");
  GemmSite site{1, leading(a, 1), n, k, true, static_cast<int>(c.node().int_or("bits", 4))};
  c.out().flops = kMac * volume(site) + 2 * static_cast<double>(n) * static_cast<double>(k);
  c.out().site = site;
  c.touch_all();
}

// A multiply-accumulate for each combination of all letters; one input alone is summed or moved.
void einsum(CostContext& c) {
  std::string equation;
  for (const char letter : c.node().string_or("equation", ""))
    if (letter != ' ') equation += letter;
  const std::vector<std::string_view> terms = core::split(std::string_view(equation).substr(0, equation.find("->")), ',');
  if (terms.size() != c.node().inputs.size()) return c.fail("the equation must have one term per input");
  std::map<char, std::int64_t> sizes;
  double dots = 1;
  for (std::size_t input = 0; input < terms.size(); ++input) {
    const Sizes shape = c.dims(input);
    if (c.failed()) return;
    std::string_view term = terms[input];
    const std::size_t letters = term.size() - (term.find("...") == std::string_view::npos ? 0 : 3);
    if (letters > shape.size()) return c.fail("the equation does not match the inputs");
    std::size_t axis = 0;
    double here = 1;
    for (std::size_t at = 0; at < term.size(); ++at) {
      if (term[at] == '.') {
        for (std::size_t covered = letters; covered < shape.size(); ++covered) here *= static_cast<double>(shape[axis++]);
        at += 2;
      } else if (axis < shape.size()) {
        sizes[term[at]] = std::max(sizes[term[at]], shape[axis++]);
      }
    }
    dots = std::max(dots, here);
  }
  double combinations = dots;
  for (const auto& [letter, size] : sizes) combinations *= static_cast<double>(size);
  c.out().flops = terms.size() < 2 ? combinations : kMac * static_cast<double>(terms.size() - 1) * combinations;
  c.touch_all();
}

void linear(CostContext& c) {
  multiply(c, 0, 1, false, true);
  if (c.has(2)) c.out().flops += c.output_elements();
}

// TFLite's FULLY_CONNECTED(x, weights [n, k], bias) takes x as rows of k, whatever its dimensions.
void tflite_linear(CostContext& c) {
  const Sizes weights = c.dims(1);
  const double elements = c.elements(0);
  if (c.failed()) return;
  if (weights.size() != 2 || weights[1] < 1) return c.fail("the weights are not a matrix");
  GemmSite site;
  site.n = weights[0];
  site.k = weights[1];
  site.m = static_cast<std::int64_t>(std::min(elements, 9e18)) / site.k;
  settle(c, site, 1);
  if (c.has(2)) c.out().flops += c.output_elements();
}

// _grouped_mm(a [rows, k], b [groups, k, n], ends of the groups): a row is in one group. Other layouts are products of matrices.
void grouped_product(CostContext& c) {
  const Sizes a = c.dims(0), b = c.dims(1);
  if (c.failed()) return;
  if (a.size() != 2 || b.size() != 3) return multiply(c, 0, 1);
  settle(c, {1, a[0], b[2], a[1]}, 1);
}

void packed_product(CostContext& c) {
  const Sizes a = c.dims(0), out = c.output_dims();
  if (c.failed()) return;
  if (a.empty() || out.empty()) return c.fail("an operand is a scalar");
  GemmSite site{1, leading(a, 1), out.back(), a.back(), true, static_cast<int>(c.entry().flops)};
  c.out().flops = kMac * volume(site);
  c.out().site = site;
  c.touch_all();
}

void addmm(CostContext& c) {
  multiply(c, 1, 2);
  c.out().flops += c.output_elements();
}

void baddbmm(CostContext& c) { addmm(c); }

// com.microsoft.MoE and QMoE: tokens [.., hidden], router, w1 [experts, hidden, width], bias1, w2 [experts, width, hidden], ...;
// a token goes through k experts.
void mixture_of_experts(CostContext& c) {
  const Sizes tokens = c.dims(0), router = c.dims(1);
  if (c.failed()) return;
  if (tokens.empty() || router.empty()) return c.fail("the inputs have no dimensions");
  const double rows = c.elements(0) / static_cast<double>(std::max<std::int64_t>(1, tokens.back()));
  const auto experts = static_cast<double>(std::max<std::int64_t>(1, router.back()));
  const auto chosen = static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("k", 1)));
  const bool packed = c.node().op_type == "QMoE";
  const double packing =
      packed ? 8.0 / static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("expert_weight_bits", 4))) : 1;
  const std::size_t step = packed ? 3 : 2;                     // QMoE has scales between weights and biases
  const double used = std::min(1.0, chosen * rows / experts);  // of the experts' weights, at most
  double weights = 0;
  for (std::size_t number = 0; number < 3; ++number) {
    const std::size_t input = 2 + number * step;
    weights += c.elements(input) * packing;
    if (c.has(input)) c.read_bytes(input, c.bytes(input) * used);
  }
  c.out().flops = kMac * rows * chosen * weights / experts;
  c.read(0);
  c.read(1);
  c.write_all();
}

}  // namespace aaco::graph::costs
