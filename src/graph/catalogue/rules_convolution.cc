#include <algorithm>

#include "graph/catalogue/dims.h"
#include "graph/catalogue/rules.h"

namespace aaco::graph::rules {
namespace {

// Of one spatial axis.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  bool ceil = false;
};

// ONNX Operators.md, AveragePool: floor or ceil((input + pads - dilated kernel) / stride) + 1; SAME is ceil(input / stride).
Dimension window_count(ShapeContext& c, const Dimension& input, const Window& w, const std::string& auto_pad) {
  if (w.stride < 1 || w.dilation < 1 || w.kernel < 1 || w.dilation > INT32_MAX || w.kernel > INT32_MAX) {
    c.problem("kernel, stride or dilation is not positive");
    return {};
  }
  const std::int64_t reach = (w.kernel - 1) * w.dilation + 1;
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") return divide(add(input, w.stride - 1), w.stride);
  Dimension padded = auto_pad == "VALID" ? input : add(input, std::max<std::int64_t>(0, w.pad_begin + w.pad_end));
  if (w.pad_begin + w.pad_end < 0 && auto_pad != "VALID") padded = subtract(input, -(w.pad_begin + w.pad_end));
  if (padded.fixed() && padded.size < reach) {
    c.problem("the kernel size " + std::to_string(reach) + " is larger than the padded input size " +
              std::to_string(padded.size));
    return {};
  }
  Dimension steps = subtract(padded, reach);
  if (w.ceil && steps.fixed()) {
    Dimension count = (steps.size + w.stride - 1) / w.stride + 1;
    // A window that would start in the padding after the input is left out.
    if (input.fixed() && (count.size - 1) * w.stride >= input.size + w.pad_begin) --count.size;
    return count;
  }
  return add(divide(steps, w.stride), 1);
}

// All spatial axes of the node's attributes; empty where they do not fit together.
std::optional<std::vector<Window>> windows(ShapeContext& c, const Ints& kernel) {
  const std::size_t axes = kernel.size();
  const Ints strides = c.node().ints_or("strides", Ints(axes, 1)), dilations = c.node().ints_or("dilations", Ints(axes, 1)),
             pads = c.node().ints_or("pads", Ints(2 * axes, 0));
  if (strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes) {
    c.problem("strides, dilations or pads do not match the " + std::to_string(axes) + " spatial dimensions");
    return std::nullopt;
  }
  std::vector<Window> list;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (pads[axis] > INT32_MAX || pads[axis + axes] > INT32_MAX || pads[axis] < INT32_MIN || pads[axis + axes] < INT32_MIN) {
      c.problem("the pads are out of range");
      return std::nullopt;
    }
    list.push_back({kernel[axis], strides[axis], dilations[axis], pads[axis], pads[axis + axes], c.number("ceil_mode", 0) != 0});
  }
  return list;
}

Ints spatial_of(const Shape& filter, std::size_t from, std::size_t to) {
  Ints kernel;
  for (std::size_t axis = from; axis < to; ++axis) kernel.push_back(filter[axis].size);
  return kernel;
}

// `channels_last`: of the input and output. The filter is [M, C/group, ...], or [M, ..., C/group] where `filter_last`.
void convolve(ShapeContext& c, std::size_t filter_input, ElementType type, bool channels_last, bool filter_last = false) {
  c.set_type(0, type);
  const Shape* input = c.shape(0);
  const Shape* filter = c.shape(filter_input);
  if (input == nullptr || filter == nullptr) return;
  if (input->size() < 3 || filter->size() != input->size()) return c.problem("the input and filter differ in rank");
  const std::size_t axes = input->size() - 2, first = channels_last ? 1 : 2;
  const Dimension& channels = channels_last ? input->back() : (*input)[1];
  const Dimension& depth = filter_last ? filter->back() : (*filter)[1];
  const std::int64_t groups = c.number("group", 1);
  std::int64_t needed = 0;
  if (groups < 1 ||
      (channels.fixed() && depth.fixed() && (__builtin_mul_overflow(depth.size, groups, &needed) || channels.size != needed)))
    return c.problem("the input has " + std::to_string(channels.size) + " channels, but the filter expects " +
                     std::to_string(depth.size) + " x " + std::to_string(groups));
  const Ints declared = c.node().ints_or("kernel_shape", {});
  const Ints kernel =
      declared.size() == axes ? declared : spatial_of(*filter, filter_last ? 1 : 2, filter_last ? axes + 1 : axes + 2);
  const auto list = windows(c, kernel);
  if (!list) return;
  const std::string auto_pad = c.node().string_or("auto_pad", "NOTSET");
  Shape out = *input;
  (channels_last ? out.back() : out[1]) = (*filter)[0];
  for (std::size_t axis = 0; axis < axes; ++axis) {
    Window window = (*list)[axis];
    window.ceil = false;
    out[first + axis] = kernel[axis] < 0 ? Dimension{} : window_count(c, (*input)[first + axis], window, auto_pad);
  }
  if (c.problem().empty()) c.set(0, out, type);
}

void pool_over(ShapeContext& c, bool channels_last) {
  c.set_type(0, c.type(0));
  const Shape* input = c.shape(0);
  const Ints kernel = c.node().ints_or("kernel_shape", {});
  if (input == nullptr) return;
  if (kernel.size() + 2 != input->size()) return c.problem("the kernel does not match the rank of the input");
  const auto list = windows(c, kernel);
  if (!list) return;
  Shape out = *input;
  const std::string auto_pad = c.node().string_or("auto_pad", "NOTSET");
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::size_t at = axis + (channels_last ? 1 : 2);
    out[at] = window_count(c, (*input)[at], (*list)[axis], auto_pad);
  }
  if (!c.problem().empty()) return;
  c.set(0, out, c.type(0));
  c.set(1, out, ElementType::int64);
}

}  // namespace

