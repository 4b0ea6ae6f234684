#include <algorithm>

#include "graph/catalogue/costs.h"

// A convolution takes, for each element of its output, (input channels / groups) x filter size multiply-accumulates: the elements
// of the filter that make one output channel. A transposed one takes as many for each element of its input.
namespace aaco::graph::costs {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Layout {
  bool channels_last = false;  // of input and output
  // Axes of the filter: output channels, input channels a group, first spatial one.
  std::size_t filter_out = 0, filter_in = 1, filter_first = 2;
};

Sizes spatial(const Sizes& dims, std::size_t first) {
  const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(dims.size() - 2)};
}

Sizes same_pads(const Sizes& input, const Sizes& filter, const Sizes& output, const Sizes& strides, const Sizes& dilations) {
  Sizes pads(2 * input.size(), 0);
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    const std::int64_t reach = (output[axis] - 1) * strides[axis] + (filter[axis] - 1) * dilations[axis] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, reach - input[axis]);
    pads[axis] = total / 2;
    pads[axis + input.size()] = total - total / 2;
  }
  return pads;
}

void fill_site(ConvolutionSite& site, const Node& node) {
  const std::size_t axes = site.input.size();
  const auto list = [&](std::string_view name, std::int64_t fallback, std::size_t count) {
    Sizes numbers = node.ints_or(name, Sizes(count, fallback));
    // Values beyond any real kernel are left out of the site's arithmetic.
    for (std::int64_t& number : numbers) number = std::clamp<std::int64_t>(number, 0, INT32_MAX);
    numbers.resize(count, fallback);
    return numbers;
  };
  site.strides = list("strides", 1, axes);
  site.dilations = list("dilations", 1, axes);
  site.pads = list("pads", 0, 2 * axes);
  if (node.string_or("auto_pad", "NOTSET").starts_with("SAME"))
    site.pads = same_pads(site.input, site.filter, site.output, site.strides, site.dilations);
}

void convolve(CostContext& c, std::size_t filter_input, std::optional<std::size_t> bias, std::int64_t groups,
              const Layout& layout, bool transposed) {
  const Sizes input = c.dims(0), filter = c.dims(filter_input), output = c.output_dims();
  if (c.failed()) return;
  if (input.size() < 3 || filter.size() != input.size() || output.size() != input.size())
    return c.fail("input, filter and output differ in rank");
  const std::size_t channel = layout.channels_last ? input.size() - 1 : 1, first = layout.channels_last ? 1 : 2;
  ConvolutionSite site;
  site.n = input[0];
  site.c = input[channel];
  site.k = output[channel];
  site.groups = std::max<std::int64_t>(1, groups);
  site.input = spatial(input, first);
  site.output = spatial(output, first);
  site.filter = spatial(filter, layout.filter_first);
  site.transposed = transposed;
  fill_site(site, c.node());
  double window = 1;
  for (const std::int64_t size : site.filter) window *= static_cast<double>(size);
  const auto group_count = static_cast<double>(site.groups);
  const double macs = transposed ? c.elements(0) * window * static_cast<double>(site.k) / group_count
                                 : c.output_elements() * window * static_cast<double>(site.c) / group_count;
  c.out().flops = kMac * macs + (bias && c.has(*bias) ? c.output_elements() : 0);
  if (site.groups > 1 && site.groups == site.c && !transposed) c.out().kind = OperatorClass::depthwise;
  c.out().site = std::move(site);
  c.touch_all();
}

}  // namespace

void convolution(CostContext& c) {
  convolve(c, 1, 2, c.node().int_or("group", 1), {}, false);
  c.out().flops += c.entry().flops * c.output_elements();
}
void convolution_quantised(CostContext& c) {
  convolve(c, 3, 8, c.node().int_or("group", 1), {c.node().int_or("channels_last", 0) != 0, 0, 1, 2}, false);
  c.out().flops += c.entry().flops * c.output_elements();
}
void convolution_nhwc(CostContext& c) {
  const bool last = c.node().op_type == "NhwcConv";
  convolve(c, 1, 2, c.node().int_or("group", 1), {true, 0, last ? std::size_t{3} : 1, last ? std::size_t{1} : 2}, false);
}
void convolution_transposed(CostContext& c) { convolve(c, 1, 2, c.node().int_or("group", 1), {}, true); }

// aten.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups).
void aten_convolution(CostContext& c) {
  convolve(c, 1, 2, c.node().int_or("groups", 1), {}, c.node().int_or("transposed", 0) != 0);
}

// TFLite: input NHWC, filter OHWI. A grouped one has fewer input channels in its filter than the input has.
void tflite_convolution(CostContext& c) {
  const Sizes input = c.dims(0), filter = c.dims(1);
  if (c.failed()) return;
  if (input.empty() || filter.empty() || filter.back() < 1) return c.fail("the filter is empty");
  convolve(c, 1, 2, std::max<std::int64_t>(1, input.back() / filter.back()), {true, 0, filter.size() - 1, 1}, false);
}
// Filter [1, H, W, channels x multiplier].
void tflite_depthwise(CostContext& c) {
  const Sizes input = c.dims(0);
  if (c.failed()) return;
  convolve(c, 1, 2, input.empty() ? 1 : input.back(), {true, 3, 0, 1}, false);
}
namespace {

// A filter OHWI over the data of input `data`, both of four dimensions.
void transpose_nhwc(CostContext& c, std::size_t data, std::size_t bias) {
  const Sizes filter = c.dims(1), input = c.dims(data), output = c.output_dims();
  if (c.failed()) return;
  if (filter.size() != 4 || input.size() != 4 || output.size() != 4) return c.fail("input and filter must have four dimensions");
  ConvolutionSite site;
  site.n = input[0];
  site.c = input[3];
  site.k = output[3];
  site.input = spatial(input, 1);
  site.output = spatial(output, 1);
  site.filter = spatial(filter, 1);
  site.transposed = true;
  fill_site(site, c.node());
  c.out().flops =
      kMac * c.elements(data) * static_cast<double>(filter[0]) * static_cast<double>(filter[1]) * static_cast<double>(filter[2]);
  if (c.has(bias)) c.out().flops += c.output_elements();
  c.out().site = std::move(site);
  c.touch_all();
}

}  // namespace

void tflite_transposed(CostContext& c) { transpose_nhwc(c, 2, 3); }
void tflite_transposed_after(CostContext& c) { transpose_nhwc(c, 0, 2); }

// Filter [depth, height, width, channels, outputs].
void tflite_convolution_3d(CostContext& c) {
  const Sizes filter = c.dims(1);
  if (c.failed()) return;
  if (filter.size() != 5 || filter[4] < 1) return c.fail("the filter must have five dimensions");
  c.out().flops = kMac * c.output_elements() * c.elements(1) / static_cast<double>(filter[4]);
  c.touch_all();
}

}  // namespace aaco::graph::costs
