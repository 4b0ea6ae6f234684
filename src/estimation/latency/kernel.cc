#include "estimation/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/strings.h"
#include "estimation/expert_routing.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;

core::Status at_least_one(std::initializer_list<std::pair<std::string_view, std::int64_t>> dimensions) {
  for (const auto& [name, value] : dimensions)
    if (value < 1)
      return core::fail(ErrorCode::invalid_input,
                        std::string(name) + " is " + std::to_string(value) + ", but dimensions must be at least 1");
  return {};
}

core::Result<Operands> operands(std::string_view type) {
  auto known = operands_of(type);
  if (!known)
    return core::fail(ErrorCode::invalid_input, "unknown data type '" + std::string(type) + "'",
                      "use fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4 or int4, or a variant of one such as fp8_block");
  return *std::move(known);
}

core::Result<double> bytes_of_type(std::string_view type) {
  AACO_ASSIGN(const Operands known, operands(type));
  return known.bytes;
}

double d(std::int64_t value) { return static_cast<double>(value); }

// Products of eight bits and fewer are written as 16 bits by every library measured so far; others in their own type.
double result_bytes(double operand_bytes) { return std::max(operand_bytes, 2.0); }

core::Result<Work> work(const GemmShape& shape, std::string_view type) {
  AACO_TRY(at_least_one({{"batch", shape.batch}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}}));
  AACO_ASSIGN(const Operands in, operands(type));
  const double b = d(shape.batch), m = d(shape.m), n = d(shape.n), k = d(shape.k);
  return Work{2 * b * m * n * k, b * (m * k * in.bytes + n * k * in.weight_bytes + m * n * result_bytes(in.bytes))};
}

// Of so many rows or columns, those that some output needs: strides wider than the filter pass over the others.
double touched(std::int64_t size, std::int64_t filter, std::int64_t stride, std::int64_t outputs) {
  return filter < stride ? std::min(d(size), d(outputs) * d(filter)) : d(size);
}

core::Result<Work> work(const ConvolutionShape& s, std::string_view type) {
  AACO_TRY(at_least_one({{"n", s.n},
                         {"c", s.c},
                         {"h", s.h},
                         {"w", s.w},
                         {"k", s.k},
                         {"r", s.r},
                         {"s", s.s},
                         {"stride", s.stride_h},
                         {"stride", s.stride_w},
                         {"dilation", s.dilation_h},
                         {"dilation", s.dilation_w},
                         {"groups", s.groups}}));
  if (s.pad_h < 0 || s.pad_w < 0) return core::fail(ErrorCode::invalid_input, "the convolution's padding is negative");
  if (s.dilation_h * (s.r - 1) + 1 > s.h + 2 * s.pad_h || s.dilation_w * (s.s - 1) + 1 > s.w + 2 * s.pad_w)
    return core::fail(ErrorCode::invalid_input, "the convolution's filter is larger than its padded input, so it has no output");
  if (s.c % s.groups != 0 || s.k % s.groups != 0)
    return core::fail(ErrorCode::invalid_input, "the convolution's channels are not a multiple of its groups");
  AACO_ASSIGN(const Operands in, operands(type));
  const double outputs = d(s.n) * d(s.k) * d(s.out_h()) * d(s.out_w());
  const double filter = d(s.c / s.groups) * d(s.r) * d(s.s);
  const double inputs = d(s.n) * d(s.c) * touched(s.h, s.r, s.stride_h, s.out_h()) * touched(s.w, s.s, s.stride_w, s.out_w());
  return Work{2 * outputs * filter, inputs * in.bytes + d(s.k) * filter * in.weight_bytes + outputs * result_bytes(in.bytes)};
}

// Of queries that each see themselves and what is before them, at most `window` keys (0: all).
double causal_pairs(double query, double keys, double window) {
  const double all = query * (keys - (query - 1) / 2);
  if (!(window > 0) || keys <= window) return all;
  // Queries whose keys are fewer than the window, and the others.
  const double short_of = std::clamp(window - (keys - query) - 1, 0.0, query);
  return short_of * (keys - query) + short_of * (short_of + 1) / 2 + (query - short_of) * window;
}

