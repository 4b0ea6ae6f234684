#include <algorithm>
#include <utility>

#include "analytics/attribution.h"

namespace aaco::analytics::attribution {

Coverage& Coverage::operator+=(const Coverage& other) {
  kernel_count += other.kernel_count;
  kernel_sum_ns += other.kernel_sum_ns;
  attributed_count += other.attributed_count;
  attributed_sum_ns += other.attributed_sum_ns;
  replayed_sum_ns += other.replayed_sum_ns;
  outside_sum_ns += other.outside_sum_ns;
  unlaunched_sum_ns += other.unlaunched_sum_ns;
  return *this;
}

std::string_view to_string(Method method) {
  switch (method) {
    case Method::none: return "none";
    case Method::launch_only: return "launch_only";
    case Method::graph_launch: return "graph_launch";
    case Method::name: return "name";
    case Method::name_and_shape: return "name_and_shape";
    case Method::node_order: return "node_order";
    case Method::capture_map: return "capture_map";
    case Method::marker: return "marker";
    case Method::node_name: return "node_name";
    case Method::external_id: return "external_id";
    case Method::correlation: return "correlation";
  }
  return "none";
}

// Ids are facts of the profiler; a marker names only a range; names are shared by operators (our own judgement, not measured).
double confidence_of(Method method) {
  switch (method) {
    case Method::correlation: return 0.99;
    case Method::external_id: return 0.95;
    case Method::node_name: return 0.95;
    case Method::marker: return 0.9;
    case Method::capture_map: return 0.9;
    case Method::node_order: return 0.8;
    case Method::name_and_shape: return 0.7;
    case Method::name: return 0.5;
    case Method::graph_launch:
    case Method::launch_only:
    case Method::none: return 0;
  }
  return 0;
}

KernelAttributor::KernelAttributor(trace::NameTable& names, const LaunchLookup& index, CaptureMap capture,
                                   std::set<std::uint32_t> node_names)
    : names_(names), index_(index), capture_(std::move(capture)), node_names_(std::move(node_names)) {
  for (std::size_t i = 0; i < capture_.size(); ++i) {
    if (i == 0 || capture_[i].graph != capture_[i - 1].graph) graphs_.push_back({i, i});
    graphs_.back().end = i + 1;
  }
}

// Graph launches replay the captured kernels of one graph in order. Graphs whose next kernel has another name drop out; if all
// would, those remain that have the name further on (kernels of parallel branches may start in another order).
const CapturedKernel* KernelAttributor::captured(const trace::KernelRow& row, const Launch& launch) {
  if (capture_.empty()) return nullptr;
  Replay& replay = replays_[{launch.rank, launch.correlation_id}];
  if (!replay.begun) replay = {true, graphs_};
  for (const bool exact : {true, false}) {
    std::vector<Place> left;
    for (const Place& place : replay.places)
      for (std::size_t i = place.next; i < (exact ? std::min(place.next + 1, place.end) : place.end); ++i)
        if (capture_[i].kernel_name == row.name) {
          left.push_back({i + 1, place.end});
          break;
        }
    if (left.empty()) continue;
    const CapturedKernel* found = &capture_[left.front().next - 1];
    replay.places = std::move(left);
    return found;
  }
  return nullptr;
}

// By the call that made the graph's node, where the trace has it, else by a capture of the same graph.
void KernelAttributor::attribute_replayed(const trace::KernelRow& row, const Launch& launch, Key& key) {
  key.method = Method::graph_launch;
  key.node = launch.marker.value;
  if (const CapturedKernel* kernel = captured(row, launch)) {
    const bool has_cause = kernel->operator_name.value != 0 || kernel->marker.value != 0;
    if (has_cause) key.method = Method::capture_map;
    key.operator_name = kernel->operator_name.value;
    if (has_cause) key.node = kernel->marker.value;
    if (kernel->operator_arguments.value != 0) {
      replayed_ = launch;
      replayed_->thread_id = static_cast<std::int64_t>(launch.correlation_id);
      replayed_->shaped_operator = kernel->shaped_operator;
      replayed_->operator_arguments = kernel->operator_arguments;
      replayed_->shaped_start_ns = kernel->shaped_start_ns;
      replayed_->operator_name = kernel->operator_name;
    }
  }
  if (row.graph_node_id == 0) return;
  const Launch* maker = index_.find(row.rank, graph_node_key(row.graph_node_id));
  if (maker == nullptr || (maker->operator_name.value == 0 && maker->marker.value == 0)) return;
  key.method = Method::capture_map;
  key.operator_name = maker->operator_name.value;
  key.node = maker->marker.value;
}

void KernelAttributor::learn(const trace::KernelRow& row, const Shape& shape, const Key& key) {
  const auto note = [&](auto& causes, const auto& where) {
    const auto [place, fresh] = causes.try_emplace(where, Cause{key.node, key.operator_name, false});
    if (!fresh && (place->second.operator_name != key.operator_name || place->second.node != key.node))
      place->second.ambiguous = true;
  };
  note(by_shape_, std::pair(row.name.value, shape));
  note(by_name_, row.name.value);
}

const Launch* KernelAttributor::add(const trace::KernelRow& row) {
  Key key{row.rank, row.device, 0, 0, row.name.value, 0, Method::none, {}};
  replayed_.reset();
  const Launch* launch = index_.find(row.rank, row.correlation_id);
  const Shape shape{row.grid_x.value_or(-1),  row.grid_y.value_or(-1),  row.grid_z.value_or(-1),
                    row.block_x.value_or(-1), row.block_y.value_or(-1), row.block_z.value_or(-1)};
  bool replayed = false;
  if (launch != nullptr) {
    key.launch = launch->api.value;
    key.method = Method::launch_only;
    if (launch->api.value >= graph_apis_.size()) graph_apis_.resize(launch->api.value + std::size_t{1}, -1);
    std::int8_t& is_graph = graph_apis_[launch->api.value];
    if (is_graph < 0) is_graph = is_graph_launch(names_.text(launch->api)) ? 1 : 0;
    replayed = is_graph == 1;
    if (replayed) {
      attribute_replayed(row, *launch, key);
      launch = index_.find(row.rank, row.correlation_id);
    } else {
      key.node = launch->marker.value;
      key.operator_name = launch->operator_name.value;
      if (key.operator_name != 0) key.method = Method::correlation;
    }
  }
  if (key.operator_name == 0 && !replayed)
    if (const auto op = index_.operator_of(row.rank, row.external_id); op.value != 0) {
      const bool is_node = node_names_.contains(op.value);
      (is_node ? key.node : key.operator_name) = op.value;
      key.method = is_node ? Method::node_name : Method::external_id;
    }
  if (key.operator_name == 0 && key.node != 0 && !replayed && key.method != Method::node_name) key.method = Method::marker;
  if (key.method == Method::correlation || key.method == Method::external_id || key.method == Method::node_name)
    learn(row, shape, key);
  else if (confidence_of(key.method) == 0)
    key.shape = shape;
  Sum& sum = groups_[key];
  ++sum.count;
  sum.sum_ns += std::max<std::int64_t>(0, row.end_ns - row.start_ns);
  return launch;
}

// Kernels without a cause, where such kernels have exactly one elsewhere in the trace.
void KernelAttributor::infer(std::map<Key, Sum>& groups) const {
  for (const auto& [old_key, sum] : groups_) {
    Key key = old_key;
    if (confidence_of(key.method) == 0) {
      const auto adopt = [&](const Cause& cause, Method method) {
        key.operator_name = cause.operator_name;
        key.node = cause.node;
        key.method = method;
      };
      const auto shaped = by_shape_.find({key.kernel, key.shape});
      const auto named = by_name_.find(key.kernel);
      if (shaped != by_shape_.end() && !shaped->second.ambiguous && key.shape != Shape{})
        adopt(shaped->second, Method::name_and_shape);
      else if (named != by_name_.end() && !named->second.ambiguous)
        adopt(named->second, Method::name);
    }
    key.shape = {};
    Sum& target = groups[key];
    target.count += sum.count;
    target.sum_ns += sum.sum_ns;
  }
}

AttributionResult KernelAttributor::finish() {
  std::map<Key, Sum> groups;
  infer(groups);
  AttributionResult result;
  for (const auto& [key, sum] : groups) {
    trace::AttributionRow row;
    row.rank = key.rank;
    row.device = key.device;
    row.node_name = {key.node};
    row.operator_name = {key.operator_name};
    row.kernel_name = {key.kernel};
    row.launch = {key.launch};
    row.method = names_.intern(to_string(key.method));
    row.confidence = confidence_of(key.method);
    row.kernel_count = sum.count;
    row.kernel_sum_ns = sum.sum_ns;
    result.rows.push_back(row);
    Coverage& coverage = result.coverage[{key.rank, key.device}];
    coverage.kernel_count += sum.count;
    coverage.kernel_sum_ns += sum.sum_ns;
    if (row.confidence > 0) {
      coverage.attributed_count += sum.count;
      coverage.attributed_sum_ns += sum.sum_ns;
    } else {
      (key.method == Method::graph_launch  ? coverage.replayed_sum_ns
       : key.method == Method::launch_only ? coverage.outside_sum_ns
                                           : coverage.unlaunched_sum_ns) += sum.sum_ns;
    }
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const auto& a, const auto& b) { return a.kernel_sum_ns > b.kernel_sum_ns; });
  return result;
}

trace::Metrics coverage_metrics(const Coverage& coverage, std::int64_t device) {
  trace::Metrics out;
  const auto add = [&](const char* id, std::int64_t part, std::int64_t whole) {
    if (whole > 0) out.push_back({id, static_cast<double>(part) / static_cast<double>(whole), "ratio", {}, device});
  };
  add("attribution.launch_coverage_ratio", coverage.attributed_count, coverage.kernel_count);
  add("attribution.time_coverage_ratio", coverage.attributed_sum_ns, coverage.kernel_sum_ns);
  return out;
}

}  // namespace aaco::analytics::attribution
