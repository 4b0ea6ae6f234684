#include "graph/element_type.h"

#include <array>
#include <limits>
#include <string>

#include "core/strings.h"

namespace aaco::graph {
namespace {

struct Entry {
  ElementType type;
  std::string_view name;
  std::string_view short_name;
  int bits;
};

constexpr std::array kTypes = {
    Entry{ElementType::unknown, "unknown", "", 0},
    Entry{ElementType::float64, "float64", "fp64", 64},
    Entry{ElementType::float32, "float32", "fp32", 32},
    Entry{ElementType::float16, "float16", "fp16", 16},
    Entry{ElementType::bfloat16, "bfloat16", "bf16", 16},
    Entry{ElementType::float8e4m3fn, "float8e4m3fn", "fp8", 8},
    Entry{ElementType::float8e4m3fnuz, "float8e4m3fnuz", "", 8},
    Entry{ElementType::float8e5m2, "float8e5m2", "bf8", 8},
    Entry{ElementType::float8e5m2fnuz, "float8e5m2fnuz", "", 8},
    Entry{ElementType::float8e8m0, "float8e8m0", "", 8},
    Entry{ElementType::float4e2m1, "float4e2m1", "fp4", 4},
    Entry{ElementType::int64, "int64", "i64", 64},
    Entry{ElementType::int32, "int32", "i32", 32},
    Entry{ElementType::int16, "int16", "i16", 16},
    Entry{ElementType::int8, "int8", "i8", 8},
    Entry{ElementType::int4, "int4", "i4", 4},
    Entry{ElementType::int2, "int2", "i2", 2},
    Entry{ElementType::uint64, "uint64", "u64", 64},
    Entry{ElementType::uint32, "uint32", "u32", 32},
    Entry{ElementType::uint16, "uint16", "u16", 16},
    Entry{ElementType::uint8, "uint8", "u8", 8},
    Entry{ElementType::uint4, "uint4", "u4", 4},
    Entry{ElementType::uint2, "uint2", "u2", 2},
    Entry{ElementType::boolean, "bool", "boolean", 8},
    Entry{ElementType::complex64, "complex64", "", 64},
    Entry{ElementType::complex128, "complex128", "", 128},
    Entry{ElementType::string, "string", "", 0},
};

// Indexed by TensorProto.DataType.
constexpr std::array kOnnxTypes = {ElementType::unknown,        ElementType::float32,    ElementType::uint8,
                                   ElementType::int8,           ElementType::uint16,     ElementType::int16,
                                   ElementType::int32,          ElementType::int64,      ElementType::string,
                                   ElementType::boolean,        ElementType::float16,    ElementType::float64,
                                   ElementType::uint32,         ElementType::uint64,     ElementType::complex64,
                                   ElementType::complex128,     ElementType::bfloat16,   ElementType::float8e4m3fn,
                                   ElementType::float8e4m3fnuz, ElementType::float8e5m2, ElementType::float8e5m2fnuz,
                                   ElementType::uint4,          ElementType::int4,       ElementType::float4e2m1,
                                   ElementType::float8e8m0,     ElementType::uint2,      ElementType::int2};

const Entry& entry_of(ElementType type) {
  for (const Entry& entry : kTypes)
    if (entry.type == type) return entry;
  return kTypes[0];
}

}  // namespace

std::string_view to_string(ElementType type) { return entry_of(type).name; }

std::optional<ElementType> element_type_from_string(std::string_view text) {
  const std::string lower = core::to_lower(text);
  if (lower == "f32" || lower == "float") return ElementType::float32;
  if (lower == "f16" || lower == "half") return ElementType::float16;
  if (lower == "f64" || lower == "double") return ElementType::float64;
  for (const Entry& entry : kTypes)
    if (entry.type != ElementType::unknown && !lower.empty() && (lower == entry.name || lower == entry.short_name))
      return entry.type;
  return std::nullopt;
}

int element_bits(ElementType type) { return entry_of(type).bits; }

bool is_floating(ElementType type) { return type >= ElementType::float64 && type <= ElementType::float4e2m1; }

std::optional<std::int64_t> bytes_of(ElementType type, std::int64_t count) {
  const std::int64_t bits = element_bits(type);
  std::int64_t total = 0;
  if (bits == 0 || count < 0 || __builtin_mul_overflow(bits, count, &total) || total > INT64_MAX - 7) return std::nullopt;
  return (total + 7) / 8;
}

std::optional<ElementType> element_type_from_onnx(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(kOnnxTypes.size())) return std::nullopt;
  return kOnnxTypes[static_cast<std::size_t>(number)];
}

std::int64_t onnx_number(ElementType type) {
  for (std::size_t number = 0; number < kOnnxTypes.size(); ++number)
    if (kOnnxTypes[number] == type) return static_cast<std::int64_t>(number);
  return 0;
}

void add_size(std::int64_t& sum, std::int64_t size) {
  if (__builtin_add_overflow(sum, size, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

}  // namespace aaco::graph