void convolution(ShapeContext& c) { convolve(c, 1, c.type(0), false); }
void convolution_integer(ShapeContext& c) { convolve(c, 1, ElementType::int32, false); }
void quantised_convolution(ShapeContext& c) {
  convolve(c, 3, c.has(7) ? c.type(7) : c.type(0), c.number("channels_last", 0) != 0);
}
void convolution_nhwc(ShapeContext& c) { convolve(c, 1, c.type(0), true, c.node().op_type == "NhwcConv"); }

// ConvTranspose: stride x (input - 1) + output padding + dilated kernel - pads, unless output_shape says it.
void convolution_transposed(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* input = c.shape(0);
  const Shape* filter = c.shape(1);
  if (input == nullptr || filter == nullptr) return;
  if (input->size() < 3 || filter->size() != input->size()) return c.problem("the input and filter differ in rank");
  const std::size_t axes = input->size() - 2;
  const Ints declared = c.node().ints_or("kernel_shape", {});
  const auto list = windows(c, declared.size() == axes ? declared : spatial_of(*filter, 2, axes + 2));
  if (!list) return;
  const Ints sizes = c.node().ints_or("output_shape", {}), extra = c.node().ints_or("output_padding", Ints(axes, 0));
  const std::string auto_pad = c.node().string_or("auto_pad", "NOTSET");
  if (extra.size() != axes) return c.problem("the output padding does not match the rank");
  Shape out = *input;
  out[1] = multiply((*filter)[1], c.number("group", 1));
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const Window& w = (*list)[axis];
    Dimension& size = out[axis + 2];
    if (w.stride < 1 || w.dilation < 1 || w.kernel < 1 || w.kernel > INT32_MAX || w.dilation > INT32_MAX || w.stride > INT32_MAX)
      return c.problem("kernel, stride or dilation is not positive");
    if (sizes.size() == axes || sizes.size() == axes + 2) {
      size = sizes[sizes.size() - axes + axis];
    } else if (auto_pad.starts_with("SAME")) {
      size = multiply(size, w.stride);
    } else {
      if (size.size == 0) return c.problem("the input is empty");
      const std::int64_t pads = auto_pad == "VALID" ? 0 : w.pad_begin + w.pad_end;
      size = add(multiply(subtract(size, 1), w.stride), (w.kernel - 1) * w.dilation + 1 + std::max<std::int64_t>(0, extra[axis]));
      size = pads >= 0 ? subtract(size, pads) : add(size, -pads);
    }
  }
  c.set(0, out, c.type(0));
}

void pool(ShapeContext& c) { pool_over(c, c.number("channels_last", 0) != 0); }
void pool_nhwc(ShapeContext& c) { pool_over(c, true); }

void global_pool(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* input = c.shape(0);
  if (input == nullptr || input->size() < 3) return;
  const bool last = c.number("channels_last", 0) != 0;
  Shape out = *input;
  for (std::size_t axis = last ? 1 : 2; axis < out.size() - (last ? 1 : 0); ++axis) out[axis] = 1;
  c.set(0, out, c.type(0));
}

void unpool(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const Shape* input = c.shape(0);
  if (input == nullptr || input->size() < 3) return;
  Shape out = *input;
  if (c.has(2)) {
    const auto sizes = c.ints(2);
    if (!sizes || sizes->size() != out.size()) return;
    return c.set(0, Shape(sizes->begin(), sizes->end()), c.type(0));
  }
  const Ints kernel = c.node().ints_or("kernel_shape", {});
  if (kernel.size() + 2 != out.size()) return c.problem("the kernel does not match the rank of the input");
  const auto list = windows(c, kernel);
  if (!list) return;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const Window& w = (*list)[axis];
    out[axis + 2] = subtract(add(multiply(subtract(out[axis + 2], 1), w.stride), w.kernel), w.pad_begin + w.pad_end);
  }
  c.set(0, out, c.type(0));
}

// MaxRoiPool and RoiAlign: one output an entry of the list of regions.
void roi_pool(ShapeContext& c) {
  c.set_type(0, c.type(0));
  if (c.shape(0) == nullptr || c.shape(1) == nullptr || c.shape(0)->size() != 4 || c.shape(1)->empty()) return;
  const Ints pooled = c.node().ints_or("pooled_shape", {c.number("output_height", 1), c.number("output_width", 1)});
  if (pooled.size() != 2) return c.problem("the output must have two dimensions");
  c.set(0, {(*c.shape(1))[0], (*c.shape(0))[1], pooled[0], pooled[1]}, c.type(0));
}

void col2im(ShapeContext& c) {
  c.set_type(0, c.type(0));
  const auto image = c.ints(1), block = c.ints(2);
  if (c.shape(0) == nullptr || !image || !block || c.shape(0)->size() != 3) return;
  std::int64_t area = 1;
  for (const std::int64_t size : *block)
    if (size < 1 || __builtin_mul_overflow(area, size, &area)) return c.problem("the block size is not positive");
  Shape out = {(*c.shape(0))[0], divide((*c.shape(0))[1], area)};
  for (const std::int64_t size : *image) out.emplace_back(size);
  c.set(0, out, c.type(0));
}

}  // namespace aaco::graph::rules
