#include <fmt/format.h>

#include <map>

#include "core/strings.h"
#include "laboratory/gpu/kernels.h"

// HIP C++ for hipRTC, which has the language and its built-in functions but no headers: types of 16 bits and the functions of the
// operators are written out here, as in ptx.cc.
namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;

constexpr std::string_view kPrelude = R"(
typedef unsigned int word;
typedef unsigned long long wide;
typedef unsigned int words __attribute__((ext_vector_type(4)));
static inline __device__ float of_bits(word bits) { return __builtin_bit_cast(float, bits); }
static inline __device__ word bits_of(float value) { return __builtin_bit_cast(word, value); }
struct bf16 { unsigned short bits; };
static inline __device__ float widen(float value) { return value; }
static inline __device__ float widen(_Float16 value) { return (float)value; }
static inline __device__ float widen(bf16 value) { return of_bits((word)value.bits << 16); }
static inline __device__ void narrow(float value, float* to) { *to = value; }
static inline __device__ void narrow(float value, _Float16* to) { *to = (_Float16)value; }
static inline __device__ void narrow(float value, bf16* to) {
  const word bits = bits_of(value);
  to->bits = (unsigned short)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
static inline __device__ float e_to(float x) { return __builtin_exp2f(x * 1.442695f); }
static inline __device__ float error_function(float x) {
  const float size = __builtin_fabsf(x), t = 1.0f / (1.0f + 0.3275911f * size);
  const float sum = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return __builtin_copysignf(1.0f - sum * e_to(-size * size), x);
}
)";

const std::map<std::string, std::string>& hip_operators() {
  static const std::map<std::string, std::string> kOperators{{"add", "a + b"},
                                                             {"sub", "a - b"},
                                                             {"mul", "a * b"},
                                                             {"div", "a / b"},
                                                             {"relu", "a > 0 ? a : 0"},
                                                             {"sqrt", "__builtin_sqrtf(a)"},
                                                             {"exp", "e_to(a)"},
                                                             {"sigmoid", "1.0f / (1.0f + e_to(-a))"},
                                                             {"tanh", "1.0f - 2.0f / (1.0f + e_to(2.0f * a))"},
                                                             {"erf", "error_function(a)"},
                                                             {"gelu", "0.5f * a * (1.0f + error_function(a * 0.70710678f))"}};
  return kOperators;
}

constexpr std::string_view kFill = R"(
extern "C" __global__ void work(word* out, word n, word and0, word or0, word and1, word or1) {
  const word i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  word hash = i * 0x9E3779B1u;
  hash = (hash ^ (hash >> 15)) * 0x85EBCA77u;
  hash ^= hash >> 13;
  out[i] = (i & 1) ? (hash & and1) | or1 : (hash & and0) | or0;
}
)";

constexpr std::string_view kElementwise = R"(
struct vector { T items[16 / sizeof(T)]; };
extern "C" __global__ void work(const vector* x, const vector* y, vector* out, word n) {
  const word i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const vector left = x[i];
  vector right = left, result;
  if (BINARY) right = y[i];
  for (int k = 0; k < (int)(16 / sizeof(T)); ++k) {
    const float a = widen(left.items[k]), b = widen(right.items[k]);
    (void)b;
    narrow(OPERATION, &result.items[k]);
  }
  out[i] = result;
}
)";

constexpr std::string_view kRow = R"(
static inline __device__ float add(float a, float b) { return a + b; }
static inline __device__ float highest(float a, float b) { return a > b ? a : b; }
template <float (*combine)(float, float)>
static inline __device__ float of_block(float value, float* parts) {
  __syncthreads();
  parts[threadIdx.x] = value;
  for (word apart = 128; apart > 0; apart /= 2) {
    __syncthreads();
    if (threadIdx.x < apart) parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + apart]);
  }
  __syncthreads();
  return parts[0];
}
extern "C" __global__ void work(const T* x, T* out, word cols) {
  __shared__ float parts[256];
  x += (wide)blockIdx.x * cols;
  float total = HIGHEST ? -3.4e38f : 0.0f, squares = 0.0f;
  for (word i = threadIdx.x; i < cols; i += 256) {
    const float value = widen(x[i]);
    total = HIGHEST ? highest(total, value) : total + value;
    squares += value * value;
  }
  total = HIGHEST ? of_block<highest>(total, parts) : of_block<add>(total, parts);
  if (RESULT == 2) {
    if (threadIdx.x == 0) narrow(MEAN ? total / (float)cols : total, &out[blockIdx.x]);
    return;
  }
  out += (wide)blockIdx.x * cols;
  if (RESULT == 1) {
    const float mean = total / (float)cols, scale = 1.0f / __builtin_sqrtf(of_block<add>(squares, parts) / (float)cols - mean * mean + 1e-5f);
    for (word i = threadIdx.x; i < cols; i += 256) narrow((widen(x[i]) - mean) * scale, &out[i]);
    return;
  }
  float sum = 0.0f;
  for (word i = threadIdx.x; i < cols; i += 256) sum += e_to(widen(x[i]) - total);
  sum = 1.0f / of_block<add>(sum, parts);
  for (word i = threadIdx.x; i < cols; i += 256) narrow(e_to(widen(x[i]) - total) * sum, &out[i]);
}
)";

