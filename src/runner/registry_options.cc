#include <array>

#include "runner/registry.h"

namespace aaco::runner {
namespace {

// How a provider spells what backends.yaml calls device_id and fp16_enable (ONNX Runtime, "Execution Providers"); empty: not at
// all.
struct Spelling {
  std::string_view provider;
  std::string_view device_id;
  std::string_view half_key;
  std::string_view half_value;
};
constexpr std::array kSpellings = {
    Spelling{"MIGraphXExecutionProvider", "device_id", "migraphx_fp16_enable", "1"},
    Spelling{"ROCMExecutionProvider", "device_id", "", ""},
    Spelling{"CUDAExecutionProvider", "device_id", "", ""},
    Spelling{"TensorrtExecutionProvider", "device_id", "trt_fp16_enable", "1"},
    Spelling{"NvTensorRTRTXExecutionProvider", "device_id", "", ""},
    Spelling{"OpenVINOExecutionProvider", "", "precision", "FP16"},
    Spelling{"WebGpuExecutionProvider", "deviceId", "", ""},
};

const Spelling& spelling_of(std::string_view provider) {
  static constexpr Spelling kNone{"", "", "", ""};
  for (const Spelling& spelling : kSpellings)
    if (spelling.provider == provider) return spelling;
  return kNone;
}

tl::unexpected<core::Error> no_option(const BackendConfig& config, std::string_view key, std::string remedy) {
  return core::fail(core::ErrorCode::unsupported,
                    config.where + ": " + config.provider + " has no option for " + std::string(key), std::move(remedy));
}

}  // namespace

core::Result<BackendOptions> backend_options(const BackendConfig& config) {
  BackendOptions options;
  options.backend = config.name;
  options.provider = config.provider;
  options.provider_options = config.options;
  options.intra_op_threads = static_cast<int>(config.intra_op_threads.value_or(0));
  options.inter_op_threads = static_cast<int>(config.inter_op_threads.value_or(0));
  const Spelling& spelling = spelling_of(config.provider);
  if (!spelling.device_id.empty() && config.device_id) {
    options.provider_options.emplace(spelling.device_id, std::to_string(*config.device_id));
  } else if (config.device_id.value_or(0) != 0) {
    return no_option(config, "device_id", "remove it, or use the provider's own option");
  }
  if (config.fp16_enable.value_or(false)) {
    if (spelling.half_key.empty()) return no_option(config, "fp16_enable", "use a float16 model instead");
    options.provider_options.emplace(spelling.half_key, spelling.half_value);
  }
  return options;
}

}  // namespace aaco::runner
