#include "graph/onnx/decode_tensor.h"

#include <cstring>
#include <map>

#include "core/files.h"
#include "core/numbers.h"
#include "graph/onnx/schema.h"

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;
using schema::Tensor;

// The data of a TensorProto as the file has it, before it is checked against type and shape.
struct Payload {
  std::optional<Range> dense;         // raw_data, or one packed run of floats or doubles
  std::vector<std::int64_t> varints;  // int32_data, int64_data, uint64_data, decoded (when there are few)
  bool sparse_form = false;           // strings, or floats field by field: no dense bytes in the file
  std::map<std::string, std::string> external;
  bool is_external = false;
};

void add_external(Input& input, const Field& field, Payload& payload) {
  std::string key, value;
  WireReader reader(input, field.range);
  for (Field part; reader.next(part);) {
    if (part.number == schema::Entry::key) key = text_of(input, part);
    if (part.number == schema::Entry::value) value = text_of(input, part);
  }
  payload.external[key] = value;
}

void add_packed(const Field& field, Payload& payload) {
  if (field.wire == Field::bytes && !payload.dense && !payload.sparse_form)
    payload.dense = field.range;
  else
    payload.sparse_form = true, payload.dense.reset();
}

// Low bytes of each integer, as many as the type has: how ONNX stores narrow types (and bits of halves) in int32_data.
std::vector<std::byte> narrow(const std::vector<std::int64_t>& values, ElementType type, std::int64_t bytes) {
  std::vector<std::byte> data;
  const auto size = static_cast<std::size_t>(std::max(1, element_bits(type) / 8));
  if (size > sizeof(std::int64_t)) return data;  // complex numbers are stored as floats
  for (const std::int64_t value : values) {
    std::byte buffer[sizeof value];
    std::memcpy(buffer, &value, sizeof value);
    data.insert(data.end(), buffer, buffer + size);
  }
  return static_cast<std::int64_t>(data.size()) == bytes ? data : std::vector<std::byte>{};
}

std::optional<DataLocation> external_location(Input& input, const Payload& payload, const std::string& tensor,
                                              std::int64_t bytes) {
  const auto entry = [&](const char* key) {
    const auto found = payload.external.find(key);
    return found == payload.external.end() ? std::string() : found->second;
  };
  const std::string file = entry("location");
  const std::int64_t offset = core::parse_i64(entry("offset")).value_or(entry("offset").empty() ? 0 : -1);
  const std::int64_t length = core::parse_i64(entry("length")).value_or(entry("length").empty() ? bytes : -1);
  if (file.empty() || offset < 0 || offset > INT64_MAX - bytes || length != bytes) {
    input.fail(ErrorCode::invalid_input, "the weight '" + tensor + "' has an invalid external data reference (location '" + file +
                                             "', offset '" + entry("offset") + "', length '" + entry("length") + "', " +
                                             std::to_string(bytes) + " bytes needed)");
    return std::nullopt;
  }
  if (file.front() == '/' || file == ".." || file.starts_with("../") || file.find("/../") != std::string::npos ||
      file.ends_with("/..")) {
    input.fail(ErrorCode::invalid_input, "the weight '" + tensor + "' refers to '" + file + "', outside the model's folder",
               "do not trust this file");
    return std::nullopt;
  }
  const std::string folder = core::parent_path(core::absolute_path(input.name()));
  return DataLocation{core::join_path(folder, file), offset, length};
}

void settle(Input& input, const Payload& payload, std::int64_t bytes, std::int64_t keep_bytes, TensorLiteral& tensor) {
  const std::string& name = tensor.descriptor.name;
  if (payload.is_external) {
    tensor.constant.location = external_location(input, payload, name, bytes);
    return;
  }
  if (payload.dense) {
    if (payload.dense->length() != bytes)
      return input.fail(ErrorCode::invalid_input, "the constant '" + name + "' has " + std::to_string(payload.dense->length()) +
                                                      " bytes of data, but its type and shape require " + std::to_string(bytes));
    if (bytes <= keep_bytes) {
      const std::string data = input.copy(payload.dense->begin, bytes);
      const auto* begin = reinterpret_cast<const std::byte*>(data.data());
      tensor.constant.data.assign(begin, begin + data.size());
    }
    tensor.constant.location = DataLocation{input.name(), payload.dense->begin, bytes};
    return;
  }
  if (payload.varints.empty()) return;
  tensor.constant.data = narrow(payload.varints, tensor.descriptor.type, bytes);
  if (tensor.constant.data.empty())
    input.fail(ErrorCode::invalid_input, "the constant '" + name + "' has " + std::to_string(payload.varints.size()) +
                                             " values, which does not match its shape");
}

}  // namespace

ElementType decode_element_type(Input& input, std::int64_t number, const std::string& tensor) {
  const auto type = element_type_from_onnx(number);
  if (!type)
    input.fail(ErrorCode::invalid_input,
               "the tensor '" + tensor + "' has element type " + std::to_string(number) + ", which ONNX does not define",
               "the file is damaged or newer than this program");
  return type.value_or(ElementType::unknown);
}

TensorLiteral decode_tensor(Input& input, Range range, std::int64_t keep_bytes) {
  TensorLiteral tensor;
  Payload payload;
  std::vector<std::int64_t> dims;
  std::vector<Range> integers;
  std::int64_t type = 0;
  WireReader reader(input, range);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case Tensor::dims: append_ints(input, field, dims); break;
      case Tensor::data_type: type = field.as_int(); break;
      case Tensor::name: tensor.descriptor.name = text_of(input, field); break;
      case Tensor::raw_data:
        if (field.wire == Field::bytes) payload.dense = field.range;
        break;
      case Tensor::float_data:
      case Tensor::double_data: add_packed(field, payload); break;
      case Tensor::int32_data:
      case Tensor::int64_data:
      case Tensor::uint64_data:
        if (field.wire == Field::varint || field.range.length() <= keep_bytes)
          append_ints(input, field, payload.varints);
        else
          payload.sparse_form = true;
        break;
      case Tensor::external_data:
        if (field.wire == Field::bytes) add_external(input, field, payload);
        break;
      case Tensor::data_location: payload.is_external = field.value == 1; break;
      default: break;
    }
  }
  tensor.descriptor.type = decode_element_type(input, type, tensor.descriptor.name);
  Shape shape(dims.begin(), dims.end());
  for (const std::int64_t dim : dims)
    if (dim < 0)
      input.fail(ErrorCode::invalid_input,
                 "the constant '" + tensor.descriptor.name + "' has a negative size, " + std::to_string(dim));
  const auto count = element_count(shape);
  tensor.descriptor.shape = std::move(shape);
  if (input.failed()) return tensor;
  if (!count) {
    input.fail(ErrorCode::invalid_input, "the element count of the constant '" + tensor.descriptor.name + "' overflows");
    return tensor;
  }
  const auto bytes = bytes_of(tensor.descriptor.type, *count);
  if (bytes && !payload.sparse_form) settle(input, payload, *bytes, keep_bytes, tensor);
  return tensor;
}

}  // namespace aaco::graph::onnx
