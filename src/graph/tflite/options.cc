#include "graph/tflite/options.h"

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
  } else if (op == "BATCH_MATMUL") {
    node.attributes.push_back({"adj_x", options.signed_number(0, 1, 0)});
    node.attributes.push_back({"adj_y", options.signed_number(1, 1, 0)});
  }
}

}  // namespace aaco::graph::tflite