constexpr std::string_view kTranspose = R"(
extern "C" __global__ void work(const T* x, T* out, word rows, word cols) {
  __shared__ T tile[32][33];
  const word left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (word y = threadIdx.y; y < 32; y += 8)
    if (top + y < rows && left + threadIdx.x < cols) tile[y][threadIdx.x] = x[(wide)(top + y) * cols + left + threadIdx.x];
  __syncthreads();
  for (word y = threadIdx.y; y < 32; y += 8)
    if (left + y < cols && top + threadIdx.x < rows) out[(wide)(left + y) * rows + top + threadIdx.x] = tile[threadIdx.x][y];
}
)";

constexpr std::string_view kConcat = R"(
extern "C" __global__ void work(const T* x, const T* y, T* out, word cols, word n) {
  const word i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const word row = i / (2 * cols), at = i - row * 2 * cols;
  out[i] = at < cols ? x[(wide)row * cols + at] : y[(wide)row * cols + at - cols];
}
)";

constexpr std::string_view kGather = R"(
extern "C" __global__ void work(const T* table, const word* which, T* out, word cols, word n, word limit) {
  const word i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const word row = i / cols;
  out[i] = table[(wide)(which[row] % limit) * cols + (i - row * cols)];
}
)";

constexpr std::string_view kRead = R"(
extern "C" __global__ void work(const words* x, word* out, word n, word passes) {
  const word first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  word sum = 0;
  for (; passes > 0; --passes)
    for (word i = first; i < n; i += 4 * step) {
      words parts[4];
      for (int k = 0; k < 4; ++k) parts[k] = (words)0u;
      for (int k = 0; k < 4; ++k)
        if (i + k * step < n) parts[k] = *(const volatile words*)(x + i + k * step);
      for (int k = 0; k < 4; ++k) sum ^= parts[k].x ^ parts[k].y ^ parts[k].z ^ parts[k].w;
    }
  if (sum == 0x5A5A1234u) *out = sum;
}
)";

constexpr std::string_view kMultiplyAdd = R"(
extern "C" __global__ void work(V* out, word rounds) {
  V chains[8];
  const V scale = (V)SCALE, shift = (V)0.001;
  for (int k = 0; k < 8; ++k) chains[k] = (V)(E)(threadIdx.x + k) * (V)0.001;
  for (; rounds > 0; --rounds)
#pragma unroll
    for (int step = 0; step < 8; ++step)
#pragma unroll
      for (int k = 0; k < 8; ++k) chains[k] = __builtin_elementwise_fma(chains[k], scale, shift);
  V sum = chains[0];
  for (int k = 1; k < 8; ++k) sum += chains[k];
  if (AT(sum) == (E)-1) *out = sum;
}
)";

std::string type_line(const std::string& dtype) {
  return fmt::format("typedef {} T;\n", dtype == "float32" ? "float" : dtype == "float16" ? "_Float16" : "bf16");
}

std::string hip_row(const KernelSource& source) {
  const bool reduces = source.op.starts_with("reduce_");
  return fmt::format("#define HIGHEST {}\n#define RESULT {}\n#define MEAN {}\n",
                     source.op == "softmax" || source.op == "reduce_max" ? 1 : 0,
                     reduces             ? 2
                     : source.op == "ln" ? 1
                                         : 0,
                     source.op == "reduce_mean" ? 1 : 0) +
         std::string(kRow);
}

std::string hip_multiply_add(const KernelSource& source) {
  const bool pairs = source.dtype == "float16";
  const std::string element = source.dtype == "float64" ? "double" : source.dtype == "float32" ? "float" : "_Float16";
  std::string text = fmt::format("typedef {} E;\n", element);
  text += pairs ? "typedef E V __attribute__((ext_vector_type(2)));\n#define AT(v) (v).x\n#define SCALE 0.99\n"
                : "typedef E V;\n#define AT(v) (v)\n#define SCALE 0.9999\n";
  // Older compilers have no elementwise multiply-add.
  const std::string plain = core::replace_all(std::string(kMultiplyAdd), "__builtin_elementwise_fma(chains[k], scale, shift)",
                                              "chains[k] * scale + shift");
  return "#pragma clang fp contract(fast)\n" + text + plain;
}

}  // namespace

core::Result<std::string> hip_source_of(const KernelSource& source) {
  const std::string start(kPrelude);
  if (source.kind == KernelKind::fill) return start + std::string(kFill);
  if (source.kind == KernelKind::read) return start + std::string(kRead);
  if (source.kind == KernelKind::multiply_add) {
    // No packed instruction of bfloat16 before gfx950.
    if (source.dtype != "float64" && source.dtype != "float32" && source.dtype != "float16")
      return core::fail(ErrorCode::unsupported, "no multiply-add of " + source.dtype + " on vectors");
    return start + hip_multiply_add(source);
  }
  if (lanes_of(source.dtype) == 0)
    return core::fail(ErrorCode::unsupported, "no kernel of " + source.dtype + " for this operator");
  const std::string typed = start + type_line(source.dtype);
  if (source.kind == KernelKind::transpose) return typed + std::string(kTranspose);
  if (source.kind == KernelKind::concat) return typed + std::string(kConcat);
  if (source.kind == KernelKind::gather) return typed + std::string(kGather);
  if (source.kind == KernelKind::row && is_row(source.op)) return typed + hip_row(source);
  if (source.kind == KernelKind::elementwise && hip_operators().contains(source.op))
    return typed +
           fmt::format("#define OPERATION ({})\n#define BINARY {}\n", hip_operators().at(source.op),
                       is_binary(source.op) ? 1 : 0) +
           std::string(kElementwise);
  return core::fail(ErrorCode::unsupported, "no kernel for operator '" + source.op + "'");
}

}  // namespace aaco::laboratory::gpu
