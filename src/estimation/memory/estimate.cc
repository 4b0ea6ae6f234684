#include <algorithm>
#include <unordered_map>

#include "core/strings.h"
#include "estimation/memory/liveness.h"
#include "graph/tensor_bytes.h"

namespace aaco::estimation {
namespace {

using graph::Graph;
using graph::TensorId;

constexpr int kMaxDepth = 64;
constexpr std::size_t kShownTensors = 16;

// Sums are doubles, exact up to 9 PB; what is beyond 64 bits is as much as there can be.
std::int64_t whole(double bytes) { return bytes >= 9e18 ? INT64_MAX : static_cast<std::int64_t>(bytes); }

// What a node's kernel holds beside its inputs and outputs.
double kernel_workspace(const graph::NodeCost& cost, const MemoryPolicy& policy) {
  const double element = graph::element_bits(cost.type) / 8.0;
  const auto* attention = std::get_if<graph::AttentionSite>(&cost.site);
  if (attention == nullptr || !policy.materialises_scores) return 0;
  const double rows =
      static_cast<double>(attention->batch) * static_cast<double>(attention->heads) * static_cast<double>(attention->queries);
  return rows * static_cast<double>(attention->keys) * element;
}

struct Course {
  std::vector<MemoryStep> steps;
  double peak_activations = 0, peak_workspace = 0;
  std::int64_t peak_node = -1;
};

class Walk {
 public:
  Walk(const graph::GraphCost& cost, const MemoryPolicy& policy) : policy_(policy) {
    for (const graph::CostedNode& item : cost.nodes) costs_.emplace(item.node, &item.cost);
  }

  Course follow(const Graph& graph, const Buffers& buffers, int depth) {
    // Bytes that begin and end at each node.
    std::vector<double> begins(graph.nodes.size() + 1, 0), ends(graph.nodes.size() + 2, 0);
    for (const Buffers::Buffer& buffer : buffers.all) {
      begins[static_cast<std::size_t>(std::max<std::int64_t>(0, buffer.first))] += static_cast<double>(buffer.bytes);
      ends[static_cast<std::size_t>(std::max(buffer.first, buffer.last)) + 1] += static_cast<double>(buffer.bytes);
    }
    Course course;
    double live = 0;
    for (std::size_t number = 0; number < graph.nodes.size(); ++number) {
      live += begins[number] - ends[number];
      const double own = workspace(graph, graph.nodes[number], depth);
      const auto index = static_cast<std::int64_t>(number);
      if (course.peak_node < 0 || live + own > course.peak_activations + course.peak_workspace) {
        course.peak_activations = live;
        course.peak_workspace = own;
        course.peak_node = index;
      }
      course.steps.push_back({index, whole(live), whole(own)});
    }
    return course;
  }

  std::int64_t body_constants = 0;
  std::int64_t unknown = 0;

 private:
  double workspace(const Graph& graph, const graph::Node& node, int depth) {
    const auto found = costs_.find(&node);
    double largest = found == costs_.end() ? 0 : kernel_workspace(*found->second, policy_);
    if (depth > kMaxDepth) return largest;
    for (const graph::Attribute& attribute : node.attributes) {
      const auto* bodies = std::get_if<std::vector<graph::SubgraphId>>(&attribute.value);
      if (bodies == nullptr) continue;
      for (const graph::SubgraphId id : *bodies) {
        const Graph& body = graph.subgraph(id);
        const Buffers buffers = assign_buffers(body, policy_);
        graph::add_size(body_constants, buffers.constant_bytes);
        unknown += buffers.unknown;
        const Course course = follow(body, buffers, depth + 1);
        largest = std::max(largest, course.peak_activations + course.peak_workspace);
      }
    }
    return largest;
  }

  const MemoryPolicy& policy_;
  std::unordered_map<const graph::Node*, const graph::NodeCost*> costs_;
};

std::int64_t bytes_of_tensor(const Graph& graph, TensorId id) { return graph::tensor_bytes(graph.tensor(id)).value_or(0); }

// Exporters call them past_key_values.0.key, past_0, present.3.value, k_cache_in.
bool is_cache(std::string_view name) {
  const std::string lower = core::to_lower(name);
  return lower.starts_with("past") || lower.starts_with("present") || lower.find("cache") != std::string::npos;
}

void add_borders(const Graph& graph, MemoryEstimate& out) {
  for (const TensorId id : graph.inputs) {
    graph::add_size(out.input_bytes, bytes_of_tensor(graph, id));
    if (is_cache(graph.tensor(id).name)) graph::add_size(out.kv_cache_bytes, bytes_of_tensor(graph, id));
  }
  for (const TensorId id : graph.outputs) {
    graph::add_size(out.output_bytes, bytes_of_tensor(graph, id));
    if (is_cache(graph.tensor(id).name)) graph::add_size(out.kv_cache_bytes, bytes_of_tensor(graph, id));
  }
}

void list_peak(const Graph& graph, const Buffers& buffers, MemoryEstimate& out) {
  for (const Buffers::Buffer& buffer : buffers.all)
    if (buffer.first <= out.peak_node && buffer.last >= out.peak_node && buffer.bytes > 0)
      out.at_peak.push_back({graph.tensor(buffer.owner).name, buffer.bytes, buffer.first});
  std::stable_sort(out.at_peak.begin(), out.at_peak.end(),
                   [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
  if (out.at_peak.size() > kShownTensors) out.at_peak.resize(kShownTensors);
}

}  // namespace

MemoryPolicy onnxruntime_cpu() {
  MemoryPolicy policy;
  policy.weight_copies = policy.loading_copies = 1.8;
  policy.activation_ratio = 2;
  policy.runtime_bytes = 60'000'000;
  policy.node_bytes = 100'000;
  return policy;
}

MemoryEstimate estimate_memory(const Graph& graph, const MemoryPolicy& policy) {
  const Buffers buffers = assign_buffers(graph, policy);
  const graph::GraphCost cost = cost_of(graph);
  Walk walk(cost, policy);
  Course course = walk.follow(graph, buffers, 0);
  MemoryEstimate out;
  out.weight_bytes = buffers.constant_bytes;
  graph::add_size(out.weight_bytes, walk.body_constants);
  out.unknown_tensors = buffers.unknown + walk.unknown;
  add_borders(graph, out);
  out.activation_bytes = whole(course.peak_activations);
  out.workspace_bytes = whole(course.peak_workspace);
  out.peak_node = course.peak_node;
  out.timeline = std::move(course.steps);
  if (out.peak_node >= 0) list_peak(graph, buffers, out);
  const double own = static_cast<double>(policy.runtime_bytes) + policy.node_bytes * static_cast<double>(graph.nodes.size());
  const auto weights = static_cast<double>(out.weight_bytes);
  out.loaded_bytes = whole(own + policy.weight_copies * weights);
  out.loading_bytes = whole(own + policy.loading_copies * weights);
  const double running = policy.activation_ratio * (course.peak_activations + course.peak_workspace);
  out.peak_bytes = std::max(out.loading_bytes, whole(own + policy.weight_copies * weights + running));
  return out;
}

}  // namespace aaco::estimation
