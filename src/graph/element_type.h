#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aaco::graph {

// What one element of a tensor is. Types below eight bits are packed, the first element in the low bits.
enum class ElementType : std::uint8_t {
  unknown,
  float64,
  float32,
  float16,
  bfloat16,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float8e8m0,
  float4e2m1,
  int64,
  int32,
  int16,
  int8,
  int4,
  int2,
  uint64,
  uint32,
  uint16,
  uint8,
  uint4,
  uint2,
  boolean,
  complex64,
  complex128,
  string,
};

std::string_view to_string(ElementType type);
// "float32", and the short forms people write: fp32, f16, bf16, i64, bool.
std::optional<ElementType> element_type_from_string(std::string_view text);

// Bits of one element; 0 for string and unknown.
int element_bits(ElementType type);
bool is_floating(ElementType type);
// Bytes that `count` dense elements take, rounded up to whole bytes; empty for string and unknown, and where 64 bits overflow.
std::optional<std::int64_t> bytes_of(ElementType type, std::int64_t count);
// Adds sizes, neither of which is negative; what is more than fits stays at the largest number.
void add_size(std::int64_t& sum, std::int64_t size);

// ONNX's TensorProto.DataType; empty for a number that ONNX has not given out (0, undefined, is unknown).
std::optional<ElementType> element_type_from_onnx(std::int64_t number);
std::int64_t onnx_number(ElementType type);

}  // namespace aaco::graph
