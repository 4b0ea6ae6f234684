#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/strings.h"
#include "graph/file_weights.h"
#include "graph/onnx.h"
#include "graph/rewrite.h"
#include "graph/rewrite/clean.h"
#include "graph/rewrite/edit.h"
#include "graph/rewrite/float16.h"
#include "graph/rewrite/quantize.h"
#include "graph/rewrite/static_int8.h"
#include "graph/shapes.h"

namespace aaco::graph::rewrite {
namespace {

using core::ErrorCode;

constexpr std::array kPasses = {
    Pass{"clean", "removes dead nodes and nodes that change nothing, and computes shape arithmetic once", true},
    Pass{"int8_static", "convolutions and matrix products in 8-bit integers, inputs in ranges measured before (QDQ)", false},
    Pass{"int8_dynamic", "matrix products in 8-bit integers, inputs quantized per call", false},
    Pass{"int8_weights", "8-bit weights of matrix products in blocks of 32 (MatMulNBits)", false},
    Pass{"int4_weights", "4-bit weights of matrix products in blocks of 32 (MatMulNBits)", false},
    Pass{"float16", "computes in float16 instead of float32, with a Cast at inputs and outputs", false}};

constexpr std::int64_t kMinFormatVersion = 4;
constexpr std::string_view kStaticPass = "int8_static", kHalfPass = "float16";

core::Result<std::int64_t> run_pass(Graph& graph, std::string_view id, const ActivationRanges& ranges) {
  if (id == kStaticPass) return quantize_statically(graph, ranges);
  if (id == "int8_dynamic") return quantize_dynamically(graph);
  if (id == "int8_weights") return quantize_weights(graph, 8);
  if (id == kHalfPass) return convert_to_half(graph);
  if (id == "int4_weights") return quantize_weights(graph, 4);
  // A constant may be what makes a node a no-op, and what was removed may have been the only reader of another.
  const std::int64_t folded = fold_constants(graph), passed_on = remove_no_ops(graph);
  return folded + passed_on + remove_dead_nodes(graph);
}

core::Result<Graph> load_whole(const std::string& from) {
  AACO_ASSIGN(Graph graph, onnx::load(from));
  AACO_TRY(onnx::check_external_data(graph, from));
  AACO_TRY(inline_functions(graph));
  return graph;
}

core::Status write_whole(Graph& graph, const std::string& to) {
  // Older files list their weights among the inputs, which the graph does not keep.
  graph.format_version = std::max(graph.format_version, kMinFormatVersion);
  onnx::FileWeights weights(graph);
  AACO_TRY(onnx::write(graph, &weights, to));
  return {};
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass* find_pass(std::string_view id) {
  const auto* const found = std::find_if(kPasses.begin(), kPasses.end(), [&](const Pass& pass) { return pass.id == id; });
  return found == kPasses.end() ? nullptr : found;
}

std::int64_t count_sites(const Graph& graph, std::string_view pass) {
  if (find_pass(pass) == nullptr) return 0;
  if (pass == kStaticPass) return count_static_sites(graph);
  if (pass == kHalfPass) return count_half_sites(graph);
  if (pass != "clean") return count_matrix_products(graph, pass == "int8_dynamic" ? kDynamicMinOpset : 0);
  return static_cast<std::int64_t>(find_constant_nodes(graph).size() + find_no_ops(graph).size() + find_dead_nodes(graph).size());
}

bool requires_ranges(std::string_view pass) { return pass == kStaticPass; }

core::Result<PassAccount> apply_pass(Graph& graph, std::string_view pass, const ActivationRanges& ranges) {
  if (find_pass(pass) == nullptr) {
    std::vector<std::string> ids;
    for (const Pass& one : kPasses) ids.emplace_back(one.id);
    return core::fail(ErrorCode::invalid_argument, "unknown rewrite '" + std::string(pass) + "'",
                      "rewrites: " + core::join(ids, ", "));
  }
  PassAccount account{std::string(pass), 0};
  if (count_sites(graph, pass) > 0) {
    AACO_ASSIGN(account.nodes, run_pass(graph, pass, ranges));
  }
  if (account.nodes == 0)
    return core::fail(ErrorCode::unsupported, "the rewrite '" + std::string(pass) + "' finds nothing to change in this model");
  return account;
}

core::Result<std::vector<PassAccount>> rewrite_model(const std::string& from, const std::vector<std::string>& passes,
                                                     const std::string& to, const ActivationRanges& ranges) {
  AACO_ASSIGN(Graph graph, load_whole(from));
  std::vector<PassAccount> accounts;
  for (const std::string& pass : passes) {
    AACO_ASSIGN(PassAccount account, apply_pass(graph, pass, ranges));
    accounts.push_back(std::move(account));
  }
  AACO_TRY(write_whole(graph, to));
  return accounts;
}

core::Result<std::vector<std::string>> write_range_model(const std::string& from, const std::string& to) {
  AACO_ASSIGN(Graph graph, load_whole(from));
  const std::vector<std::string> names = ranged_tensors(graph);
  const std::set<std::string> wanted(names.begin(), names.end());
  std::map<std::string, TensorId> ids;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (wanted.contains(graph.tensors[i].name)) ids[graph.tensors[i].name] = TensorId{static_cast<int>(i)};
  Edit edit(graph);
  graph.outputs.clear();
  for (const std::string& name : names) {
    for (const std::string op : {"ReduceMin", "ReduceMax"}) {
      const TensorId out = edit.add_tensor(name + "/" + op, ElementType::float32, Shape{});
      graph.nodes.push_back({name + "/" + op, op, "", {ids.at(name)}, {out}, {{"keepdims", std::int64_t{0}}}});
      graph.outputs.push_back(out);
    }
  }
  AACO_TRY(write_whole(graph, to));
  return names;
}

}  // namespace aaco::graph::rewrite
