#include <algorithm>
#include <array>
#include <cmath>

#include "analytics/kernel_work.h"
#include "analytics/roofline/library_operators.h"
#include "analytics/roofline/operator_call.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::roofline {
namespace {

using core::Json;
using fingerprint::Family;
double product(const Shape& shape) {
  double out = 1;
  for (const double extent : shape) out *= extent;
  return out;
}

// A [.., M, K] times B [.., K, N].
std::optional<OperatorWork> matmul(const Call& call, std::size_t a_index, std::size_t rank, double output_bytes) {
  const Shape a = call.shape(a_index, rank, rank), b = call.shape(a_index + 1, rank, rank);
  const Type* type = call.type(a_index);
  if (a.empty() || b.empty() || type == nullptr || a[rank - 1] != b[rank - 2]) return std::nullopt;
  const double batch = rank == 3 ? a[0] : 1;
  if (rank == 3 && b[0] != batch) return std::nullopt;
  const double m = a[rank - 2], k = a[rank - 1], n = b[rank - 1];
  const double output = batch * m * n * (output_bytes > 0 ? output_bytes : type->bytes);
  OperatorWork work{2 * batch * m * n * k, batch * (m * k + k * n) * type->bytes + output, std::string(type->ours), Family::gemm};
  work.site = graph::GemmSite{whole(batch), whole(m), whole(n), whole(k), false, 0};
  return work;
}

struct ConvolutionPlaces {
  std::size_t padding, stride, dilation;
  std::size_t transposed;  // 0: never
  std::size_t input = 0, weight = 1;
};

std::optional<OperatorWork> convolution(const Call& call, const ConvolutionPlaces& places) {
  const Shape input = call.shape(places.input, 3, 5);
  const Shape weight = call.shape(places.weight, input.size(), input.size());
  const Type* type = call.type(places.input);
  if (input.empty() || weight.empty() || type == nullptr) return std::nullopt;
  if (places.transposed != 0 && call.text(places.transposed) != "False") return std::nullopt;
  const std::size_t spatial = input.size() - 2;
  const Shape padding = call.list(places.padding, spatial), stride = call.list(places.stride, spatial),
              dilation = call.list(places.dilation, spatial);
  if (padding.empty() || stride.empty() || dilation.empty()) return std::nullopt;
  double outputs = input[0] * weight[0];
  for (std::size_t i = 0; i < spatial; ++i) {
    if (stride[i] < 1) return std::nullopt;
    const double extent = std::floor((input[i + 2] + 2 * padding[i] - dilation[i] * (weight[i + 2] - 1) - 1) / stride[i]) + 1;
    if (extent < 1) return std::nullopt;
    outputs *= extent;
  }
  OperatorWork work{2 * outputs * product(weight) / weight[0], (product(input) + product(weight) + outputs) * type->bytes,
                    std::string(type->ours), Family::convolution};
  graph::ConvolutionSite site{
      whole(input[0]), whole(input[1]), whole(weight[0]), whole(input[1] / weight[1]), {}, {}, {}, {}, {}, {}, false};
  for (std::size_t i = 0; i < spatial; ++i) {
    site.input.push_back(whole(input[i + 2]));
    site.filter.push_back(whole(weight[i + 2]));
    site.strides.push_back(whole(stride[i]));
    site.dilations.push_back(whole(dilation[i]));
    site.pads.push_back(whole(padding[i]));
  }
  work.site = std::move(site);
  return work;
}

// Both gradients take as many operations as the forward pass: outputs (the gradient that comes in) times the weights of one.
std::optional<OperatorWork> convolution_gradient(const Call& call, std::size_t gradient_index, std::size_t weight_index,
                                                 double input_elements, int kernels) {
  const Shape gradient = call.shape(gradient_index, 3, 5);
  const Shape weight = call.shape(weight_index, gradient.size(), gradient.size());
  const Type* type = call.type(gradient_index);
  if (gradient.empty() || weight.empty() || type == nullptr || kernels < 1) return std::nullopt;
  OperatorWork work{2 * product(gradient) * product(weight) / weight[0],
                    (product(gradient) + product(weight) + input_elements) * type->bytes, std::string(type->ours),
                    Family::convolution, kernels};
  // Without strides, the product it comes to: pixels by filters by the terms of one.
  const double filters = weight[0], pixels = product(gradient) / gradient[1];
  work.site = graph::GemmSite{1, whole(pixels), whole(product(weight) / filters), whole(filters), false, 0};
  work.gradient = true;
  return work;
}

std::optional<OperatorWork> convolution_backward(const Call& call) {
  constexpr std::size_t kTransposed = 7, kMask = 10;
  if (call.text(kTransposed) != "False") return std::nullopt;
  const std::string_view mask = call.text(kMask);  // "[True, True, False]": input, weight, bias
  int kernels = 0;
  const auto flags = core::split(mask, ',');
  for (std::size_t i = 0; i < flags.size() && i < 2; ++i) kernels += flags[i].find("True") != std::string_view::npos ? 1 : 0;
  auto work = convolution_gradient(call, 0, 2, product(call.shape(1, 3, 5)), kernels);
  constexpr ConvolutionPlaces kPlaces{5, 4, 6, kTransposed, 1, 2};
  if (const auto forward = convolution(call, kPlaces); work && forward) work->site = forward->site;
  return work;
}

// Queries see all keys, or with a causal mask (aligned at the end) those up to their own. `first`: the argument that the queries
// are.
std::optional<OperatorWork> attention(const Call& call, std::size_t heads_at, std::size_t causal_index, std::size_t first = 0) {
  const Shape q = call.shape(first, 4, 4), k = call.shape(first + 1, 4, 4), v = call.shape(first + 2, 4, 4);
  const Type* type = call.type(first);
  if (q.empty() || k.empty() || v.empty() || type == nullptr) return std::nullopt;
  const std::size_t length_at = heads_at == 1 ? 2 : 1;
  const double queries = q[length_at], keys = k[length_at];
  const std::string_view causal = call.text(causal_index);
  if (causal != "True" && causal != "False") return std::nullopt;
  double seen = keys;
  if (causal == "True") seen = queries <= keys ? keys - (queries - 1) / 2 : (keys + 1) / 2 * keys / queries;
  const double output = q[0] * q[heads_at] * queries * v[3];
  OperatorWork work{2 * q[0] * q[heads_at] * queries * seen * (q[3] + v[3]),
                    (product(q) + product(k) + product(v) + output) * type->bytes, std::string(type->ours), Family::attention};
  work.site = graph::AttentionSite{whole(q[0]), whole(q[heads_at]), whole(k[heads_at]), whole(queries),
                                   whole(keys), whole(q[3]),        whole(v[3]),        causal == "True"};
  return work;
}

// Five products for the forward pass' two: the scores anew, and the gradients of weights, values, queries and keys (Dao 2023,
// FlashAttention-2, section 3.1.2). Besides queries, keys, values and the result, each of their gradients is moved once.
std::optional<OperatorWork> attention_gradient(const Call& call, std::size_t heads_at, std::size_t causal_index) {
  constexpr double kProducts = 2.5;
  auto work = attention(call, heads_at, causal_index, 1);
  if (!work) return std::nullopt;
  work->flops *= kProducts;
  work->bytes *= 2;
  work->gradient = true;
  return work;
}

// Operators that go over their elements once or row by row; FLOPs an element as the catalogue of graphs counts them.
struct RowOperator {
  std::string_view name, op;
  double flops;
  Family family;
  std::size_t operands = 3;  // tensors at most among the first arguments; the arguments after them are options and results
};
constexpr std::array<RowOperator, 50> kRowOperators = {
    {{"add", "add", 1, Family::elementwise, 2},
     {"add_", "add", 1, Family::elementwise, 2},
     {"sub", "sub", 1, Family::elementwise, 2},
     {"mul", "mul", 1, Family::elementwise, 2},
     {"mul_", "mul", 1, Family::elementwise, 2},
     {"div", "div", 1, Family::elementwise, 2},
     {"div_", "div", 1, Family::elementwise, 2},
     {"pow", "pow", 1, Family::elementwise, 2},
     {"sub_", "sub", 1, Family::elementwise, 2},
     {"neg", "neg", 1, Family::elementwise, 1},
     {"abs", "abs", 1, Family::elementwise, 1},
     {"sqrt", "sqrt", 1, Family::elementwise, 1},
     {"sqrt_", "sqrt", 1, Family::elementwise, 1},
     {"rsqrt", "rsqrt", 1, Family::elementwise, 1},
     {"reciprocal", "reciprocal", 1, Family::elementwise, 1},
     {"lerp", "lerp", 3, Family::elementwise, 2},
     {"lerp_", "lerp", 3, Family::elementwise, 2},
     // Both factors may be one tensor, as of an optimiser's squares: at least that is read.
     // Both factors may be one tensor, as of an optimiser's squares: one of them is read at least.
     {"addcmul", "addcmul", 3, Family::elementwise, 2},
     {"addcmul_", "addcmul", 3, Family::elementwise, 2},
     {"addcdiv", "addcdiv", 3, Family::elementwise},
     {"addcdiv_", "addcdiv", 3, Family::elementwise},
     {"relu", "relu", 1, Family::elementwise, 1},
     {"relu_", "relu", 1, Family::elementwise, 1},
     {"clamp_min", "relu", 1, Family::elementwise, 1},
     {"clamp_min_", "relu", 1, Family::elementwise, 1},
     {"tanh", "tanh", 1, Family::elementwise, 1},
     {"gelu", "gelu", 5, Family::elementwise, 1},
     {"sigmoid", "sigmoid", 4, Family::elementwise, 1},
     {"silu", "sigmoid", 5, Family::elementwise, 1},
     {"exp", "exp", 1, Family::elementwise, 1},
     {"log", "log", 1, Family::elementwise, 1},
     {"copy_", "copy", 0, Family::elementwise, 2},
     {"_softmax", "softmax", 5, Family::softmax},
     {"_log_softmax", "softmax", 5, Family::softmax},
     {"native_layer_norm", "ln", 8, Family::normalisation},
     {"_fused_rms_norm", "ln", 5, Family::normalisation},
     {"native_batch_norm", "batch_norm", 5, Family::normalisation},
     {"_batch_norm_with_update", "batch_norm", 5, Family::normalisation},
     {"cudnn_batch_norm", "batch_norm", 5, Family::normalisation},
     {"miopen_batch_norm", "batch_norm", 5, Family::normalisation},
     {"threshold_backward", "relu_gradient", 1, Family::elementwise},
     {"gelu_backward", "gelu_gradient", 10, Family::elementwise},
     {"silu_backward", "silu_gradient", 8, Family::elementwise},
     {"tanh_backward", "tanh_gradient", 3, Family::elementwise},
     {"sigmoid_backward", "sigmoid_gradient", 3, Family::elementwise},
     {"_softmax_backward_data", "softmax_gradient", 4, Family::softmax},
     {"_log_softmax_backward_data", "softmax_gradient", 4, Family::softmax},
     {"native_layer_norm_backward", "ln_gradient", 12, Family::normalisation},
     {"native_batch_norm_backward", "batch_norm_gradient", 10, Family::normalisation},
     {"cudnn_batch_norm_backward", "batch_norm_gradient", 10, Family::normalisation}}};

// Reads every operand and writes a result as large as the largest, once.
std::optional<OperatorWork> over_rows(const Call& call, const RowOperator& row) {
  constexpr std::size_t kRank = 8;
  const Type* type = call.type(0);
  Shape largest;
  double read = 0;
  for (std::size_t index = 0; index < row.operands; ++index) {
    const Shape shape = call.shape(index, 1, kRank);
    const Type* own = call.type(index);
    if (shape.empty()) continue;
    if (own == nullptr) return std::nullopt;
    read += product(shape) * own->bytes;
    if (largest.empty() || product(shape) > product(largest)) largest = shape;
  }
  if (type == nullptr || largest.empty() || product(largest) > kLargestExtent) return std::nullopt;
  const double elements = product(largest);
  // A copy reads its second operand and overwrites the first.
  OperatorWork work{row.flops * elements, row.op == "copy" ? read : read + elements * type->bytes, std::string(type->ours),
                    row.family};
  work.site = RowSite{std::string(row.op), whole(elements / largest.back()), whole(largest.back())};
  return work;
}

}  // namespace

