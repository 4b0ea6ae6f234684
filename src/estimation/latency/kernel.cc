#include "estimation/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/strings.h"

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
  const double pairs = s.causal ? query * (keys - (query - 1) / 2) : query * keys;
  const double width = d(s.batch) * d(s.head_dim);
  return Work{4 * pairs * d(s.heads) * width,
              width * (query * d(s.heads) * (bytes + result_bytes(bytes)) + 2 * keys * d(s.kv_heads) * kv_bytes)};
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
  static constexpr std::array<std::string_view, 5> kKinds{"gemm", "convolution", "attention", "vector", "other"};
  return kKinds[kernel.shape.index()];
}

core::Result<Work> work_of(const Kernel& kernel) {
  return std::visit([&kernel](const auto& shape) { return work(shape, kernel.type); }, kernel.shape);
}

}  // namespace aaco::estimation
