#include "graph/onnx/schema.h"

#include <array>

namespace aaco::graph::onnx::schema {
namespace {

// Indexed by TensorProto.DataType.
constexpr std::array kTypes = {ElementType::unknown,        ElementType::float32,    ElementType::uint8,
                               ElementType::int8,           ElementType::uint16,     ElementType::int16,
                               ElementType::int32,          ElementType::int64,      ElementType::string,
                               ElementType::boolean,        ElementType::float16,    ElementType::float64,
                               ElementType::uint32,         ElementType::uint64,     ElementType::complex64,
                               ElementType::complex128,     ElementType::bfloat16,   ElementType::float8e4m3fn,
                               ElementType::float8e4m3fnuz, ElementType::float8e5m2, ElementType::float8e5m2fnuz,
                               ElementType::uint4,          ElementType::int4,       ElementType::float4e2m1,
                               ElementType::float8e8m0,     ElementType::uint2,      ElementType::int2};

}  // namespace

std::optional<ElementType> element_type_of(std::int64_t data_type) {
  if (data_type < 0 || data_type >= static_cast<std::int64_t>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<std::size_t>(data_type)];
}

std::int64_t data_type_of(ElementType type) {
  for (std::size_t number = 0; number < kTypes.size(); ++number)
    if (kTypes[number] == type) return static_cast<std::int64_t>(number);
  return 0;
}

}  // namespace aaco::graph::onnx::schema
