#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/handles.h"
#include "core/result.h"
#include "laboratory/gpu.h"

namespace aaco::laboratory::gpu {

// The part of the CUDA driver API and of the HIP runtime that is used here, declared by us: names, numbers and parameters are the
// published ABI. The two agree but for the functions below the line; a device pointer is an integer of 64 bits in both.
using DevicePointer = std::uint64_t;
using Opaque = void*;  // a stream, an event, a module, a function, a graph, a context

inline constexpr int kSuccess = 0, kOutOfMemory = 2, kNotReady = 600, kPeerAlreadyEnabled = 704;
inline constexpr unsigned kEventsTimed = 0;

struct Attributes {
  int units, lanes, clock_khz, cache_bytes, major, minor, memory_clock_khz, bus_bits;
};

struct DriverApi {
  GpuRuntime runtime = GpuRuntime::cuda;
  core::SharedLibrary library;
  Attributes attributes{};

  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_pci)(char*, int, int) = nullptr;
  int (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  int (*allocate)(DevicePointer*, std::size_t) = nullptr;
  int (*release)(DevicePointer) = nullptr;
  int (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
  int (*host_release)(void*) = nullptr;
  int (*to_device)(DevicePointer, const void*, std::size_t, Opaque) = nullptr;
  int (*to_host)(void*, DevicePointer, std::size_t, Opaque) = nullptr;
  int (*on_device)(DevicePointer, DevicePointer, std::size_t, Opaque) = nullptr;
  int (*module_load)(Opaque*, const void*) = nullptr;
  int (*module_unload)(Opaque) = nullptr;
  int (*module_function)(Opaque*, Opaque, const char*) = nullptr;
  int (*launch)(Opaque, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Opaque, void**, void**) = nullptr;
  int (*stream_create)(Opaque*, unsigned) = nullptr;
  int (*stream_destroy)(Opaque) = nullptr;
  int (*event_create)(Opaque*, unsigned) = nullptr;
  int (*event_destroy)(Opaque) = nullptr;
  int (*event_record)(Opaque, Opaque) = nullptr;
  int (*event_query)(Opaque) = nullptr;
  int (*event_elapsed)(float*, Opaque, Opaque) = nullptr;
  int (*can_access_peer)(int*, int, int) = nullptr;
  // Null in older runtimes.
  int (*begin_capture)(Opaque, int) = nullptr;
  int (*end_capture)(Opaque, Opaque*) = nullptr;
  int (*graph_instantiate)(Opaque*, Opaque, unsigned long long) = nullptr;
  int (*graph_launch)(Opaque, Opaque) = nullptr;
  int (*graph_exec_destroy)(Opaque) = nullptr;
  int (*graph_destroy)(Opaque) = nullptr;

  // Of CUDA alone.
  int (*context_retain)(Opaque*, int) = nullptr;
  int (*context_set)(Opaque) = nullptr;
  int (*context_enable_peer)(Opaque, unsigned) = nullptr;
  int (*peer_copy_contexts)(DevicePointer, Opaque, DevicePointer, Opaque, std::size_t, Opaque) = nullptr;
  int (*cuda_error_text)(int, const char**) = nullptr;
  // Of HIP alone.
  int (*set_device)(int) = nullptr;
  int (*device_enable_peer)(int, unsigned) = nullptr;
  int (*peer_copy_devices)(DevicePointer, int, DevicePointer, int, std::size_t, Opaque) = nullptr;
  const char* (*hip_error_text)(int) = nullptr;

  [[nodiscard]] std::string text(int error) const;
  [[nodiscard]] bool has_graphs() const;
};

// Whether a status says that the device, or this process' use of it, is lost: nothing works after it.
bool is_fatal(int status);

// Opens the library and initialises it. Unsupported, with a remedy, where it, one of its functions or the driver is missing.
core::Result<DriverApi> open_driver(GpuRuntime runtime);

// Names the folder that the runtimes and the vendors' libraries are taken from, and no other.
inline constexpr const char* kLibrariesVariable = "AACO_GPU_LIBRARIES";

// The first of these names that the loader finds, else the first in the vendor's usual folder. The error names them all.
core::Result<core::SharedLibrary> open_vendor_library(GpuRuntime runtime, std::initializer_list<const char*> names);

}  // namespace aaco::laboratory::gpu
