#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

// The functions that are recorded, from functions.inc: facts of the public headers of each library.
namespace aaco::hooks {

enum class Group : std::uint8_t { hip, cuda_runtime, cuda_driver, hipblas, cublas, miopen, cudnn, rccl };
inline constexpr std::size_t kGroups = 8;
inline constexpr std::uint32_t kRuntimeGroups = 0b111;  // recorded always; the others by choice

// What a call does.
enum class Role : std::uint8_t {
  launch,
  graph_launch,
  copy,        // blocking
  copy_async,  // by a stream
  fill,
  fill_async,
  alloc,  // returns the pointer through its first argument
  alloc_async,
  host_alloc,
  free,
  free_async,
  host_free,
  sync_device,
  sync_stream,
  sync_event,
  query,
  event_record,
  stream_wait,
  stream,
  event,
  graph,
  module,
  set_device,
  get_function,       // (function*, module, name)
  register_function,  // (handle, host function, device function, name, ...): only the name is recorded
  get_kernel,         // (kernel*, host function): only that they are the same kernel is recorded
  lookup,             // (name, function*, ...): answers an address
  compute,            // of a library on a stream or handle
  collective,
  other,
};

enum class Direction : std::uint8_t { none, by_argument, h2d, d2h, d2d };

inline constexpr std::size_t kConfigStream = 32;  // bytes: after two dim3 and the size of the shared memory

struct Function {
  const char* name;
  Group group;
  Role role;
  std::uint8_t words;                       // arguments in words of 8 bytes, structures by value counted in words
  std::int8_t stream, bytes, subject, aux;  // index of the word; -1: none
  // stream -2: in the launch configuration that the first word points to, at kConfigStream
  Direction direction;  // of a copy
};

inline constexpr Function kFunctions[] = {
#define AACO_HOOK(name, group, role, words, stream, bytes, subject, aux, direction) \
  {#name, Group::group, Role::role, words, stream, bytes, subject, aux, Direction::direction},
#include "hooks/functions.inc"
#undef AACO_HOOK
};
inline constexpr std::size_t kFunctionCount = std::size(kFunctions);

// As profilers name it: __cudaLaunchKernel, which compilers of CUDA 13 call, is cudaLaunchKernel.
constexpr std::string_view shown_name(const Function& function) {
  const std::string_view name = function.name;
  return name.starts_with("__") ? name.substr(2) : name;
}

}  // namespace aaco::hooks
