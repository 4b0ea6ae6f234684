#include "laboratory/gpu/driver_api.h"

#include <array>
#include <vector>

#include "core/environment.h"
#include "core/files.h"
#include "core/strings.h"

namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

// CUdevice_attribute; hipDeviceAttribute_t since ROCm 4.3.
constexpr Attributes kCudaNumbers{16, 10, 13, 38, 75, 76, 36, 37};
constexpr Attributes kHipNumbers{63, 87, 5, 19, 23, 61, 60, 59};

struct Loader {
  const core::SharedLibrary& library;
  bool cuda;
  std::string missing;

  template <class Function>
  void optional(Function& function, const char* cuda_name, const char* hip_name) const {
    const char* const name = cuda ? cuda_name : hip_name;
    if (name != nullptr) function = library.function<Function>(name);
  }
  template <class Function>
  void required(Function& function, const char* cuda_name, const char* hip_name) {
    optional(function, cuda_name, hip_name);
    const char* const name = cuda ? cuda_name : hip_name;
    if (name != nullptr && function == nullptr && missing.empty()) missing = name;
  }
};

void load_device_functions(Loader& load, DriverApi& api) {
  load.required(api.init, "cuInit", "hipInit");
  load.required(api.version, "cuDriverGetVersion", "hipRuntimeGetVersion");
  load.required(api.device_count, "cuDeviceGetCount", "hipGetDeviceCount");
  load.required(api.device_get, "cuDeviceGet", "hipDeviceGet");
  load.required(api.device_name, "cuDeviceGetName", "hipDeviceGetName");
  load.required(api.device_memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem");
  load.required(api.device_attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute");
  load.optional(api.device_pci, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId");
  load.optional(api.can_access_peer, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer");
  load.required(api.context_retain, "cuDevicePrimaryCtxRetain", nullptr);
  load.required(api.context_set, "cuCtxSetCurrent", nullptr);
  load.optional(api.context_enable_peer, "cuCtxEnablePeerAccess", nullptr);
  load.optional(api.cuda_error_text, "cuGetErrorString", nullptr);
  load.required(api.set_device, nullptr, "hipSetDevice");
  load.optional(api.device_enable_peer, nullptr, "hipDeviceEnablePeerAccess");
  load.optional(api.hip_error_text, nullptr, "hipGetErrorString");
}

void load_memory_functions(Loader& load, DriverApi& api) {
  load.required(api.memory_info, "cuMemGetInfo_v2", "hipMemGetInfo");
  load.required(api.allocate, "cuMemAlloc_v2", "hipMalloc");
  load.required(api.release, "cuMemFree_v2", "hipFree");
  load.required(api.host_allocate, "cuMemHostAlloc", "hipHostMalloc");
  load.required(api.host_release, "cuMemFreeHost", "hipHostFree");
  load.required(api.to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync");
  load.required(api.to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync");
  load.required(api.on_device, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync");
  load.optional(api.peer_copy_contexts, "cuMemcpyPeerAsync", nullptr);
  load.optional(api.peer_copy_devices, nullptr, "hipMemcpyPeerAsync");
}

void load_work_functions(Loader& load, DriverApi& api) {
  load.required(api.module_load, "cuModuleLoadData", "hipModuleLoadData");
  load.required(api.module_unload, "cuModuleUnload", "hipModuleUnload");
  load.required(api.module_function, "cuModuleGetFunction", "hipModuleGetFunction");
  load.required(api.launch, "cuLaunchKernel", "hipModuleLaunchKernel");
  load.required(api.stream_create, "cuStreamCreate", "hipStreamCreateWithFlags");
  load.required(api.stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy");
  load.required(api.event_create, "cuEventCreate", "hipEventCreateWithFlags");
  load.required(api.event_destroy, "cuEventDestroy_v2", "hipEventDestroy");
  load.required(api.event_record, "cuEventRecord", "hipEventRecord");
  load.required(api.event_query, "cuEventQuery", "hipEventQuery");
  load.optional(api.event_elapsed, "cuEventElapsedTime", nullptr);
  if (api.event_elapsed == nullptr) load.required(api.event_elapsed, "cuEventElapsedTime_v2", "hipEventElapsedTime");
  load.optional(api.begin_capture, "cuStreamBeginCapture_v2", "hipStreamBeginCapture");
  load.optional(api.end_capture, "cuStreamEndCapture", "hipStreamEndCapture");
  load.optional(api.graph_instantiate, "cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags");
  load.optional(api.graph_launch, "cuGraphLaunch", "hipGraphLaunch");
  load.optional(api.graph_exec_destroy, "cuGraphExecDestroy", "hipGraphExecDestroy");
  load.optional(api.graph_destroy, "cuGraphDestroy", "hipGraphDestroy");
}

core::Result<core::SharedLibrary> open_runtime(GpuRuntime runtime) {
  if (runtime == GpuRuntime::cuda) return open_vendor_library(runtime, {"libcuda.so.1"});
  return open_vendor_library(runtime, {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
}

const char* remedy_of(GpuRuntime runtime) {
  return runtime == GpuRuntime::cuda ? "if the machine has an NVIDIA GPU: install its driver, which has libcuda.so.1"
                                     : "if the machine has an AMD GPU: install the HIP runtime of ROCm (package hip-runtime-amd)";
}

}  // namespace

std::string DriverApi::text(int error) const {
  const char* words = nullptr;
  if (cuda_error_text != nullptr && cuda_error_text(error, &words) != kSuccess) words = nullptr;
  if (hip_error_text != nullptr) words = hip_error_text(error);
  return (words != nullptr ? std::string(words) + " (" : std::string("error (")) + std::to_string(error) + ")";
}

bool DriverApi::has_graphs() const {
  return begin_capture != nullptr && end_capture != nullptr && graph_instantiate != nullptr && graph_launch != nullptr &&
         graph_exec_destroy != nullptr && graph_destroy != nullptr;
}

bool is_fatal(int status) {
  // Unavailable, ECC; illegal address, launch time-out, destroyed context, and what a failing kernel leaves behind; unknown.
  constexpr std::array kFatal{46, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999};
  for (const int fatal : kFatal)
    if (status == fatal) return true;
  return false;
}

core::Result<core::SharedLibrary> open_vendor_library(GpuRuntime runtime, std::initializer_list<const char*> names) {
  const auto named = core::Environment::of_process().get(kLibrariesVariable);
  std::vector<std::string> paths;
  if (!named) paths.assign(names.begin(), names.end());
  const std::string folder = named ? *named : runtime == GpuRuntime::cuda ? "/usr/local/cuda/lib64" : "/opt/rocm/lib";
  for (const char* name : names) paths.push_back(core::join_path(folder, name));
  std::string words;
  for (const std::string& path : paths) {
    auto opened = core::SharedLibrary::open(path);
    if (opened) return opened;
    // The loader's own words, unless they only say that there is no such file.
    if (opened.error().message.find("No such file") == std::string::npos) words = opened.error().message;
  }
  if (words.empty())
    words =
        core::join(std::vector<std::string>(names.begin(), names.end()), ", ") + " not found" + (named ? " in " + folder : "");
  return core::fail(ErrorCode::unsupported, words);
}

core::Result<DriverApi> open_driver(GpuRuntime runtime) {
  auto opened = open_runtime(runtime);
  if (!opened) return core::fail(ErrorCode::unsupported, opened.error().message, remedy_of(runtime));
  DriverApi api{.runtime = runtime, .library = *opened, .attributes = runtime == GpuRuntime::cuda ? kCudaNumbers : kHipNumbers};
  Loader load{api.library, runtime == GpuRuntime::cuda, {}};
  load_device_functions(load, api);
  load_memory_functions(load, api);
  load_work_functions(load, api);
  if (!load.missing.empty())
    return core::fail(ErrorCode::unsupported, api.library.path() + " has no function " + load.missing,
                      runtime == GpuRuntime::cuda ? "install a driver of CUDA 11 or newer" : "install ROCm 5 or newer");
  if (const int status = api.init(0); status != kSuccess)
    return core::fail(ErrorCode::unsupported, api.library.path() + " does not initialize: " + api.text(status),
                      "check that the driver is loaded and that /dev/" +
                          std::string(runtime == GpuRuntime::cuda ? "nvidia*" : "kfd") + " may be opened");
  return api;
}

}  // namespace aaco::laboratory::gpu
