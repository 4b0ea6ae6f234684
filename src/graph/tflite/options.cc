#include "graph/tflite/options.h"

#include <array>

namespace aaco::graph::tflite {
namespace {

using Ints = std::vector<std::int64_t>;

void put_window(Node& node, const FlatTable& options, int stride_w, int stride_h) {
  node.attributes.push_back({"auto_pad", std::string(options.signed_number(0, 1, 0) == 0 ? "SAME_UPPER" : "VALID")});
  node.attributes.push_back({"strides", Ints{options.signed_number(stride_h, 4, 1), options.signed_number(stride_w, 4, 1)}});
}

void put_dilations(Node& node, const FlatTable& options, int width, int height) {
  node.attributes.push_back({"dilations", Ints{options.signed_number(height, 4, 1), options.signed_number(width, 4, 1)}});
}

// Options that stand as they are: a number's name, place and bytes.
struct Plain {
  std::string_view op, name;
  int field;
  std::size_t bytes;
  std::int64_t fallback = 0;
};
constexpr auto kPlain = std::to_array<Plain>({{"BATCH_MATMUL", "adj_x", 0, 1},
                                              {"BATCH_MATMUL", "adj_y", 1, 1},
                                              {"FULLY_CONNECTED", "keep_num_dims", 2, 1},
                                              {"CONCATENATION", "axis", 0, 4},
                                              {"PACK", "axis", 1, 4},
                                              {"UNPACK", "axis", 1, 4},
                                              {"GATHER", "axis", 0, 4},
                                              {"GATHER", "batch_dims", 1, 4},
                                              {"ONE_HOT", "axis", 0, 4, -1},
                                              {"SPACE_TO_DEPTH", "block_size", 0, 4},
                                              {"DEPTH_TO_SPACE", "block_size", 0, 4},
                                              {"STRIDED_SLICE", "begin_mask", 0, 4},
                                              {"STRIDED_SLICE", "end_mask", 1, 4},
                                              {"STRIDED_SLICE", "ellipsis_mask", 2, 4},
                                              {"STRIDED_SLICE", "new_axis_mask", 3, 4},
                                              {"STRIDED_SLICE", "shrink_axis_mask", 4, 4},
                                              {"LSTM", "basic", 3, 1},
                                              {"UNIDIRECTIONAL_SEQUENCE_LSTM", "time_major", 3, 1},
                                              {"UNIDIRECTIONAL_SEQUENCE_RNN", "time_major", 0, 1},
                                              {"BIDIRECTIONAL_SEQUENCE_LSTM", "time_major", 4, 1, 1},
                                              {"BIDIRECTIONAL_SEQUENCE_RNN", "time_major", 0, 1}});

bool keeps_dims(std::string_view op) {
  for (const char* known : {"MEAN", "SUM", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"})
    if (op == known) return true;
  return false;
}

void read_plain(Node& node, const FlatTable& options) {
  constexpr std::uint64_t kMaxAxes = 64;
  for (const Plain& item : kPlain)
    if (item.op == node.op_type)
      node.attributes.push_back({std::string(item.name), options.signed_number(item.field, item.bytes, item.fallback)});
  if (keeps_dims(node.op_type)) node.attributes.push_back({"keep_dims", options.signed_number(0, 1, 0)});
  const bool reshape = node.op_type == "RESHAPE";
  if (!reshape && node.op_type != "SQUEEZE") return;
  if (auto sizes = options.integers(0, kMaxAxes))
    node.attributes.push_back({reshape ? "new_shape" : "squeeze_dims", *std::move(sizes)});
}

}  // namespace

void read_options(Node& node, const FlatTable& options) {
  if (!options.valid()) return;
  const std::string& op = node.op_type;
  if (op == "CONV_2D") {  // padding, stride_w, stride_h, activation, dilation_w, dilation_h
    put_window(node, options, 1, 2);
    put_dilations(node, options, 4, 5);
  } else if (op == "DEPTHWISE_CONV_2D") {  // padding, stride_w, stride_h, multiplier, activation, dilation_w, dilation_h
    put_window(node, options, 1, 2);
    put_dilations(node, options, 5, 6);
  } else if (op == "TRANSPOSE_CONV") {  // padding, stride_w, stride_h
    put_window(node, options, 1, 2);
  } else if (op.ends_with("_POOL_2D")) {  // padding, stride_w, stride_h, filter_width, filter_height
    put_window(node, options, 1, 2);
    node.attributes.push_back({"filter_width", options.signed_number(3, 4, 1)});
    node.attributes.push_back({"filter_height", options.signed_number(4, 4, 1)});
  } else if (op == "CONV_3D") {  // padding, stride_d, stride_w, stride_h, activation, dilation_d, dilation_w, dilation_h
    node.attributes.push_back({"auto_pad", std::string(options.signed_number(0, 1, 0) == 0 ? "SAME_UPPER" : "VALID")});
    const auto three = [&](int depth, int width, int height) {
      return Ints{options.signed_number(depth, 4, 1), options.signed_number(height, 4, 1), options.signed_number(width, 4, 1)};
    };
    node.attributes.push_back({"strides", three(1, 2, 3)});
    node.attributes.push_back({"dilations", three(5, 6, 7)});
  } else {
    read_plain(node, options);
  }
}

}  // namespace aaco::graph::tflite
