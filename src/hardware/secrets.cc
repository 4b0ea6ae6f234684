#include "hardware/secrets.h"

#include <algorithm>
#include <iterator>

#include "hardware/secrets/names.h"
#include "hardware/secrets/openmp.h"

namespace aaco::hardware {
namespace {

// What changes speed or behaviour of a workload, or says where it runs.
constexpr std::string_view kPrefixes[] = {
    "AACO_",     "ORT_",      "ONNX_",     "OMP_",       "KMP_",      "GOMP_",   "MKL_",      "OPENBLAS_",     "BLIS_",
    "DNNL_",     "ONEDNN_",   "HIP_",      "HSA_",       "ROCR_",     "ROCM_",   "ROCBLAS_",  "HIPBLAS",       "ROCPROF",
    "ROCTX_",    "MIOPEN_",   "MIGRAPHX_", "TENSILE_",   "AMD_",      "AMDGPU_", "GPU_",      "CUDA_",         "CUDNN_",
    "CUBLAS_",   "NVIDIA_",   "NCCL_",     "RCCL_",      "UCX_",      "FI_",     "TORCH_",    "PYTORCH_",      "TORCHINDUCTOR_",
    "TF_",       "XLA_",      "JAX_",      "TRITON_",    "AITER_",    "VLLM_",   "SGLANG_",   "TRANSFORMERS_", "SLURM_",
    "PMI_",      "PMIX_",     "OMPI_",     "MV2_",       "PBS_",      "LSB_",    "FLUX_",     "MALLOC_",       "MIMALLOC_",
    "JEMALLOC_", "TCMALLOC_", "LD_BIND_",  "PYTHONHASH", "PYTHONOPT", "TBB_",    "OPENVINO_", "TENSORRT_",     "WEBGPU_"};
constexpr std::string_view kNames[] = {"RANK",
                                       "WORLD_SIZE",
                                       "LOCAL_RANK",
                                       "LOCAL_WORLD_SIZE",
                                       "GROUP_RANK",
                                       "NODE_RANK",
                                       "LD_LIBRARY_PATH",
                                       "LD_PRELOAD",
                                       "GLIBC_TUNABLES",
                                       "NUMEXPR_NUM_THREADS",
                                       "VECLIB_MAXIMUM_THREADS",
                                       "TOKENIZERS_PARALLELISM",
                                       "POD_NAME",
                                       "POD_NAMESPACE",
                                       "VIRTUAL_ENV",
                                       "CONDA_DEFAULT_ENV",
                                       "LANG"};

bool listed(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_secret(std::string_view name, const std::string& value) {
  if (name.starts_with("OMP_") && !secrets::may_be_openmp_setting(name, value)) return true;
  return secrets::must_remove(secrets::kind_of_name(name), value) || secrets::clean_words({value}).removed > 0;
}

}  // namespace

core::Environment without_secrets(const core::Environment& environment) {
  core::Environment clean;
  for (const auto& [name, value] : environment.all()) clean.set(name, is_secret(name, value) ? std::string(kRemoved) : value);
  return clean;
}

FilteredEnvironment filter_environment(const core::Environment& environment) {
  FilteredEnvironment filtered;
  for (const auto& [name, value] : environment.all()) {
    if (!listed(name)) {
      ++filtered.unlisted;
    } else if (is_secret(name, value)) {
      ++filtered.removed;
      filtered.variables.emplace_back(name, kRemoved);
    } else {
      filtered.variables.emplace_back(name, value);
    }
  }
  return filtered;
}

secrets::CleanWords clean_command(const std::vector<std::string>& arguments) { return secrets::clean_words(arguments); }

std::vector<std::string> without_secrets(const std::vector<std::string>& arguments) { return clean_command(arguments).words; }

}  // namespace aaco::hardware
