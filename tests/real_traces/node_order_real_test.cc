// How right the join by order is: real PyTorch traces say which operator launched each kernel; that is hidden, and the operators
// are the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "analytics/fingerprint.h"
#include "analytics/node_order.h"
#include "core/files.h"
#include "tests/support/simple_trace.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

using core::Json;
using graph::OperatorClass;
namespace node_order = analytics::node_order;

// What ATen's operators are; a name that is in none of the lists counts as element-wise.
OperatorClass class_of_aten(const std::string& name) {
  static const std::vector<std::pair<OperatorClass, std::vector<const char*>>> kLists = {
      {OperatorClass::gemm, {"linear", "addmm", "mm", "bmm", "matmul", "baddbmm", "einsum"}},
      {OperatorClass::convolution, {"conv2d", "conv1d", "convolution", "_convolution", "conv_transpose2d"}},
      {OperatorClass::attention, {"scaled_dot_product_attention", "_scaled_dot_product_efficient_attention"}},
      {OperatorClass::normalisation, {"layer_norm", "batch_norm", "native_layer_norm", "group_norm"}},
      {OperatorClass::softmax, {"softmax", "_softmax", "log_softmax"}},
      {OperatorClass::pooling, {"max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"}},
      {OperatorClass::reduction,
       {"sum", "mean", "max", "min", "argmax", "any", "all", "cumsum", "nll_loss", "cross_entropy_loss"}},
      {OperatorClass::gather, {"embedding", "index_select", "index", "gather"}},
      {OperatorClass::copy, {"cat", "copy_", "contiguous", "clone", "to", "_to_copy", "stack", "repeat", "pad"}},
      {OperatorClass::view, {"view",    "reshape", "permute",    "transpose", "t",          "expand", "unsqueeze", "squeeze",
                             "flatten", "slice",   "select",     "detach",    "as_strided", "empty",  "size",      "split",
                             "chunk",   "item",    "is_nonzero", "alias",     "narrow",     "resize_"}}};
  const std::string op = name.substr(name.find("::") == std::string::npos ? 0 : name.find("::") + 2);
  for (const auto& [kind, list] : kLists)
    if (std::find(list.begin(), list.end(), op) != list.end()) return kind;
  return OperatorClass::elementwise;
}

struct Operator {
  std::int64_t start = 0, end = 0, thread = 0;
  std::string name;
};
struct Hidden {
  std::vector<node_order::Node> nodes;
  std::vector<node_order::Kernel> kernels;
  std::vector<std::size_t> truth;  // by kernel: the outermost operator around its launch
};

// The kernels of the first step (of the whole trace, where there is none) that an operator launched.
Hidden hide(const Json& document, const analytics::fingerprint::PatternBook& book) {
  std::vector<Operator> operators;
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> launches;  // by correlation: time, thread
  std::pair<std::int64_t, std::int64_t> step(INT64_MIN, INT64_MAX);
  for (const Json& event : document["traceEvents"].items()) {
    if (event["ph"].text() != "X") continue;
    const std::string category = lower(std::string(event["cat"].text()));
    const std::int64_t start = nanoseconds(event["ts"]), end = start + nanoseconds(event["dur"]);
    if (event["name"].text().starts_with("ProfilerStep#") && (step.first == INT64_MIN || start < step.first)) step = {start, end};
    if ((category == "cpu_op" || category == "operator") && !event["name"].text().starts_with("ProfilerStep"))
      operators.push_back({start, end, event["tid"].as_i64().value_or(0), std::string(event["name"].text())});
    if (category == "cuda_runtime" || category == "runtime" || category == "cuda_driver")
      launches.try_emplace(event["args"]["correlation"].as_u64().value_or(0), start, event["tid"].as_i64().value_or(0));
  }
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  std::vector<Operator> outermost;
  std::map<std::int64_t, std::int64_t> covered;  // by thread
  for (const Operator& op : operators) {
    if (op.start < step.first || op.start > step.second || op.end <= covered[op.thread]) continue;
    covered[op.thread] = op.end;
    outermost.push_back(op);
  }
  Hidden hidden;
  for (const Operator& op : outermost) {
    node_order::Node node;
    node.kind = class_of_aten(op.name);
    node.op_type = op.name.substr(op.name.rfind(':') == std::string::npos ? 0 : op.name.rfind(':') + 1);
    hidden.nodes.push_back(node);
  }
  std::vector<std::pair<std::int64_t, const Json*>> kernels;
  for (const Json& event : document["traceEvents"].items())
    if (event["ph"].text() == "X" && lower(std::string(event["cat"].text())) == "kernel")
      kernels.emplace_back(nanoseconds(event["ts"]), &event);
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [start, event] : kernels) {
    const auto launch = launches.find((*event)["args"]["correlation"].as_u64().value_or(0));
    if (launch == launches.end()) continue;
    const auto [time, thread] = launch->second;
    const auto owner = std::find_if(outermost.begin(), outermost.end(), [&, at = time, on = thread](const Operator& op) {
      return op.thread == on && op.start <= at && at <= op.end;
    });
    if (owner == outermost.end()) continue;
    node_order::Kernel kernel;
    kernel.name = (*event)["name"].text();
    kernel.family = book.classify(kernel.name).family;
    kernel.duration_ns = static_cast<double>(nanoseconds((*event)["dur"]));
    hidden.kernels.push_back(std::move(kernel));
    hidden.truth.push_back(static_cast<std::size_t>(owner - outermost.begin()));
  }
  return hidden;
}

