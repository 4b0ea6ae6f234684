#pragma once

#include <cstdint>
#include <optional>

#include "graph/element_type.h"

// Field numbers of ONNX's messages (onnx.proto of the ONNX project), as far as AACO reads or writes them.
namespace aaco::graph::onnx::schema {

struct Model {
  enum : std::uint32_t {
    ir_version = 1,
    producer_name = 2,
    producer_version = 3,
    graph = 7,
    opset_import = 8,
    metadata_props = 14,
    functions = 25
  };
};
struct Opset {
  enum : std::uint32_t { domain = 1, version = 2 };
};
struct Entry {
  enum : std::uint32_t { key = 1, value = 2 };
};
struct Graph {
  enum : std::uint32_t { node = 1, name = 2, initializer = 5, input = 11, output = 12, value_info = 13, sparse_initializer = 15 };
};
struct Node {
  enum : std::uint32_t { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7 };
};
struct Attribute {
  enum : std::uint32_t {
    name = 1,
    f = 2,
    i = 3,
    s = 4,
    t = 5,
    g = 6,
    floats = 7,
    ints = 8,
    strings = 9,
    tensors = 10,
    graphs = 11,
    type = 20,
    ref_attr_name = 21
  };
  enum Kind : std::int64_t {
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10
  };
};
struct Tensor {
  enum : std::uint32_t {
    dims = 1,
    data_type = 2,
    segment = 3,
    float_data = 4,
    int32_data = 5,
    string_data = 6,
    int64_data = 7,
    name = 8,
    raw_data = 9,
    double_data = 10,
    uint64_data = 11,
    external_data = 13,
    data_location = 14
  };
};
struct ValueInfo {
  enum : std::uint32_t { name = 1, type = 2 };
};
struct Type {
  enum : std::uint32_t { tensor = 1, sequence = 4, map = 5, denotation = 6, sparse_tensor = 8, optional = 9 };
};
struct TensorType {
  enum : std::uint32_t { elem_type = 1, shape = 2 };
};
struct TensorShape {
  enum : std::uint32_t { dim = 1 };
};
struct Dim {
  enum : std::uint32_t { value = 1, param = 2 };
};
struct Function {
  enum : std::uint32_t {
    name = 1,
    input = 4,
    output = 5,
    attribute = 6,
    node = 7,
    opset_import = 9,
    domain = 10,
    value_info = 12
  };
};

}  // namespace aaco::graph::onnx::schema
