#include "graph/rewrite/float16.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "core/half.h"
#include "graph/rewrite/clean.h"
#include "graph/rewrite/links.h"
#include "graph/rewrite/value_bytes.h"
#include "graph/shapes.h"

namespace aaco::graph::rewrite {
namespace {

constexpr float kMaxHalf = 65504;
const std::set<std::string_view> kProducts = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
// Operators that accept float16 wherever they accept float32.
const std::set<std::string_view> kOperators = {"Conv",        "ConvTranspose", "Gemm",
                                               "MatMul",      "Add",           "Sub",
                                               "Mul",         "Div",           "Pow",
                                               "Sqrt",        "Erf",           "Exp",
                                               "Neg",         "Relu",          "LeakyRelu",
                                               "Elu",         "Gelu",          "Sigmoid",
                                               "Tanh",        "Softmax",       "HardSigmoid",
                                               "HardSwish",   "Clip",          "BatchNormalization",
                                               "AveragePool", "MaxPool",       "GlobalAveragePool",
                                               "Concat",      "Reshape",       "Flatten",
                                               "Transpose",   "Squeeze",       "Unsqueeze",
                                               "Slice",       "Split",         "Gather",
                                               "Expand",      "Where",         "LayerNormalization"};

class HalfConverter {
 public:
  explicit HalfConverter(Graph& graph) : typed_(graph), edit_(graph), links_(graph) { infer_shapes(typed_); }

  [[nodiscard]] std::int64_t count_products() const {
    return std::count_if(typed_.nodes.begin(), typed_.nodes.end(),
                         [&](const Node& node) { return kProducts.contains(node.op_type) && accepts(node); });
  }

  core::Result<std::int64_t> convert() {
    for (std::size_t at = 0; at < typed_.nodes.size(); ++at) {
      if (!accepts(typed_.nodes[at])) continue;
      AACO_ASSIGN(const bool fits, constants_fit(typed_.nodes[at]));
      if (fits) chosen_.insert(at);
    }
    for (const std::size_t at : chosen_) AACO_TRY(convert(at));
    edit_.finish();
    return static_cast<std::int64_t>(chosen_.size());
  }

 private:
  [[nodiscard]] bool is_float(TensorId id) const { return id.valid() && typed_.tensor(id).type == ElementType::float32; }

  [[nodiscard]] bool accepts(const Node& node) const {
    if (!node.domain.empty() || !kOperators.contains(node.op_type) || node.inputs.empty()) return false;
    return (node.outputs.size() == 1 || node.op_type == "Split") &&
           std::all_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) { return is_float(id); });
  }

  // Whether float16 can represent every constant that the node reads; their values are kept as such.
  core::Result<bool> constants_fit(const Node& node) {
    for (const TensorId id : node.inputs) {
      if (!is_float(id) || edit_.constant(id) == nullptr) continue;
      if (!is_float_constant(edit_, id)) return false;  // without data at hand
      if (!values_.contains(id)) {
        AACO_ASSIGN(const std::vector<float> values, read_floats(edit_, id));
        std::vector<std::uint16_t> halves(values.size());
        std::transform(values.begin(), values.end(), halves.begin(), core::to_half);
        const bool fits = std::all_of(values.begin(), values.end(), [](float value) { return std::abs(value) <= kMaxHalf; });
        values_[id] = fits ? std::move(halves) : std::vector<std::uint16_t>();
        if (!fits) too_large_.insert(id);
      }
      if (too_large_.contains(id)) return false;
    }
    return true;
  }

  core::Status convert(std::size_t at) {
    Node now = typed_.nodes[at];
    std::vector<Node> before, after;
    for (TensorId& id : now.inputs)
      if (is_float(id)) id = half_of(id, before);
    for (TensorId& id : now.outputs) {
      const TensorId half = edit_.add_tensor(typed_.tensor(id).name + "/float16", ElementType::float16, typed_.tensor(id).shape);
      halves_[id] = half;
      if (read_as_float(id)) after.push_back(cast(half, id, ElementType::float32));
      id = half;
    }
    before.push_back(std::move(now));
    before.insert(before.end(), after.begin(), after.end());
    edit_.replace(at, std::move(before));
    return {};
  }

  // The first reader makes it; nodes are visited in their order.
  TensorId half_of(TensorId id, std::vector<Node>& before) {
    if (const auto known = halves_.find(id); known != halves_.end()) return known->second;
    const TensorDescriptor tensor = typed_.tensor(id);
    const std::string name = tensor.name + "/float16";
    if (const auto values = values_.find(id); values != values_.end()) {
      std::vector<std::int64_t> dims;
      for (const Dimension& one : *tensor.shape) dims.push_back(one.size);
      return halves_[id] = edit_.add_constant(name, ElementType::float16, dims, dense_bytes(values->second));
    }
    const TensorId half = edit_.add_tensor(name, ElementType::float16, tensor.shape);
    before.push_back(cast(id, half, ElementType::float16));
    return halves_[id] = half;
  }

  [[nodiscard]] bool read_as_float(TensorId id) const {
    const auto& readers = links_.readers(id);
    return edit_.is_output(id) || edit_.captured(id) ||
           std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) { return !chosen_.contains(reader); });
  }

  [[nodiscard]] Node cast(TensorId from, TensorId to, ElementType type) const {
    return {edit_.graph().tensor(to).name + "/cast", "Cast", "", {from}, {to}, {{"to", onnx_number(type)}}};
  }

  Graph typed_;  // as it was, with the types of all tensors
  Edit edit_;
  TensorLinks links_;
  std::set<std::size_t> chosen_;
  std::map<TensorId, std::vector<std::uint16_t>> values_;  // of constants
  std::set<TensorId> too_large_;
  std::map<TensorId, TensorId> halves_;
};

}  // namespace

std::int64_t count_half_sites(const Graph& graph) {
  const auto opset = graph.opsets.find("");
  if (opset == graph.opsets.end() || opset->second < kHalfMinOpset) return 0;
  Graph unchanged = graph;
  return HalfConverter(unchanged).count_products();
}

core::Result<std::int64_t> convert_to_half(Graph& graph) {
  fold_constants(graph);  // so that the range of constants is known
  return HalfConverter(graph).convert();
}

}  // namespace aaco::graph::rewrite
