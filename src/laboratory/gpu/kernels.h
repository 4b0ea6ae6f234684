#pragma once

#include <string>

#include "core/result.h"
#include "laboratory/gpu/device.h"

namespace aaco::laboratory::gpu {

// Own kernels, each a module of its own with the function "work". Row kernels have a block of kRowThreads a row, the others of
// kThreads a part; LaunchSize is the caller's.
enum class KernelKind {
  fill,         // (out, words, and0, or0, and1, or1): hashed words, even ones masked by the first pair, odd ones by the second
  elementwise,  // (x, y, out, vectors): 16 bytes a thread
  row,          // (x, out, cols): softmax, ln, reduce_sum, reduce_mean, reduce_max; a block a row
  transpose,    // (x, out, rows, cols): tiles of 32 by 32, 8 rows of threads
  concat,       // (x, y, out, cols, elements): columns of x, then of y; an element of the result a thread
  gather,       // (table, which, out, cols, elements, rows of the table): an element of the result a thread
  read,         // (x, out, vectors, passes): reads all of x so often, 16 bytes a thread at a time
  multiply_add  // (out, rounds): kMultiplyAdds a thread and round
};
inline constexpr unsigned kThreads = 256, kTile = 32, kTileRows = 8;
inline constexpr int kMultiplyAdds = 64;  // of float32 or float64; pairs of 16-bit types

struct KernelSource {
  KernelKind kind = KernelKind::elementwise;
  std::string op;     // "add"; of rows "softmax"
  std::string dtype;  // float32, float16, bfloat16; float64 of multiply_add
};

// PTX text for the driver's assembler, of the oldest version that has the instructions. Unsupported: an operator or a type that
// these kernels do not have.
core::Result<std::string> ptx_of(const KernelSource& source);
// HIP C++ for hipRTC; see there.
core::Result<std::string> hip_source_of(const KernelSource& source);

// Whether `op` is an operator of that kind.
bool is_unary(const std::string& op);
bool is_binary(const std::string& op);
bool is_row(const std::string& op);
// Elements of `dtype` in 16 bytes; 0: not a type of these kernels.
int lanes_of(const std::string& dtype);

// Compiles it for the device and loads it.
core::Result<Kernel> make_kernel(Device& device, const KernelSource& source);

}  // namespace aaco::laboratory::gpu
