#include "runner/ort/device_memory.h"

#include "core/numbers.h"

namespace aaco::runner::ort {
namespace {

// ONNX Runtime's own names of allocators (onnxruntime/core/framework/allocator.h).
constexpr struct {
  const char* provider;
  const char* memory;
} kMemories[] = {{"CUDAExecutionProvider", "Cuda"},
                 {"TensorrtExecutionProvider", "Cuda"},
                 {"NvTensorRTRTXExecutionProvider", "Cuda"},
                 {"ROCMExecutionProvider", "Hip"},
                 {"MIGraphXExecutionProvider", "Hip"}};

}  // namespace

DeviceMemory device_memory(const std::map<std::string, std::int64_t>& placement,
                           const std::map<std::string, std::string>& provider_options) {
  for (const auto& [provider, memory] : kMemories) {
    if (!placement.contains(provider)) continue;
    const auto option = provider_options.find("device_id");
    const auto device = option == provider_options.end() ? std::nullopt : core::parse_i64(option->second);
    return {memory, static_cast<int>(device.value_or(0))};
  }
  return {};
}

}  // namespace aaco::runner::ort