// Two products, of queries with keys and of weights with values, over the pairs of tokens that see each other; the softmax
// between them is small beside them and left out. Q and the result, K and V are moved once.
core::Result<Work> work(const AttentionShape& s, std::string_view type) {
  AACO_TRY(at_least_one({{"batch", s.batch}, {"heads", s.heads}, {"kv_heads", s.kv_heads}, {"head_dim", s.head_dim}}));
  if (s.prefill) AACO_TRY(at_least_one({{"tokens", s.query}}));
  if (s.past < 0 && (s.causal || s.past + s.query < 1))
    return core::fail(ErrorCode::invalid_input, "attention: the number of cached tokens is negative");
  if (s.heads % s.kv_heads != 0)
    return core::fail(ErrorCode::invalid_input,
                      "attention: the number of heads is not a multiple of the number of key-value heads");
  AACO_ASSIGN(const double bytes, bytes_of_type(type));
  AACO_ASSIGN(const double kv_bytes, bytes_of_type(s.kv_type.empty() ? type : std::string_view(s.kv_type)));
  const double query = s.prefill ? d(s.query) : 1, keys = d(s.past) + query;
  if (s.window < 0) return core::fail(ErrorCode::invalid_input, "attention: the window is negative");
  const double pairs = s.causal ? causal_pairs(query, keys, d(s.window)) : query * keys;
  // A window's older keys are not read: of a decoding step all but the window, of a prompt those before its first query's.
  const double read = s.window > 0 ? std::min(keys, query + d(s.window) - 1) : keys;
  const double width = d(s.batch) * d(s.head_dim);
  return Work{4 * pairs * d(s.heads) * width,
              width * (query * d(s.heads) * (bytes + result_bytes(bytes)) + 2 * read * d(s.kv_heads) * kv_bytes)};
}

// Values per token of DeepSeek's cache and of its heads in a prefill (DeepSeek-V2, 2024, section 2.1).
constexpr double kLatent = 512, kRotary = 64, kKeyDim = 192, kValueDim = 128;

core::Result<Work> work(const LatentAttentionShape& s, std::string_view type) {
  AACO_TRY(at_least_one({{"batch", s.batch}, {"heads", s.heads}, {"q_len", s.query}, {"kv_len", s.keys}}));
  AACO_ASSIGN(const double bytes, bytes_of_type(type));
  AACO_ASSIGN(const double kv_bytes, bytes_of_type(s.kv_type.empty() ? type : std::string_view(s.kv_type)));
  const double query = s.prefill ? d(s.query) : 1, keys = std::max(d(s.keys), query);
  const double pairs = causal_pairs(query, keys, 0), heads = d(s.heads), batch = d(s.batch);
  if (s.prefill)
    return Work{
        2 * batch * heads * pairs * (kKeyDim + kValueDim),
        batch * heads * (query * (kKeyDim * bytes + kValueDim * result_bytes(bytes)) + keys * (kKeyDim + kValueDim) * bytes)};
  return Work{
      2 * batch * heads * pairs * (2 * kLatent + kRotary),
      batch * (keys * (kLatent + kRotary) * kv_bytes + heads * ((kLatent + kRotary) * bytes + kLatent * result_bytes(bytes)))};
}

core::Result<Work> work(const ExpertsShape& s, std::string_view type) {
  AACO_TRY(at_least_one({{"tokens", s.tokens},
                         {"hidden", s.hidden},
                         {"inter", s.inter},
                         {"experts", s.experts},
                         {"topk", s.per_token},
                         {"tp", s.tensor},
                         {"ep", s.expert}}));
  if (s.per_token > s.experts)
    return core::fail(ErrorCode::invalid_input, "more experts per token (topk) than there are experts");
  AACO_ASSIGN(const Operands in, operands(type));
  const ExpertLoad load = load_of(s);
  const double inner = d(s.inter) / d(s.tensor), matrices = s.gated ? 3 : 2;
  return Work{2 * matrices * load.visits * d(s.hidden) * inner,
              load.experts * matrices * d(s.hidden) * inner * in.weight_bytes +
                  load.visits * (2 * d(s.hidden) + matrices * inner) * result_bytes(in.bytes)};
}

