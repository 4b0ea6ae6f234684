#include "laboratory/benchmarks/one_operator.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/half.h"
#include "core/random.h"
#include "core/strings.h"

namespace aaco::laboratory::benchmarks {
namespace {

using graph::Attribute;
using graph::ElementType;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kOpset = 20, kIrVersion = 9;
constexpr std::int64_t kChain = 256;       // of nodes that only issuing costs
constexpr std::int64_t kTableRows = 4096;  // of the table a gather reads
constexpr std::size_t kPattern = 65536;    // elements of a filling before it repeats

// A graph of one operator, or of a chain of it.
class Maker {
 public:
  explicit Maker(const BenchmarkCase& one) : type_(*graph::element_type_from_string(one.dtype)) {
    out_.graph.name = one.id;
    out_.graph.producer = "aaco-benchmark";
    out_.graph.format_version = kIrVersion;
    out_.graph.opsets = {{"", kOpset}, {"com.microsoft", 1}};
  }

  [[nodiscard]] ElementType type() const { return type_; }
  TensorId input(const char* name, Shape shape) { return input(name, std::move(shape), type_); }
  TensorId input(const char* name, Shape shape, ElementType type) {
    const TensorId id = out_.graph.add_tensor({name, type, std::move(shape)});
    out_.graph.inputs.push_back(id);
    return id;
  }
  TensorId weight(const char* name, Shape shape) {
    const TensorId id = out_.graph.add_tensor({name, type_, std::move(shape)});
    out_.graph.initializers.push_back({id, {}});
    return id;
  }
  TensorId integers(const char* name, const std::vector<std::int64_t>& values) {
    const TensorId id = out_.graph.add_tensor({name, ElementType::int64, Shape{static_cast<std::int64_t>(values.size())}});
    std::vector<std::byte> data(values.size() * sizeof(std::int64_t));
    std::memcpy(data.data(), values.data(), data.size());
    out_.graph.initializers.push_back({id, {std::move(data), std::nullopt}});
    return id;
  }
  TensorId node(const char* op, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {}, const char* domain = "") {
    const std::string name = op + std::to_string(out_.graph.nodes.size());
    const TensorId made = out_.graph.add_tensor({name + "_out", ElementType::unknown, std::nullopt});
    out_.graph.nodes.push_back({name, op, domain, std::move(inputs), {made}, std::move(attributes)});
    return made;
  }
  OneOperator finish(TensorId result, std::string measured, Shape shape, std::optional<ElementType> type = {}) {
    out_.graph.tensor(result) = {"output", type.value_or(type_), std::move(shape)};
    out_.graph.outputs.push_back(result);
    out_.measured = std::move(measured);
    return std::move(out_);
  }
  void repeats(std::int64_t count) { out_.repeats = count; }

