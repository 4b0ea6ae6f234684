#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "estimation/analysis.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::OperatorClass;

std::string type_name(ElementType type) {
  switch (type) {
    case ElementType::float64: return "fp64";
    case ElementType::float16: return "fp16";
    case ElementType::bfloat16: return "bf16";
    case ElementType::float8e4m3fn:
    case ElementType::float8e4m3fnuz:
    case ElementType::float8e5m2:
    case ElementType::float8e5m2fnuz: return "fp8";
    case ElementType::float4e2m1: return "fp4";
    case ElementType::int8:
    case ElementType::uint8: return "int8";
    case ElementType::int4:
    case ElementType::uint4: return "int4";
    default: break;
  }
  return "fp32";  // index arithmetic, comparisons and what is unknown run on the lanes single precision has
}

std::string type_of(const graph::NodeCost& cost, const std::string& dtype) {
  const bool floating = graph::is_floating(cost.type) || cost.type == ElementType::unknown;
  return floating && !dtype.empty() ? dtype : type_name(cost.type);
}

// As the measurements of single operators call them.
constexpr std::array<std::pair<std::string_view, const char*>, 12> kVectorOps{{{"Add", "add"},
                                                                               {"Sub", "sub"},
                                                                               {"Mul", "mul"},
                                                                               {"Div", "div"},
                                                                               {"Pow", "pow"},
                                                                               {"Relu", "relu"},
                                                                               {"Tanh", "tanh"},
                                                                               {"Gelu", "gelu"},
                                                                               {"Sigmoid", "sigmoid"},
                                                                               {"Exp", "exp"},
                                                                               {"Softmax", "softmax"},
                                                                               {"LayerNormalization", "ln"}}};

std::optional<Kernel> as_vector(const graph::Graph& graph, const graph::Node& node, std::string type) {
  for (const auto& [op_type, name] : kVectorOps) {
    if (node.op_type != op_type || node.outputs.empty() || !node.outputs[0].valid()) continue;
    const auto& shape = graph.tensor(node.outputs[0]).shape;
    const auto count = shape ? graph::element_count(*shape) : std::nullopt;
    if (!count || *count < 1) return std::nullopt;
    const std::int64_t columns = shape->empty() ? 1 : shape->back().size;
    return Kernel{VectorShape{name, *count / columns, columns}, std::move(type)};
  }
  return std::nullopt;
}

// Of two spatial dimensions; one is taken as a single row.
std::optional<ConvolutionShape> as_convolution(const graph::ConvolutionSite& site) {
  const std::size_t rank = site.filter.size();
  if (site.transposed || rank < 1 || rank > 2 || site.input.size() != rank) return std::nullopt;
  const auto at = [&](const std::vector<std::int64_t>& values, std::size_t axis, std::int64_t fallback) {
    const std::size_t missing = 2 - rank;
    if (axis < missing) return fallback;
    return axis - missing < values.size() ? values[axis - missing] : fallback;
  };
  ConvolutionShape shape;
  shape.n = site.n;
  shape.c = site.c;
  shape.k = site.k;
  shape.groups = site.groups;
  shape.h = at(site.input, 0, 1);
  shape.w = at(site.input, 1, 1);
  shape.r = at(site.filter, 0, 1);
  shape.s = at(site.filter, 1, 1);
  shape.pad_h = at(site.pads, 0, 0);
  shape.pad_w = at(site.pads, 1, 0);
  shape.stride_h = at(site.strides, 0, 1);
  shape.stride_w = at(site.strides, 1, 1);
  shape.dilation_h = at(site.dilations, 0, 1);
  shape.dilation_w = at(site.dilations, 1, 1);
  return shape;
}

bool on_device(OperatorClass kind) {
  return kind != OperatorClass::view && kind != OperatorClass::host && kind != OperatorClass::control;
}

}  // namespace

std::optional<Kernel> kernel_of_site(const graph::Site& site, const std::string& type) {
  if (const auto* gemm = std::get_if<graph::GemmSite>(&site))
    return Kernel{GemmShape{gemm->batch, gemm->m, gemm->n, gemm->k}, type};
  if (const auto* convolution = std::get_if<graph::ConvolutionSite>(&site)) {
    const auto shape = as_convolution(*convolution);
    return shape ? std::optional<Kernel>(Kernel{*shape, type}) : std::nullopt;
  }
  if (const auto* attention = std::get_if<graph::AttentionSite>(&site)) {
    AttentionShape shape;
    shape.prefill = attention->queries > 1;
    shape.batch = attention->batch;
    shape.query = attention->queries;
    shape.past = attention->keys - attention->queries;
    shape.heads = attention->heads;
    shape.kv_heads = attention->kv_heads;
    shape.head_dim = attention->head_dim;
    shape.kv_type = type;
    shape.causal = shape.past >= 0 && (attention->causal || !shape.prefill);  // a single query sees everything before it
    return Kernel{shape, type};
  }
  return std::nullopt;
}

std::string shape_text(const Kernel& kernel) {
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.shape))
    return fmt::format("{}{}x{}, k {}", gemm->batch > 1 ? fmt::format("{} of ", gemm->batch) : "", gemm->m, gemm->n, gemm->k);
  if (const auto* conv = std::get_if<ConvolutionShape>(&kernel.shape))
    return fmt::format("{}x{}x{}x{}, {} of {}x{}{}", conv->n, conv->c, conv->h, conv->w, conv->k, conv->r, conv->s,
                       conv->groups > 1 ? fmt::format(", {} groups", conv->groups) : "");
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape))
    return fmt::format("{} x {} heads of {}, {} on {}{}", attention->batch, attention->heads, attention->head_dim,
                       attention->query, attention->past + attention->query,
                       attention->causal && attention->prefill ? ", causal" : "");
  if (const auto* rows = std::get_if<VectorShape>(&kernel.shape)) return fmt::format("{}x{}", rows->rows, rows->cols);
  return core::format_bytes(std::get<OtherShape>(kernel.shape).bytes);
}

Work work_under(const graph::NodeCost& cost, const std::string& dtype) {
  const Work as_is{cost.flops, cost.bytes_read + cost.bytes_written};
  if (dtype.empty() || !graph::is_floating(cost.type)) return as_is;
  constexpr double kBitsPerByte = 8;
  const double before = graph::element_bits(cost.type) / kBitsPerByte;
  const auto after = element_bytes(dtype);
  return after && before > 0 ? Work{as_is.flops, as_is.bytes * *after / before} : as_is;
}

std::optional<Kernel> kernel_of(const graph::Graph& graph, const graph::Node& node, const graph::NodeCost& cost,
                                const std::string& dtype) {
  if (!cost.known || !on_device(cost.kind)) return std::nullopt;
  const Work work = work_under(cost, dtype);
  if (work.flops <= 0 && work.bytes <= 0) return std::nullopt;
  const std::string type = type_of(cost, dtype);
  if (auto kernel = kernel_of_site(cost.site, type); kernel && work_of(*kernel)) return kernel;
  if (auto kernel = as_vector(graph, node, type)) return kernel;
  return Kernel{OtherShape{node.op_type, work.flops, work.bytes}, type};
}

std::optional<graph::ElementType> element_type_of(const std::string& dtype) {
  using graph::ElementType;
  if (dtype == "tf32") return ElementType::float32;
  if (dtype == "fp8") return ElementType::float8e4m3fn;
  if (dtype == "fp4") return ElementType::float4e2m1;
  if (dtype == "fp64") return ElementType::float64;
  return graph::element_type_from_string(dtype);
}

}  // namespace aaco::estimation
