#include <algorithm>
#include <cmath>

#include "graph/catalogue/costs.h"

namespace aaco::graph::costs {
namespace {

double kernel_elements(const Node& node) {
  double count = 1;
  for (const std::int64_t size : node.ints_or("kernel_shape", {})) count *= static_cast<double>(std::max<std::int64_t>(1, size));
  return count;
}

}  // namespace

void view(CostContext&) {}

void host(CostContext& c) { c.write_all(); }

void moved(CostContext& c) { c.touch_all(); }

void elementwise(CostContext& c) {
  c.out().flops = c.entry().flops * c.output_elements();
  c.touch_all();
}

void reduced(CostContext& c) {
  c.out().flops = c.entry().flops * c.elements(0);
  c.touch_all();
}

void picked(CostContext& c) {
  c.write_all();
  c.read_bytes(0, c.out().bytes_written);
  for (std::size_t input = 1; input < c.node().inputs.size(); ++input) c.read(input);
}

void looked_up(CostContext& c) {
  const std::vector<std::int64_t> table = c.dims(1);
  if (c.failed()) return;
  if (table.empty() || table[0] < 1) return c.fail("the table has no rows");
  c.read(0);
  c.read_bytes(1, c.bytes(1) / static_cast<double>(table[0]) * c.elements(0));
  c.write_all();
}

// Input ids, segment ids, the tables of words, positions and segments, gamma, beta: a row of each table a token.
void embedded(CostContext& c) {
  c.out().flops = c.entry().flops * c.output_elements();
  for (const std::size_t input : {0, 1, 5, 6}) c.read(input);
  for (const std::size_t table : {2, 3, 4})
    if (c.has(table)) c.read_bytes(table, c.output_elements() * element_bits(c.type(table)) / 8);
  c.write_all();
}

// Data, indices and scales: of the data as many packed numbers as are written, of the scales one a block.
void looked_up_in_blocks(CostContext& c) {
  const double elements = c.output_elements();
  const bool packed = c.type(0) == ElementType::uint8 || c.type(0) == ElementType::int8;
  const double bits =
      packed ? static_cast<double>(std::clamp<std::int64_t>(c.node().int_or("bits", 4), 1, 8)) : element_bits(c.type(0));
  const auto block = static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("block_size", 128)));
  c.out().flops = c.entry().flops * elements;
  c.read_bytes(0, elements * bits / 8);
  c.read(1);
  c.read_bytes(2, elements / block * element_bits(c.type(2)) / 8);
  if (c.has(3)) c.read_bytes(3, elements / block * bits / 8);
  c.write_all();
}

void embedding_bag(CostContext& c) {
  const std::vector<std::int64_t> table = c.dims(0);
  const double indices = c.elements(1);
  if (c.failed()) return;
  if (table.size() != 2 || table[0] < 1) return c.fail("the table is not a matrix");
  c.out().flops = c.entry().flops * indices * static_cast<double>(table[1]);
  c.read_bytes(0, c.bytes(0) / static_cast<double>(table[0]) * indices);
  for (std::size_t input = 1; input < c.node().inputs.size(); ++input) c.read(input);
  c.write_all();
}

void distances(CostContext& c) {
  const std::vector<std::int64_t> rows = c.dims(0);
  if (c.failed()) return;
  if (rows.empty()) return c.fail("the rows are a scalar");
  c.out().flops = c.entry().flops * c.output_elements() * static_cast<double>(rows.back());
  c.touch_all();
}

void kept(CostContext& c) {
  c.read(1);
  c.out().bytes_written = c.bytes(1);
}

void created(CostContext& c) {
  c.out().flops = c.entry().flops * c.output_elements();
  c.write_all();
}

void scattered(CostContext& c) {
  c.out().flops = c.node().string_or("reduction", "none") == "none" ? 0 : c.elements(2);
  c.touch_all();
}

void accumulated(CostContext& c) {
  const auto operands = static_cast<double>(c.node().inputs.size());
  c.out().flops = std::max(0.0, operands - 1 + c.entry().flops) * c.output_elements();
  c.touch_all();
}

void sorted(CostContext& c) {
  const double count = c.elements(0);
  c.out().flops = count > 1 ? count * std::log2(count) : 0;
  c.touch_all();
}

void pooled(CostContext& c) {
  double window = kernel_elements(c.node());
  // TFLite names the window otherwise.
  window = std::max(window, static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("filter_height", 1))) *
                                static_cast<double>(std::max<std::int64_t>(1, c.node().int_or("filter_width", 1))));
  c.out().flops = window * c.output_elements();
  c.touch_all();
}

void pooled_globally(CostContext& c) {
  c.out().flops = c.elements(0);
  c.touch_all();
}

// Nearest copies; linear blends 2 corners an axis that changes, cubic 4, with a multiply-accumulate each.
void resized(CostContext& c) {
  const std::vector<std::int64_t> from = c.dims(0), to = c.output_dims();
  if (c.failed()) return;
  int axes = 0;
  for (std::size_t axis = 0; axis < std::min(from.size(), to.size()); ++axis) axes += from[axis] != to[axis] ? 1 : 0;
  const std::string mode = c.node().string_or("mode", c.entry().flops > 0 ? "linear" : "nearest");
  const bool cubic = mode == "cubic" || c.node().op_type.find("bicubic") != std::string::npos;
  const double corners = cubic ? 4 : mode == "nearest" ? 0 : 2;
  c.out().flops = corners == 0 ? 0 : kMac * std::pow(corners, axes) * c.output_elements();
  c.read(0);
  c.write_all();
}

// 5 n log2 n, the count of operations of a radix-2 FFT (Cooley and Tukey 1965), over the longest dimension but the last.
void transformed(CostContext& c) {
  const std::vector<std::int64_t> sizes = c.output_dims();
  if (c.failed() || sizes.size() < 2) return;
  const auto length = static_cast<double>(*std::max_element(sizes.begin(), sizes.end() - 1));
  c.out().flops = length > 1 ? 5 * std::log2(length) * c.output_elements() / 2 : 0;
  c.touch_all();
}

// 5 n log2 n as above over all points of the transform; half of it where one side is real.
void aten_fft(CostContext& c) {
  const std::vector<std::int64_t> from = c.dims(0), to = c.output_dims();
  if (c.failed()) return;
  if (from.size() != to.size() || from.empty()) return c.fail("the input and output differ in rank");
  std::vector<std::int64_t> axes = c.node().ints_or("dim", {c.node().int_or("dim", -1)});
  double points = 1;
  for (const std::int64_t axis : axes) {
    const auto at = axis < 0 ? axis + static_cast<std::int64_t>(from.size()) : axis;
    if (at < 0 || at >= static_cast<std::int64_t>(from.size())) return c.fail("the dimension is out of range");
    points *= static_cast<double>(std::max(from[static_cast<std::size_t>(at)], to[static_cast<std::size_t>(at)]));
  }
  const double all = std::max(c.elements(0), c.output_elements());
  const bool real = c.node().op_type.find("r2c") != std::string::npos || c.node().op_type.find("c2r") != std::string::npos ||
                    c.node().op_type.find("rfft") != std::string::npos;
  c.out().flops = points > 1 ? 5 * std::log2(points) * all / (real ? 2 : 1) : 0;
  c.touch_all();
}

void sampled(CostContext& c) {
  c.out().flops = 4 * kMac * c.output_elements();
  c.touch_all();
}

void normalised(CostContext& c) {
  c.out().flops = c.entry().flops * c.elements(0);
  c.touch_all();
}

}  // namespace aaco::graph::costs
