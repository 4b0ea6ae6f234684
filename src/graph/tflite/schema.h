#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/element_type.h"

// Numbers of the TFLite schema (tensorflow/lite/schema/schema.fbs, version 3).
namespace aaco::graph::tflite::schema {

// Fields by their number in each table.
enum class Model : int { version = 0, operator_codes = 1, subgraphs = 2, description = 3, buffers = 4, signatures = 7 };
enum class SignatureDef : int { key = 2, subgraph = 4 };
enum class OperatorCode : int { deprecated_code = 0, custom_code = 1, builtin_code = 3 };
enum class SubGraph : int { tensors = 0, inputs = 1, outputs = 2, operators = 3, name = 4 };
enum class Tensor : int {
  shape = 0,
  type = 1,
  buffer = 2,
  name = 3,
  is_variable = 5,
  sparsity = 6,
  shape_signature = 7,
  has_rank = 8
};
enum class Operator : int { opcode = 0, inputs = 1, outputs = 2, options = 4, options_2 = 12 };
enum class Buffer : int { data = 0, offset = 1, size = 2 };

// Empty for a number that the schema has not given out; unknown for resources and variants.
std::optional<ElementType> element_type_of(std::int64_t number);
// "CONV_2D"; empty for a number that is not known here.
std::string_view operator_name(std::int64_t code);
inline constexpr std::int64_t kCustom = 32;

}  // namespace aaco::graph::tflite::schema
