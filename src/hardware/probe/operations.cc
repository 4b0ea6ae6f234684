#include "hardware/probe/operations.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace aaco::hardware::probe {
namespace {

// The compiler may not see through: the values are in registers and unknown.
template <class Vector>
inline void keep(Vector& value) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(value));
#else
  asm volatile("" : "+w"(value));
#endif
}

// Enough independent chains to hide the latency of a multiply-add (4 to 5 clocks) on two ports.
constexpr int kChains = 12;

// A body of kChains accumulators, `STEP` on each; a macro because target attributes do not pass into lambdas and templates.
#define AACO_PROBE_LOOP(NAME, TARGET, VECTOR, ZERO, STEP)                       \
  __attribute__((target(TARGET))) void NAME(std::int64_t rounds) {              \
    VECTOR a = ZERO, b = ZERO;                                                  \
    VECTOR sum[kChains];                                                        \
    for (VECTOR & one : sum) one = ZERO;                                        \
    asm volatile("" : "+v"(a), "+v"(b));                                        \
    for (std::int64_t i = 0; i < rounds; ++i) {                                 \
      _Pragma("GCC unroll 12") for (int j = 0; j < kChains; ++j) sum[j] = STEP; \
    }                                                                           \
    for (VECTOR & one : sum) asm volatile("" : "+v"(one));                      \
  }

#if defined(__x86_64__)
AACO_PROBE_LOOP(float32_512, "avx512f", __m512, _mm512_setzero_ps(), _mm512_fmadd_ps(a, b, sum[j]))
AACO_PROBE_LOOP(float64_512, "avx512f", __m512d, _mm512_setzero_pd(), _mm512_fmadd_pd(a, b, sum[j]))
AACO_PROBE_LOOP(int8_512, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32(sum[j], a, b))
AACO_PROBE_LOOP(float32_256, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_fmadd_ps(a, b, sum[j]))
AACO_PROBE_LOOP(float64_256, "avx2,fma", __m256d, _mm256_setzero_pd(), _mm256_fmadd_pd(a, b, sum[j]))

// A template's 512-bit bfloat16 vectors have a type of their own, so this one is written out.
__attribute__((target("avx512f,avx512bf16"))) void bfloat16_512(std::int64_t rounds) {
  __m512i bits = _mm512_setzero_si512();
  asm volatile("" : "+v"(bits));
  const auto a = reinterpret_cast<__m512bh>(bits);
  __m512 sum[kChains];
  for (__m512& one : sum) one = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < rounds; ++i) {
    _Pragma("GCC unroll 12") for (int j = 0; j < kChains; ++j) sum[j] = _mm512_dpbf16_ps(sum[j], a, a);
  }
  for (__m512& one : sum) asm volatile("" : "+v"(one));
}
#endif

// What every processor has: 128-bit vectors, a multiplication and an addition.
using Singles = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));
template <class Vector>
void plain(std::int64_t rounds) {
  Vector a{}, b{};
  Vector sum[kChains]{};
  keep(a);
  keep(b);
  for (std::int64_t i = 0; i < rounds; ++i) {
    _Pragma("GCC unroll 12") for (int j = 0; j < kChains; ++j) {
      sum[j] = sum[j] * a + b;
      keep(sum[j]);
    }
  }
}

// Loads of the widest vectors there are, four at a time, so that neither additions nor the loop's own steps are what takes time.
using Line = std::uint64_t __attribute__((vector_size(64)));
#define AACO_PROBE_READ(NAME, ATTRIBUTE)                                                   \
  ATTRIBUTE std::uint64_t NAME(const void* from, std::int64_t bytes, std::int64_t times) { \
    constexpr int kStreams = 4;                                                            \
    Line sum[kStreams]{};                                                                  \
    const auto* data = static_cast<const Line*>(from);                                     \
    const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(Line));            \
    for (std::int64_t round = 0; round < times; ++round) {                                 \
      for (std::int64_t i = 0; i + kStreams <= count; i += kStreams) {                     \
        _Pragma("GCC unroll 4") for (int j = 0; j < kStreams; ++j) sum[j] ^= data[i + j];  \
      }                                                                                    \
      asm volatile("" ::: "memory");                                                       \
    }                                                                                      \
    const Line all = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];                                    \
    return all[0] ^ all[1] ^ all[2] ^ all[3] ^ all[4] ^ all[5] ^ all[6] ^ all[7];          \
  }
#if defined(__x86_64__)
AACO_PROBE_READ(read_512, __attribute__((target("avx512f"))))
AACO_PROBE_READ(read_256, __attribute__((target("avx2"))))
#endif
AACO_PROBE_READ(read_plain, )

constexpr std::int64_t operations(int lanes, int multiply_adds_a_lane = 1) {
  return std::int64_t{2} * lanes * multiply_adds_a_lane * kChains;
}

}  // namespace

VectorUnit widest_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    VectorUnit unit{"AVX-512", 512, {{"float64", operations(8), float64_512}, {"float32", operations(16), float32_512}}};
    if (__builtin_cpu_supports("avx512bf16")) unit.loops.push_back({"bfloat16", operations(16, 2), bfloat16_512});
    if (__builtin_cpu_supports("avx512vnni")) unit.loops.push_back({"int8", operations(16, 4), int8_512});
    return unit;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"AVX2", 256, {{"float64", operations(4), float64_256}, {"float32", operations(8), float32_256}}};
#endif
  return {"128-bit vectors", 128, {{"float64", operations(2), plain<Doubles>}, {"float32", operations(4), plain<Singles>}}};
}

// A 64-bit multiplication takes three clocks on every x86 of the last fifteen years (Agner Fog, instruction tables).
std::int64_t chain_clocks(std::int64_t rounds) {
#if defined(__x86_64__)
  return rounds * 3 * 8;
#else
  return 0 * rounds;
#endif
}

void run_chain(std::int64_t rounds) {
#if defined(__x86_64__)
  std::uint64_t value = 3;
  for (std::int64_t i = 0; i < rounds; ++i) {
    _Pragma("GCC unroll 8") for (int j = 0; j < 8; ++j) asm volatile("imul %0, %0" : "+r"(value));
  }
#else
  (void)rounds;
#endif
}

std::uint64_t read_all(const void* from, std::int64_t bytes, std::int64_t times) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_512(from, bytes, times);
  if (__builtin_cpu_supports("avx2")) return read_256(from, bytes, times);
#endif
  return read_plain(from, bytes, times);
}

}  // namespace aaco::hardware::probe
