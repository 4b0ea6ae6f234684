#include "runner/input_files.h"

#include <algorithm>
#include <cstring>

#include "core/files.h"
#include "formats/npy.h"
#include "graph/onnx.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::int64_t kMaxFileBytes = std::int64_t{8} << 30;

struct NumpyType {
  formats::npy::ElementFormat format;
  ElementType type;
};
constexpr NumpyType kNumpyTypes[] = {
    {{'f', 4}, ElementType::float32},  {{'f', 2}, ElementType::float16}, {{'f', 8}, ElementType::float64},
    {{'i', 1}, ElementType::int8},     {{'i', 2}, ElementType::int16},   {{'i', 4}, ElementType::int32},
    {{'i', 8}, ElementType::int64},    {{'u', 1}, ElementType::uint8},   {{'u', 2}, ElementType::uint16},
    {{'u', 4}, ElementType::uint32},   {{'u', 8}, ElementType::uint64},  {{'b', 1}, ElementType::boolean},
    {{'V', 2}, ElementType::bfloat16},
};

TensorData from_numpy(formats::npy::Array&& array) {
  const auto* known = std::find_if(std::begin(kNumpyTypes), std::end(kNumpyTypes),
                                   [&](const NumpyType& candidate) { return candidate.format == array.format; });
  return {{}, known == std::end(kNumpyTypes) ? ElementType::unknown : known->type, std::move(array.shape), std::move(array.data)};
}

core::Result<TensorData> from_npz(const std::string& bytes, const std::string& input) {
  AACO_ASSIGN(std::vector<formats::npy::Array> arrays, formats::npy::parse_npz(bytes, kMaxFileBytes));
  const auto wanted =
      std::find_if(arrays.begin(), arrays.end(), [&](const formats::npy::Array& array) { return array.name == input; });
  if (wanted != arrays.end()) return from_numpy(std::move(*wanted));
  if (arrays.size() == 1) return from_numpy(std::move(arrays.front()));
  std::string names;
  for (const auto& array : arrays) names += (names.empty() ? "" : ", ") + array.name;
  return fail(ErrorCode::invalid_input, "the archive has no array '" + input + "'", "it has " + names);
}

core::Result<TensorData> from_proto(const std::string& bytes, const std::string& path) {
  AACO_ASSIGN(graph::TensorLiteral literal, graph::onnx::parse_tensor(bytes, path));
  if (literal.constant.location && literal.constant.data.empty() && literal.constant.location->bytes > 0)
    return fail(ErrorCode::unsupported, "the tensor stores its data in an external file", "save it with its data embedded");
  TensorData tensor{{}, literal.descriptor.type, {}, std::move(literal.constant.data)};
  if (literal.descriptor.shape)
    for (const graph::Dimension& dimension : *literal.descriptor.shape) tensor.shape.push_back(dimension.size);
  return tensor;
}

core::Result<TensorData> decode(const TensorInfo& info, const std::string& path) {
  AACO_ASSIGN(const std::string bytes, core::read_file(path, kMaxFileBytes));
  if (path.ends_with(".pb")) return from_proto(bytes, path);
  if (path.ends_with(".npz") || bytes.starts_with("PK")) return from_npz(bytes, info.name);
  AACO_ASSIGN(formats::npy::Array array, formats::npy::parse_npy(bytes));
  return from_numpy(std::move(array));
}

core::Status check_type(const TensorInfo& info, const TensorData& tensor) {
  if (tensor.type == info.type) return {};
  const std::string wanted(to_string(info.type));
  return fail(ErrorCode::invalid_input,
              "its type is " + std::string(to_string(tensor.type)) + ", the input '" + info.name + "' expects " + wanted,
              "save it as " + wanted);
}

// How many elements of `width` bytes have an exponent of all ones, split by whether a fraction follows.
NonFinite count_bits(const std::vector<std::byte>& bytes, std::size_t width, std::uint64_t exponent, std::uint64_t fraction) {
  NonFinite found;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);
    if ((bits & exponent) != exponent) continue;
    if ((bits & fraction) == 0) {
      ++found.infinite;
    } else if (found.nan++ == 0) {
      found.first_nan = static_cast<std::int64_t>(at / width);
    }
  }
  return found;
}

}  // namespace

NonFinite count_non_finite(const TensorData& tensor) {
  switch (tensor.type) {
    case ElementType::float64: return count_bits(tensor.bytes, 8, 0x7FF0000000000000U, 0x000FFFFFFFFFFFFFU);
    case ElementType::float32: return count_bits(tensor.bytes, 4, 0x7F800000U, 0x007FFFFFU);
    case ElementType::float16: return count_bits(tensor.bytes, 2, 0x7C00U, 0x03FFU);
    case ElementType::bfloat16: return count_bits(tensor.bytes, 2, 0x7F80U, 0x007FU);
    default: return {};
  }
}

core::Result<TensorData> read_input_file(const TensorInfo& info, const std::string& path) {
  const std::string where = "reading the input '" + info.name + "' from " + path;
  auto tensor = decode(info, path);
  if (!tensor) return tl::unexpected<core::Error>(std::move(tensor.error()).with(where));
  tensor->name = info.name;
  if (core::Status fits = check_type(info, *tensor); !fits)
    return tl::unexpected<core::Error>(std::move(fits.error()).with(where));
  if (const NonFinite found = count_non_finite(*tensor); found.nan > 0)
    return fail(ErrorCode::invalid_input,
                where + ": " + std::to_string(found.nan) + " of its values are NaN (first at index " +
                    std::to_string(found.first_nan) + "), which makes the outputs meaningless and may affect timing",
                "remove the NaN values");
  return tensor;
}

}  // namespace aaco::runner