 private:
  ElementType type_;
  OneOperator out_;
};

Attribute integer(const char* name, std::int64_t value) { return {name, value}; }
Attribute list(const char* name, std::vector<std::int64_t> values) { return {name, std::move(values)}; }

// With a constant second operand, packed once as in a network; in batches both are activations, as in attention.
OneOperator gemm(const BenchmarkCase& one) {
  Maker maker(one);
  const std::int64_t b = one.size("batch"), m = one.size("m"), n = one.size("n"), k = one.size("k");
  const bool integers = maker.type() == ElementType::int8;
  const char* op = integers ? "MatMulInteger" : "MatMul";
  const auto result = integers ? std::optional(ElementType::int32) : std::nullopt;
  if (b == 1) {
    const TensorId x = maker.input("x", {m, k});
    return maker.finish(maker.node(op, {x, maker.weight("w", {k, n})}), op, {m, n}, result);
  }
  const TensorId x = maker.input("x", {b, m, k});
  return maker.finish(maker.node(op, {x, maker.input("y", {b, k, n})}), op, {b, m, n}, result);
}

OneOperator convolution(const BenchmarkCase& one) {
  Maker maker(one);
  const auto [c, h, w, k] = std::array{one.size("c"), one.size("h"), one.size("w"), one.size("k")};
  const auto [r, s, pad] = std::array{one.size("r"), one.size("s"), one.size("pad")};
  const auto [stride, dilation, groups] = std::array{one.size("stride"), one.size("dilation"), one.size("groups")};
  const auto out = [padding = pad, spread = dilation, step = stride](std::int64_t in, std::int64_t filter) {
    return (in + 2 * padding - spread * (filter - 1) - 1) / step + 1;
  };
  const TensorId x = maker.input("x", {one.size("n"), c, h, w});
  const TensorId y =
      maker.node("Conv", {x, maker.weight("w", {k, c / groups, r, s}), maker.weight("b", {k})},
                 {list("kernel_shape", {r, s}), list("pads", {pad, pad, pad, pad}), list("strides", {stride, stride}),
                  list("dilations", {dilation, dilation}), integer("group", groups)});
  return maker.finish(y, "Conv", {one.size("n"), k, out(h, r), out(w, s)});
}

// Prefill, each token seeing those before it.
OneOperator attention(const BenchmarkCase& one) {
  Maker maker(one);
  const Shape shape{one.size("batch"), one.size("tokens"), one.size("heads") * one.size("head_dim")};
  const TensorId q = maker.input("q", shape), k = maker.input("k", shape), v = maker.input("v", shape);
  const TensorId y = maker.node("MultiHeadAttention", {q, k, v},
                                {integer("num_heads", one.size("heads")), integer("unidirectional", 1)}, "com.microsoft");
  return maker.finish(y, "MultiHeadAttention", shape);
}

enum class Form { unary, binary, last_axis, layer_norm, reduce, transpose, concat, gather, chain, call };
struct VectorOp {
  std::string_view name;
  const char* op_type;
  Form form;
};
constexpr std::array kVectorOps{VectorOp{"add", "Add", Form::binary},
                                VectorOp{"sub", "Sub", Form::binary},
                                VectorOp{"mul", "Mul", Form::binary},
                                VectorOp{"div", "Div", Form::binary},
                                VectorOp{"relu", "Relu", Form::unary},
                                VectorOp{"sigmoid", "Sigmoid", Form::unary},
                                VectorOp{"tanh", "Tanh", Form::unary},
                                VectorOp{"gelu", "Gelu", Form::unary},
                                VectorOp{"exp", "Exp", Form::unary},
                                VectorOp{"erf", "Erf", Form::unary},
                                VectorOp{"sqrt", "Sqrt", Form::unary},
                                VectorOp{"softmax", "Softmax", Form::last_axis},
                                VectorOp{"ln", "LayerNormalization", Form::layer_norm},
                                VectorOp{"reduce_sum", "ReduceSum", Form::reduce},
                                VectorOp{"reduce_mean", "ReduceMean", Form::reduce},
                                VectorOp{"reduce_max", "ReduceMax", Form::reduce},
                                VectorOp{"transpose", "Transpose", Form::transpose},
                                VectorOp{"concat", "Concat", Form::concat},
                                VectorOp{"gather", "Gather", Form::gather},
                                VectorOp{"launch", "Tanh", Form::chain},
                                VectorOp{"call", "Tanh", Form::call}};

OneOperator vector(const BenchmarkCase& one, const VectorOp& op) {
  Maker maker(one);
  const std::int64_t rows = one.size("rows"), cols = one.size("cols");
  const Shape full{rows, cols};
  const auto single = [&](std::vector<TensorId> inputs, Shape result, std::vector<Attribute> attributes = {}) {
    return maker.finish(maker.node(op.op_type, std::move(inputs), std::move(attributes)), op.op_type, std::move(result));
  };
  if (op.form == Form::gather) {
    const TensorId table = maker.weight("w", {kTableRows, cols});
    return single({table, maker.input("rows", {rows}, ElementType::int64)}, full);
  }
  const TensorId x = maker.input("x", full);
  switch (op.form) {
    case Form::binary: return single({x, maker.input("y", full)}, full);
    case Form::last_axis: return single({x}, full, {integer("axis", -1)});
    case Form::layer_norm: return single({x, maker.weight("w", {cols}), maker.weight("b", {cols})}, full, {integer("axis", -1)});
    case Form::reduce: return single({x, maker.integers("axes", {1})}, {rows, 1}, {integer("keepdims", 1)});
    case Form::transpose: return single({x}, {cols, rows}, {list("perm", {1, 0})});
    case Form::concat: return single({x, maker.input("y", full)}, {rows, 2 * cols}, {integer("axis", 1)});
    case Form::chain: {
      // Two operators in turn, so that no two neighbours can be fused and the values stay between -1 and 1.
      const TensorId shift = maker.weight("w", {cols});
      TensorId at = x;
      for (std::int64_t i = 0; i < kChain; ++i) at = i % 2 == 0 ? maker.node("Add", {at, shift}) : maker.node("Tanh", {at});
      maker.repeats(kChain);
      return maker.finish(at, op.op_type, full);
    }
    default: break;
  }
  return single({x}, full);
}

}  // namespace

core::Result<OneOperator> one_operator(const BenchmarkCase& one) {
  const bool integer_type = one.dtype == "int8";
  if (integer_type && (one.kind != CaseKind::gemm || one.size("batch") != 1))
    return core::fail(core::ErrorCode::invalid_input, one.id + ": int8 is only supported for gemm with batch 1");
  switch (one.kind) {
    case CaseKind::gemm: return gemm(one);
    case CaseKind::convolution: return convolution(one);
    case CaseKind::attention: return attention(one);
    case CaseKind::vector: {
      std::vector<std::string_view> names;
      for (const VectorOp& op : kVectorOps) {
        if (op.name == one.op) return vector(one, op);
        names.push_back(op.name);
      }
      return core::fail(core::ErrorCode::invalid_input, "'" + one.op + "' is not a benchmarked vector operator",
                        "use one of: " + core::join(names, ", "));
    }
    case CaseKind::transfer:
      return core::fail(core::ErrorCode::unsupported, one.id + " is a transfer, which ONNX Runtime does not run",
                        "use --backend cuda or hip");
    case CaseKind::model: break;
  }
  return core::fail(core::ErrorCode::invalid_input, one.id + " is a model, not an operator");
}

Filling::Filling(const graph::Graph& graph, std::uint64_t seed) : graph_(graph) {
  core::Random random(seed);
  std::vector<float> singles(kPattern);
  std::vector<std::uint16_t> halves, brains;
  byte_.resize(kPattern);
  for (std::size_t i = 0; i < kPattern; ++i) {
    singles[i] = static_cast<float>(0.1 * random.uniform() - 0.05);
    halves.push_back(core::to_half(singles[i]));
    brains.push_back(core::to_bfloat16(singles[i]));
    byte_[i] = static_cast<std::byte>(random.below(256));
  }
  single_.resize(kPattern * sizeof(float));
  std::memcpy(single_.data(), singles.data(), single_.size());
  half_.resize(kPattern * sizeof(std::uint16_t));
  std::memcpy(half_.data(), halves.data(), half_.size());
  brain_.resize(half_.size());
  std::memcpy(brain_.data(), brains.data(), brain_.size());
}

core::Status Filling::read(std::size_t index, std::int64_t offset, std::span<std::byte> out) {
  const ElementType type = graph_.tensor(graph_.initializers[index].tensor).type;
  const auto& pattern = type == ElementType::float32    ? single_
                        : type == ElementType::float16  ? half_
                        : type == ElementType::bfloat16 ? brain_
                                                        : byte_;
  std::size_t at = static_cast<std::size_t>(offset) % pattern.size();
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(out.size() - done, pattern.size() - at);
    std::memcpy(out.data() + done, pattern.data() + at, count);
    done += count;
    at = 0;
  }
  return {};
}

}  // namespace aaco::laboratory::benchmarks