core::Result<Work> work(const CollectiveShape& s, std::string_view) {
  AACO_TRY(at_least_one({{"ranks_per_node", s.ranks_per_node}}));
  if (s.ranks < 2) return core::fail(ErrorCode::invalid_input, "a collective requires at least 2 ranks");
  if (!(s.bytes > 0) || !std::isfinite(s.bytes))
    return core::fail(ErrorCode::invalid_input, "the bytes of '" + s.op + "' are not a positive number");
  // What a rank sends in a ring (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations, 2005).
  const double share = (d(s.ranks) - 1) / d(s.ranks);
  if (s.op == "send_recv") return Work{0, s.bytes};
  return Work{0, s.bytes * share * (s.op.ends_with("reduce") ? 2 : 1)};
}

// Operations an element takes, counted as on a unit with a multiply-add and an exponential of a few; and how many operands it
// reads. What is not listed counts as one operation on one operand.
struct VectorOp {
  std::string_view name;
  double flops;
  double reads;
};
constexpr std::array kVectorOps{
    VectorOp{"add", 1, 2},        VectorOp{"sub", 1, 2},      VectorOp{"mul", 1, 2},     VectorOp{"div", 1, 2},
    VectorOp{"pow", 10, 2},       VectorOp{"relu", 1, 1},     VectorOp{"tanh", 8, 1},    VectorOp{"gelu", 10, 1},
    VectorOp{"sigmoid", 6, 1},    VectorOp{"exp", 4, 1},      VectorOp{"softmax", 8, 1}, VectorOp{"ln", 8, 1},
    VectorOp{"layer_norm", 8, 1}, VectorOp{"rms_norm", 5, 1}, VectorOp{"copy", 0, 1},
};

core::Result<Work> work(const VectorShape& shape, std::string_view type) {
  AACO_TRY(at_least_one({{"rows", shape.rows}, {"cols", shape.cols}}));
  AACO_ASSIGN(const double bytes, bytes_of_type(type));
  const auto* known = std::find_if(kVectorOps.begin(), kVectorOps.end(), [&](const VectorOp& op) { return op.name == shape.op; });
  const VectorOp op = known != kVectorOps.end() ? *known : VectorOp{shape.op, 1, 1};
  const double elements = d(shape.rows) * d(shape.cols);
  return Work{elements * op.flops, elements * (op.reads + 1) * bytes};
}

core::Result<Work> work(const OtherShape& shape, std::string_view) {
  if (!std::isfinite(shape.flops) || !std::isfinite(shape.bytes) || shape.flops < 0 || shape.bytes < 0)
    return core::fail(ErrorCode::invalid_input, "the operations or bytes of '" + shape.op + "' are negative or not a number");
  return Work{shape.flops, shape.bytes};
}

}  // namespace

std::string_view kind_of(const Kernel& kernel) {
  static constexpr std::array<std::string_view, 8> kKinds{"gemm",  "convolution",      "attention", "vector",
                                                          "other", "latent attention", "experts",   "collective"};
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape); attention != nullptr && !attention->prefill)
    return "decode attention";
  if (const auto* latent = std::get_if<LatentAttentionShape>(&kernel.shape); latent != nullptr && !latent->prefill)
    return "decode latent attention";
  return kKinds[kernel.shape.index()];
}

bool has_programs(std::string_view kind) { return kind.ends_with("attention") || kind == "experts" || kind == "collective"; }

ExpertLoad load_of(const ExpertsShape& s) {
  constexpr std::int64_t kMaxExperts = 1 << 16;  // of a layer; a table may state anything
  const bool valid = s.tokens > 0 && s.per_token > 0 && s.expert > 0 && s.per_token <= s.experts && s.expert <= s.experts;
  if (s.skew > 0 && valid && s.experts <= kMaxExperts) {
    const BusiestRank rank =
        busiest_rank({d(s.experts), d(s.per_token), d(s.expert)}, d(s.tokens), {ExpertRouting::Kind::power_law, s.skew});
    return {rank.visits, rank.experts};
  }
  const double chosen = d(s.per_token) / d(s.experts), own = d(s.experts) / d(s.expert);
  ExpertLoad load;
  load.visits = d(s.tokens) * d(s.per_token) / d(s.expert);
  // Tokens choose apart: an expert is left out by all of them with (1 - k / E)^tokens.
  load.experts = chosen >= 1 ? own : own * -std::expm1(d(s.tokens) * std::log1p(-chosen));
  return load;
}

core::Result<Work> work_of(const Kernel& kernel) {
  return std::visit([&kernel](const auto& shape) { return work(shape, kernel.type); }, kernel.shape);
}

}  // namespace aaco::estimation
