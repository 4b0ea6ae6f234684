#include "runner/ort/tensors.h"

#include <array>
#include <cstring>

namespace aaco::runner::ort {
namespace {

constexpr std::array<std::pair<ElementType, ONNXTensorElementDataType>, 14> kTypes = {
    {{ElementType::float32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
     {ElementType::float16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
     {ElementType::bfloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
     {ElementType::float64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
     {ElementType::int8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
     {ElementType::uint8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
     {ElementType::int16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
     {ElementType::uint16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
     {ElementType::int32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
     {ElementType::uint32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
     {ElementType::int64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
     {ElementType::uint64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
     {ElementType::boolean, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
     {ElementType::string, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING}}};

core::Result<std::string> tensor_name(const Api& api, const OrtSession* session, OrtAllocator* allocator, std::size_t index,
                                      bool input) {
  char* name = nullptr;
  AACO_TRY(api.check(input ? api.call->SessionGetInputName(session, index, allocator, &name)
                           : api.call->SessionGetOutputName(session, index, allocator, &name),
                     "reading the model's inputs and outputs"));
  std::string text = name;
  AACO_TRY(api.check(api.call->AllocatorFree(allocator, name), "freeing a name"));
  return text;
}

core::Status fill_shape(const Api& api, const OrtTensorTypeAndShapeInfo* info, TensorInfo& tensor) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::size_t rank = 0;
  AACO_TRY(api.check(api.call->GetTensorElementType(info, &type), tensor.name));
  AACO_TRY(api.check(api.call->GetDimensionsCount(info, &rank), tensor.name));
  tensor.type = from_ort(type);
  tensor.shape.resize(rank);
  std::vector<const char*> symbols(rank);
  AACO_TRY(api.check(api.call->GetDimensions(info, tensor.shape.data(), rank), tensor.name));
  AACO_TRY(api.check(api.call->GetSymbolicDimensions(info, symbols.data(), rank), tensor.name));
  for (const char* symbol : symbols) tensor.symbols.emplace_back(symbol == nullptr ? "" : symbol);
  return {};
}

}  // namespace

ONNXTensorElementDataType to_ort(ElementType type) {
  for (auto [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

ElementType from_ort(ONNXTensorElementDataType type) {
  for (auto [ours, theirs] : kTypes)
    if (theirs == type) return ours;
  return ElementType::unknown;
}

core::Result<std::vector<TensorInfo>> describe_tensors(const Api& api, const OrtSession* session, bool inputs) {
  OrtAllocator* allocator = nullptr;  // the default one belongs to the library
  AACO_TRY(api.check(api.call->GetAllocatorWithDefaultOptions(&allocator), "reading the model's inputs and outputs"));
  std::size_t count = 0;
  AACO_TRY(api.check(inputs ? api.call->SessionGetInputCount(session, &count) : api.call->SessionGetOutputCount(session, &count),
                     "reading the model's inputs and outputs"));
  std::vector<TensorInfo> tensors(count);
  for (std::size_t i = 0; i < count; ++i) {
    AACO_ASSIGN(tensors[i].name, tensor_name(api, session, allocator, i, inputs));
    OrtTypeInfo* type = nullptr;
    AACO_TRY(api.check(
        inputs ? api.call->SessionGetInputTypeInfo(session, i, &type) : api.call->SessionGetOutputTypeInfo(session, i, &type),
        tensors[i].name));
    const auto owner = api.own(type, api.call->ReleaseTypeInfo);
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    AACO_TRY(api.check(api.call->CastTypeInfoToTensorInfo(type, &info), tensors[i].name));
    if (info == nullptr) {
      if (inputs)
        return core::fail(
            core::ErrorCode::unsupported,
            "the input '" + tensors[i].name + "' is not a tensor (a sequence, map or optional); AACO feeds tensors only");
      continue;
    }
    AACO_TRY(fill_shape(api, info, tensors[i]));
  }
  return tensors;
}

core::Result<std::shared_ptr<OrtValue>> wrap(const Api& api, const OrtMemoryInfo* cpu, TensorData& data) {
  OrtValue* value = nullptr;
  AACO_TRY(api.check(api.call->CreateTensorWithDataAsOrtValue(cpu, data.bytes.data(), data.bytes.size(), data.shape.data(),
                                                              data.shape.size(), to_ort(data.type), &value),
                     "input '" + data.name + "'"));
  return api.own(value, api.call->ReleaseValue);
}

core::Result<TensorData> copy_out(const Api& api, const std::string& name, const OrtValue* value) {
  int is_tensor = 0;
  AACO_TRY(api.check(api.call->IsTensor(value, &is_tensor), name));
  if (is_tensor == 0) return core::fail(core::ErrorCode::unsupported, "the output '" + name + "' is not a tensor");
  OrtTensorTypeAndShapeInfo* info = nullptr;
  AACO_TRY(api.check(api.call->GetTensorTypeAndShape(value, &info), name));
  const auto owner = api.own(info, api.call->ReleaseTensorTypeAndShapeInfo);
  TensorInfo shape;
  shape.name = name;
  AACO_TRY(fill_shape(api, info, shape));
  const std::int64_t size = element_size(shape.type);
  if (size == 0)
    return core::fail(core::ErrorCode::unsupported,
                      "the output '" + name + "' has elements of type " + std::string(to_string(shape.type)));
  std::int64_t count = 1;
  for (std::int64_t dimension : shape.shape) count *= dimension;
  TensorData data{name, shape.type, shape.shape, std::vector<std::byte>(static_cast<std::size_t>(count * size))};
  void* source = nullptr;
  AACO_TRY(api.check(api.call->GetTensorMutableData(const_cast<OrtValue*>(value), &source), name));
  std::memcpy(data.bytes.data(), source, data.bytes.size());
  return data;
}

core::Result<TensorView> view(const Api& api, const std::string& name, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  AACO_TRY(api.check(api.call->GetTensorTypeAndShape(value, &info), name));
  const auto owner = api.own(info, api.call->ReleaseTensorTypeAndShapeInfo);
  TensorInfo shape;
  shape.name = name;
  AACO_TRY(fill_shape(api, info, shape));
  TensorView out{shape.type, std::move(shape.shape), nullptr};
  const OrtMemoryInfo* memory = nullptr;
  const char* where = nullptr;
  AACO_TRY(api.check(api.call->GetTensorMemoryInfo(value, &memory), name));
  AACO_TRY(api.check(api.call->MemoryInfoGetName(memory, &where), name));
  if (std::string_view(where) != "Cpu") return out;
  void* source = nullptr;
  AACO_TRY(api.check(api.call->GetTensorMutableData(const_cast<OrtValue*>(value), &source), name));
  out.bytes = static_cast<const std::byte*>(source);
  return out;
}

}  // namespace aaco::runner::ort