// Larger traces are a proof (scripts/proofs/real_traces.sh), not a part of every test run.
constexpr std::int64_t kMaxQuickBytes = 1'200'000;  // compressed

TEST(NodeOrderRealTraces, HiddenOperatorsAreFoundAgain) {
  const char* place = std::getenv("AACO_REAL_DATA");
  const std::string root = core::join_path(place != nullptr ? place : AACO_SOURCE_DIR "/../shared/data", "traces/kineto");
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, none))
    if (entry.path().string().find(".json") != std::string::npos &&
        (std::getenv("AACO_LONG_TESTS") != nullptr || core::file_size(entry.path().string()).value_or(0) <= kMaxQuickBytes))
      files.push_back(entry.path().string());
  if (files.empty()) GTEST_SKIP() << "skipped, no real data";
  std::sort(files.begin(), files.end());
  const auto book = analytics::fingerprint::PatternBook::load(AACO_SOURCE_DIR "/data/kernels");
  ASSERT_TRUE(book.has_value());
  double named = 0, right = 0, all = 0, all_sure = 0, all_sure_right = 0;
  std::vector<Hidden> graphs;
  for (const std::string& path : files) {
    const auto text = whole_text(path);
    const auto document = text ? Json::parse(*text) : core::Result<Json>(Json());
    if (!document) continue;
    Hidden hidden = hide(*document, *book);
    if (hidden.kernels.size() < 10) continue;
    const auto found = node_order::align(hidden.nodes, hidden.kernels);
    if (!found) continue;
    double own_named = 0, own_right = 0, sure = 0, sure_right = 0;
    for (std::size_t k = 0; k < hidden.kernels.size(); ++k) {
      const auto& cause = found->causes[k];
      if (!cause.node) continue;
      ++own_named;
      own_right += *cause.node == hidden.truth[k] ? 1 : 0;
      if (cause.confidence < 0.5) continue;
      ++sure;
      sure_right += *cause.node == hidden.truth[k] ? 1 : 0;
    }
    std::printf(
        "%-48s %5zu nodes %5zu kernels: plausible %3.0f %%, joined %5.1f %%, right %5.1f %% of these; sure %5.1f %%, right %5.1f "
        "%%\n",
        core::base_name(path).substr(0, 48).c_str(), hidden.nodes.size(), hidden.kernels.size(), 100 * found->plausibility,
        100 * own_named / static_cast<double>(hidden.kernels.size()), own_named > 0 ? 100 * own_right / own_named : 0,
        100 * sure / static_cast<double>(hidden.kernels.size()), sure > 0 ? 100 * sure_right / sure : 0);
    all_sure += sure;
    all_sure_right += sure_right;
    named += own_named;
    right += own_right;
    all += static_cast<double>(hidden.kernels.size());
    graphs.push_back(std::move(hidden));
  }
  ASSERT_GT(named, 0);
  std::printf("together: joined %.1f %% of %.0f kernels, %.1f %% of these right\n", 100 * named / all, all, 100 * right / named);
  EXPECT_GE(right, 0.8 * named);
  EXPECT_GE(all_sure_right, 0.95 * all_sure);  // what it is sure of it must know
  // The graph of another trace must not fit.
  double crossed = 0, accepted = 0;
  for (std::size_t a = 0; a < graphs.size(); ++a)
    for (std::size_t b = 0; b < graphs.size(); ++b) {
      if (a == b) continue;
      const auto found = node_order::align(graphs[a].nodes, graphs[b].kernels);
      if (!found) continue;
      ++crossed;
      const bool fits = found->plausibility >= node_order::kMinPlausible;
      accepted += fits ? 1 : 0;
      if (fits) std::printf("graph %zu fits kernels %zu: %s\n", a, b, found->explanation.c_str());
    }
  std::printf("graphs of other traces: %.0f of %.0f accepted\n", accepted, crossed);
  EXPECT_LE(accepted, 0.1 * crossed);  // two traces may be of one model
}

}  // namespace
}  // namespace aaco::workflows