std::optional<OperatorWork> operator_site(std::string_view name, const Json& arguments) {
  constexpr std::string_view kPrefix = "aten::";
  if (!name.starts_with(kPrefix)) return library_work(name, arguments);
  const std::string_view bare = name.substr(kPrefix.size());
  const auto row =
      std::find_if(kRowOperators.begin(), kRowOperators.end(), [&](const RowOperator& one) { return one.name == bare; });
  if (row != kRowOperators.end()) return over_rows(Call(arguments), *row);
  auto work = operator_work(name, arguments);
  return work && !std::holds_alternative<std::monostate>(work->site) ? work : std::nullopt;
}

// Positions are those of the operators' schemas in PyTorch (native_functions.yaml).
std::optional<OperatorWork> operator_work(std::string_view name, const Json& arguments) {
  constexpr std::string_view kPrefix = "aten::";
  if (!name.starts_with(kPrefix)) return library_work(name, arguments);
  name.remove_prefix(kPrefix.size());
  const Call call(arguments);
  if (name == "mm") return matmul(call, 0, 2, 0);
  if (name == "addmm" || name == "_addmm_activation") return matmul(call, 1, 2, 0);
  if (name == "_scaled_mm") return matmul(call, 0, 2, 2);
  if (name == "bmm") return matmul(call, 0, 3, 0);
  if (name == "baddbmm") return matmul(call, 1, 3, 0);
  if (name == "convolution" || name == "_convolution" || name == "convolution_overrideable")
    return convolution(call, {4, 3, 5, 6});
  if (name == "cudnn_convolution") return convolution(call, {2, 3, 4, 0});
  if (name == "miopen_convolution" || name == "miopen_depthwise_convolution") return convolution(call, {3, 4, 5, 0});
  if (name == "cudnn_convolution_backward_input") return convolution_gradient(call, 1, 2, 0, 1);
  if (name == "convolution_backward") return convolution_backward(call);
  if (name == "_scaled_dot_product_flash_attention") return attention(call, 1, 4);
  if (name == "_scaled_dot_product_efficient_attention" || name == "_scaled_dot_product_cudnn_attention")
    return attention(call, 1, 6);
  if (name == "_flash_attention_forward") return attention(call, 2, 8);
  if (name == "_scaled_dot_product_flash_attention_backward" || name == "_scaled_dot_product_efficient_attention_backward")
    return attention_gradient(call, 1, 11);
  if (name == "_scaled_dot_product_cudnn_attention_backward") return attention_gradient(call, 1, 14);
  if (name == "_flash_attention_backward") return attention_gradient(call, 2, 11);
  return std::nullopt;
}

}  // namespace aaco::analytics::roofline
