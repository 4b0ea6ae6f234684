#include <cstdlib>

#include "runner/ort/api.h"

namespace aaco::runner::ort {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

struct KeyValues {
  std::vector<const char*> keys;
  std::vector<const char*> values;
};

KeyValues pointers(const Options& options) {
  KeyValues out;
  for (const auto& [key, value] : options) {
    out.keys.push_back(key.c_str());
    out.values.push_back(value.c_str());
  }
  return out;
}

bool truthy(const std::string& value) { return value == "1" || value == "true"; }

core::Status append_cuda(const Api& api, OrtSessionOptions* session, const Options& options) {
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  AACO_TRY(api.check(api.call->CreateCUDAProviderOptions(&cuda), "CUDA provider"));
  const auto owner = api.own(cuda, api.call->ReleaseCUDAProviderOptions);
  const KeyValues list = pointers(options);
  AACO_TRY(api.check(api.call->UpdateCUDAProviderOptions(cuda, list.keys.data(), list.values.data(), list.keys.size()),
                     "CUDA provider options"));
  return api.check(api.call->SessionOptionsAppendExecutionProvider_CUDA_V2(session, cuda), "CUDA provider");
}

core::Status append_tensorrt(const Api& api, OrtSessionOptions* session, const Options& options) {
  OrtTensorRTProviderOptionsV2* tensorrt = nullptr;
  AACO_TRY(api.check(api.call->CreateTensorRTProviderOptions(&tensorrt), "TensorRT provider"));
  const auto owner = api.own(tensorrt, api.call->ReleaseTensorRTProviderOptions);
  const KeyValues list = pointers(options);
  AACO_TRY(api.check(api.call->UpdateTensorRTProviderOptions(tensorrt, list.keys.data(), list.values.data(), list.keys.size()),
                     "TensorRT provider options"));
  return api.check(api.call->SessionOptionsAppendExecutionProvider_TensorRT_V2(session, tensorrt), "TensorRT provider");
}

core::Status append_rocm(const Api& api, OrtSessionOptions* session, const Options& options) {
  OrtROCMProviderOptions* rocm = nullptr;
  AACO_TRY(api.check(api.call->CreateROCMProviderOptions(&rocm), "ROCm provider"));
  const auto owner = api.own(rocm, api.call->ReleaseROCMProviderOptions);
  const KeyValues list = pointers(options);
  AACO_TRY(api.check(api.call->UpdateROCMProviderOptions(rocm, list.keys.data(), list.values.data(), list.keys.size()),
                     "ROCm provider options"));
  return api.check(api.call->SessionOptionsAppendExecutionProvider_ROCM(session, rocm), "ROCm provider");
}

core::Status append_dnnl(const Api& api, OrtSessionOptions* session, const Options& options) {
  OrtDnnlProviderOptions* dnnl = nullptr;
  AACO_TRY(api.check(api.call->CreateDnnlProviderOptions(&dnnl), "oneDNN provider"));
  const auto owner = api.own(dnnl, api.call->ReleaseDnnlProviderOptions);
  const KeyValues list = pointers(options);
  AACO_TRY(api.check(api.call->UpdateDnnlProviderOptions(dnnl, list.keys.data(), list.values.data(), list.keys.size()),
                     "oneDNN provider options"));
  return api.check(api.call->SessionOptionsAppendExecutionProvider_Dnnl(session, dnnl), "oneDNN provider");
}

// MIGraphX has a plain struct in the C API; an option that is not one of its members is refused by name.
core::Status append_migraphx(const Api& api, OrtSessionOptions* session, const Options& options) {
  OrtMIGraphXProviderOptions migraphx{};
  for (const auto& [key, value] : options) {
    if (key == "device_id")
      migraphx.device_id = std::atoi(value.c_str());
    else if (key == "migraphx_fp16_enable")
      migraphx.migraphx_fp16_enable = truthy(value);
    else if (key == "migraphx_int8_enable")
      migraphx.migraphx_int8_enable = truthy(value);
    else if (key == "migraphx_use_native_calibration_table")
      migraphx.migraphx_use_native_calibration_table = truthy(value);
    else if (key == "migraphx_int8_calibration_table_name")
      migraphx.migraphx_int8_calibration_table_name = value.c_str();
    else if (key == "migraphx_save_compiled_model")
      migraphx.migraphx_save_compiled_model = truthy(value);
    else if (key == "migraphx_save_model_path")
      migraphx.migraphx_save_model_path = value.c_str();
    else if (key == "migraphx_load_compiled_model")
      migraphx.migraphx_load_compiled_model = truthy(value);
    else if (key == "migraphx_load_model_path")
      migraphx.migraphx_load_model_path = value.c_str();
    else if (key == "migraphx_exhaustive_tune")
      migraphx.migraphx_exhaustive_tune = truthy(value);
    else
      return core::fail(core::ErrorCode::invalid_argument, "the MIGraphX provider has no option '" + key + "'");
  }
  return api.check(api.call->SessionOptionsAppendExecutionProvider_MIGraphX(session, &migraphx), "MIGraphX provider");
}

// The short name the generic call wants: "XNNPACK" for "XnnpackExecutionProvider".
std::string generic_name(const std::string& provider) {
  if (provider == "XnnpackExecutionProvider") return "XNNPACK";
  if (provider == "WebGpuExecutionProvider") return "WebGPU";
  const std::string suffix = "ExecutionProvider";
  if (provider.size() > suffix.size() && provider.ends_with(suffix)) return provider.substr(0, provider.size() - suffix.size());
  return provider;
}

}  // namespace

core::Status append_provider(const Api& api, OrtSessionOptions* session, const std::string& provider, const Options& options) {
  if (provider == "CPUExecutionProvider") {  // always there, last in the list
    if (options.empty()) return {};
    return core::fail(
        core::ErrorCode::invalid_argument,
        "the provider option '" + options.front().first + "' has no effect: the CPU provider does not accept options",
        "remove --provider-option, or select the backend it belongs to (--backend)");
  }
  if (provider == "CUDAExecutionProvider") return append_cuda(api, session, options);
  if (provider == "TensorrtExecutionProvider") return append_tensorrt(api, session, options);
  if (provider == "ROCMExecutionProvider") return append_rocm(api, session, options);
  if (provider == "DnnlExecutionProvider") return append_dnnl(api, session, options);
  if (provider == "MIGraphXExecutionProvider") return append_migraphx(api, session, options);
  const KeyValues list = pointers(options);
  const std::string name = generic_name(provider);
  return api.check(api.call->SessionOptionsAppendExecutionProvider(session, name.c_str(), list.keys.data(), list.values.data(),
                                                                   list.keys.size()),
                   provider);
}

}  // namespace aaco::runner::ort
