#include "laboratory/trace_faults/activities.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace aaco::laboratory::trace_faults {
namespace {

struct OfFault {
  std::string_view fault;
  std::vector<Activity> activities;  // none: nothing but the length of the launch call shows
};

// One name for both runtimes.
Activity named(std::string_view domain, std::string_view name) { return {domain, name, name}; }
Activity runtime(std::string_view hip, std::string_view cuda) { return {{}, hip, cuda}; }

const std::vector<OfFault>& known() {
  static const std::vector<OfFault> list = {
      {"host_data_loader",
       {named("annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
        named("annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
        named("python", "torch/utils/data/dataloader.py(631): __next__"),
        named("python", "torch/utils/data/_utils/fetch.py(51): fetch"),
        named("python", "torchvision/transforms/functional.py(456): resize"), named("python", "PIL/ImageFile.py(220): load"),
        named("python", "datasets/formatting/formatting.py(658): format_table"),
        // Names that no pattern of data/gaps knows: what is said then must be less sure.
        named("python", "soundfile.py(1382): read"), named("python", "nibabel/loadsave.py(80): load"),
        named("python", "rasterio/io.py(120): read_window")}},
      {"host_garbage_collection",
       {named("python", "<built-in function collect>"), named("annotation", "Python GC"), named("python", "gc.collect")}},
      {"host_allocation",
       {runtime("hipMalloc", "cudaMalloc"), runtime("hipFree", "cudaFree"), runtime("hipHostMalloc", "cudaMallocHost"),
        runtime("hipHostFree", "cudaFreeHost"), runtime("hipMemMap", "cuMemMap")}},
      {"host_synchronous_copies", {runtime("hipMemcpy", "cudaMemcpy"), runtime("hipMemcpyWithStream", "cudaMemcpy2D")}},
      {"host_first_use",
       {runtime("hipModuleLoadData", "cuModuleLoadData"), runtime("hipModuleLoad", "cuLibraryLoadData"),
        runtime("hipModuleLoadDataEx", "cuModuleLoadDataEx"), runtime("hipModuleGetFunction", "cuModuleGetFunction")}},
      {"host_checkpoint",
       {named("python", "torch/serialization.py(850): save"), named("python", "safetensors/torch.py(250): save_file"),
        named("annotation", "save_checkpoint"), named("python", "numpy/lib/npyio.py(700): savez"),
        named("python", "tensorstore/__init__.py(90): write")}},
      {"host_logging",
       {named("python", "logging/__init__.py(1466): info"), named("python", "torch/utils/tensorboard/writer.py(330): add_scalar"),
        named("python", "<built-in function print>"),
        named("python", "<built-in method write of _io.TextIOWrapper object at 0x7f3c>"),
        named("python", "rich/live.py(200): refresh")}},
      {"host_compilation",
       {named("python", "torch/_inductor/codecache.py(2800): load"), named("python", "triton/compiler/compiler.py(226): compile"),
        named("python", "torch/_dynamo/convert_frame.py(980): __call__"), runtime("hiprtcCompileProgram", "nvrtcCompileProgram"),
        named("python", "cupy/cuda/compiler.py(550): compile_with_cache"),
        named("python", "tvm/driver/build_module.py(240): build")}},
      {"host_synchronisation",
       {runtime("hipDeviceSynchronize", "cudaDeviceSynchronize"), runtime("hipStreamSynchronize", "cudaStreamSynchronize"),
        runtime("hipEventSynchronize", "cudaEventSynchronize")}},
      {"host_blocked_launch", {}},
  };
  return list;
}

const OfFault* find(std::string_view fault) {
  const auto found = std::find_if(known().begin(), known().end(), [&](const OfFault& one) { return one.fault == fault; });
  return found == known().end() ? nullptr : &*found;
}

}  // namespace

bool has_activities(std::string_view fault) { return find(fault) != nullptr; }

const Activity* activity_of(std::string_view fault, std::uint64_t variant) {
  const OfFault* of = find(fault);
  return of == nullptr || of->activities.empty() ? nullptr : &of->activities[variant % of->activities.size()];
}

}  // namespace aaco::laboratory::trace_faults
