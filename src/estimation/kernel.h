#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"

// One piece of device work as the estimators see it: what is computed, in which shape and type, and how much work that is.
namespace aaco::estimation {

// C[m x n] = A[m x k] B[k x n], `batch` times.
struct GemmShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool operator==(const GemmShape&) const = default;
};

// Input n x c x h x w, k filters of c / groups x r x s.
struct ConvolutionShape {
  std::int64_t n = 1, c = 0, h = 0, w = 0, k = 0, r = 1, s = 1;
  std::int64_t pad_h = 0, pad_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1;
  bool channels_last = false;
  [[nodiscard]] std::int64_t out_h() const { return (h + 2 * pad_h - dilation_h * (r - 1) - 1) / stride_h + 1; }
  [[nodiscard]] std::int64_t out_w() const { return (w + 2 * pad_w - dilation_w * (s - 1) - 1) / stride_w + 1; }
  bool operator==(const ConvolutionShape&) const = default;
};

// Prefill: `query` new tokens of each sequence attend to `past` + `query` (causal); decode: one new token attends to `past` + 1.
struct AttentionShape {
  bool prefill = true;
  std::int64_t batch = 1, query = 0, past = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::string kv_type;      // of the cache, as Kernel::type
  bool causal = true;       // else every query sees all keys, and `past` is negative where there are fewer keys than queries
  std::int64_t window = 0;  // keys that a query sees at most; 0: all
  bool operator==(const AttentionShape&) const = default;
};

// DeepSeek's attention on a latent cache (512 values and 64 rotated ones per token, shared by all heads), without its
// projections. Prefill is causal over `keys` tokens with heads of 192 and 128 values; decode has one new token per sequence, the
// last of `keys`.
struct LatentAttentionShape {
  bool prefill = true;
  std::int64_t batch = 1, heads = 0, query = 1, keys = 0;
  std::string kv_type;  // of the cache, as Kernel::type
  bool operator==(const LatentAttentionShape&) const = default;
};

// A layer of experts on one rank: routing and the grouped products. inter and experts are the layer's, which `tensor` and
// `expert` ranks divide.
struct ExpertsShape {
  std::int64_t tokens = 1, hidden = 0, inter = 0, experts = 1, per_token = 1;
  bool gated = true;  // three matrices, else two
  std::int64_t tensor = 1, expert = 1;
  double skew = 0;  // exponent of the power law by which tokens choose experts; 0: evenly
  bool operator==(const ExpertsShape&) const = default;
};

// What tokens bring to a rank: that choose evenly, or by a power law to the busiest.
struct ExpertLoad {
  double visits = 0;   // rows of all experts together
  double experts = 0;  // with at least one row, expected
};
ExpertLoad load_of(const ExpertsShape& shape);

// An exchange between ranks. bytes as nccl-tests counts them: of all_reduce a rank's buffer, of all_gather the result, of
// reduce_scatter the input, of all_to_all and send_recv what is sent.
struct CollectiveShape {
  std::string op;
  std::int64_t ranks = 2, ranks_per_node = 2;
  double bytes = 0;
  bool operator==(const CollectiveShape&) const = default;
};

// An elementwise, normalising or reducing operator over rows x cols elements ("add", "softmax", "ln", "gelu" ...).
struct VectorShape {
  std::string op;
  std::int64_t rows = 1, cols = 0;
  bool operator==(const VectorShape&) const = default;
};

// Anything else, by its work alone.
struct OtherShape {
  std::string op;
  double flops = 0, bytes = 0;
  bool operator==(const OtherShape&) const = default;
};

struct Kernel {
  std::variant<GemmShape, ConvolutionShape, AttentionShape, VectorShape, OtherShape, LatentAttentionShape, ExpertsShape,
               CollectiveShape>
      shape;
  // Element type as canonical_type() writes it: "fp32", "fp16", "bf16", "fp8", "int8", or one with a variant behind it
  // ("fp8_block", "a8w8_blockscale"): a library's own kernel family, calibrated apart.
  std::string type = "fp32";
  // Whose kernel it is where several take different times: "vllm:vllm_flash_attn", or a stack alone ("vllm"). Empty: not known.
  std::string program;
  bool operator==(const Kernel&) const = default;
};

// "gemm", "convolution", "attention" (prefill), "decode attention", "vector", "other", "latent attention", "decode latent
// attention", "experts", "collective": calibrations are kept by it.
std::string_view kind_of(const Kernel& kernel);
// Kinds whose time depends on the serving stack: calibrations number its kernels.
bool has_programs(std::string_view kind);

// "bfloat16", "BF16" -> "bf16"; "float32", "FP32" -> "fp32"; what is unknown in lower case.
std::string canonical_type(std::string_view name);
// What a product of a type is made of: "int8_wo" (weights of eight bits, widened to 16 on the way), "w4afp8" and their like have
// narrower weights than activations.
struct Operands {
  std::string computed;  // the element that is multiplied in, whose peak counts
  double bytes = 0, weight_bytes = 0;
};
// Empty where the name says none.
std::optional<Operands> operands_of(std::string_view type);
// The type whose ceiling counts: "fp8_block" -> "fp8", "a8w8_blockscale" -> "fp8", "int4_wo" -> "bf16"; empty where the name says
// none.
std::optional<std::string> element_of(std::string_view type);
// Bytes of an element of "fp32", "bf16", ...; empty where unknown.
std::optional<double> element_bytes(std::string_view element);

// A multiply-add is 2 operations; every operand is read once and every result written once. Of a convolution's input that is what
// its outputs need: a stride wider than the filter passes over the rest.
struct Work {
  double flops = 0;
  double bytes = 0;
  double cold_bytes = 0;  // of bytes, those that no cache can hold from one run to the next: weights of a model larger than it
};
// Refuses dimensions below 1, kernels larger than their padded input and unknown types, with invalid_input.
core::Result<Work> work_of(const Kernel& kernel);

}  // namespace aaco::estimation
