#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

// The operator behind each kernel. Two passes over a trace: API calls yield launches, then kernels are matched to them.
namespace aaco::analytics::attribution {

// A call of a runtime API, with what enclosed it on its thread.
struct Launch {
  std::uint64_t correlation_id = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t thread_id = 0;
  std::int64_t shaped_start_ns = 0;  // of `shaped_operator`: distinguishes its calls
  std::int32_t rank = 0;
  trace::NameId api;
  trace::NameId operator_name;       // innermost framework operator, or empty
  trace::NameId shaped_operator;     // innermost operator that has arguments, or empty
  trace::NameId operator_arguments;  // its shapes and types (JSON), or empty
  trace::NameId marker;              // innermost marker range, or empty
  bool launches = false;             // its name identifies a launch
  bool operator==(const Launch&) const = default;
};

// A framework operator that has an external id.
struct ExternalOperator {
  std::uint64_t external_id = 0;
  std::int32_t rank = 0;
  trace::NameId name;
  bool operator==(const ExternalOperator&) const = default;
};

bool is_runtime_domain(std::string_view domain);  // hip, hsa, cuda_runtime, cuda_driver
bool is_graph_launch(std::string_view api);       // hipGraphLaunch, cudaGraphLaunch, cuGraphLaunch
bool is_step_annotation(std::string_view name);   // "ProfilerStep#3", "ProfilerStep*"

// The correlation id under which the call that created a graph node is stored (rows of domain "graph_node", the node's number
// in external_id): disjoint from those of launches, which profilers count from 1.
constexpr std::uint64_t graph_node_key(std::uint64_t node) { return node | (std::uint64_t{1} << 63U); }

// Receives launches and operators as they are found.
class LaunchStore {
 public:
  virtual ~LaunchStore() = default;
  virtual void add(const Launch& launch) = 0;
  virtual void add(const ExternalOperator& op) = 0;
};

// Launches by correlation id, operators by external id.
class LaunchLookup {
 public:
  virtual ~LaunchLookup() = default;
  // The call with this correlation id; of several, the first whose name identifies a launch. Null for id 0 and unknown
  // ids. Valid until the next find().
  [[nodiscard]] virtual const Launch* find(std::int32_t rank, std::uint64_t correlation_id) const = 0;
  // The first operator with this external id, or the empty name.
  [[nodiscard]] virtual trace::NameId operator_of(std::int32_t rank, std::uint64_t external_id) const = 0;
};

// Finds the launches among the API calls of a trace and their enclosing ranges. Add every row in order of start.
class LaunchFinder {
 public:
  LaunchFinder(const trace::NameTable& names, LaunchStore& store) : names_(names), store_(store) {}
  void add(const trace::ApiCallRow& row);
  [[nodiscard]] std::int64_t launches() const { return launches_; }
  // Operators and ranges that may enclose a launch.
  [[nodiscard]] std::int64_t causes() const { return causes_; }
  // Names of graph nodes that kernels state as their cause (rows of domain "onnx_node").
  [[nodiscard]] const std::set<std::uint32_t>& node_names() const { return node_names_; }

 private:
  enum class Kind : std::uint8_t { unseen, other, runtime, cpu_op, range, graph_node, onnx_node };
  struct Open {
    std::int64_t start_ns = 0, end_ns = 0;
    trace::NameId name, arguments;
    Kind kind = Kind::other;
  };
  struct Thread {
    std::vector<Open> open;  // enclosing ranges, outermost first
  };
  Kind kind_of(trace::NameId domain);
  bool is_step(trace::NameId name);
  bool says_launch(trace::NameId api);

  const trace::NameTable& names_;
  LaunchStore& store_;
  std::int64_t launches_ = 0, causes_ = 0;
  std::set<std::uint32_t> node_names_;
  std::vector<Kind> kinds_;                                                         // by domain's name id
  std::vector<std::int8_t> steps_, launching_;                                      // by name id: -1 not asked yet
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, Thread> threads_;  // rank, process, thread
};

enum class Method : std::uint8_t {
  none,
  launch_only,
  graph_launch,
  name,
  name_and_shape,
  node_order,
  capture_map,
  marker,
  node_name,
  external_id,
  correlation
};
std::string_view to_string(Method method);
// Confidence of an attribution by this method, 0..1; 0 if the method gives no cause. For node_order the maximum: each row has its
// own confidence.
double confidence_of(Method method);

struct Coverage {
  std::int64_t kernel_count = 0;
  std::int64_t kernel_sum_ns = 0;
  std::int64_t attributed_count = 0;
  std::int64_t attributed_sum_ns = 0;
  // Unattributed kernel time by reason; the sum is the total unattributed time.
  std::int64_t replayed_sum_ns = 0;    // launched by a graph
  std::int64_t outside_sum_ns = 0;     // launched outside every operator and range
  std::int64_t unlaunched_sum_ns = 0;  // no launch in the trace
  Coverage& operator+=(const Coverage& other);
  bool operator==(const Coverage&) const = default;
};

// The operator of each kernel of a captured graph, in capture order: read from a trace of the capture.
struct CapturedKernel {
  trace::NameId kernel_name;
  trace::NameId operator_name;
  trace::NameId marker;
  trace::NameId shaped_operator = {}, operator_arguments = {};  // as in Launch
  std::int64_t shaped_start_ns = 0;
  std::int32_t graph = 0;  // those of one graph are neighbours
};
using CaptureMap = std::vector<CapturedKernel>;

struct AttributionResult {
  std::vector<trace::AttributionRow> rows;                             // largest time first
  std::map<std::pair<std::int32_t, std::int64_t>, Coverage> coverage;  // by rank, device
};

// Attributes kernels in order of start; memory grows with the number of distinct causes, not of kernels.
// Kernels of a graph launch, and those without a launch, are attributed at the end: by the capture map if their launch's
// names match it, otherwise by name and shape, or by name, if such kernels have exactly one cause elsewhere in the trace.
class KernelAttributor {
 public:
  // `names` has the names of rows, index and captures; those of the methods are added.
  // `node_names`: see LaunchFinder.
  KernelAttributor(trace::NameTable& names, const LaunchLookup& index, CaptureMap capture = {},
                   std::set<std::uint32_t> node_names = {});
  // Returns the launch of the kernel, or null; valid until the next look-up.
  const Launch* add(const trace::KernelRow& row);
  // Of the kernel added last, where it was replayed and a capture has its operator: that operator's shapes, each replay being a
  // call of its own. Else null.
  [[nodiscard]] const Launch* replayed() const { return replayed_ ? &*replayed_ : nullptr; }
  AttributionResult finish();

 private:
  struct Shape {
    std::int64_t grid_x = -1, grid_y = -1, grid_z = -1, block_x = -1, block_y = -1, block_z = -1;
    auto operator<=>(const Shape&) const = default;
  };
  struct Key {
    std::int32_t rank = 0;
    std::int64_t device = 0;
    std::uint32_t node = 0, operator_name = 0, kernel = 0, launch = 0;
    Method method = Method::none;
    Shape shape;  // kept only while there is no cause
    auto operator<=>(const Key&) const = default;
  };
  struct Sum {
    std::int64_t count = 0;
    std::int64_t sum_ns = 0;
  };
  struct Cause {
    std::uint32_t node = 0, operator_name = 0;
    bool ambiguous = false;
  };
  // Where a graph launch stands in each captured graph that may be the one it replays.
  struct Place {
    std::size_t next = 0, end = 0;  // in capture_
  };
  struct Replay {
    bool begun = false;
    std::vector<Place> places;
  };
  const CapturedKernel* captured(const trace::KernelRow& row, const Launch& launch);
  void attribute_replayed(const trace::KernelRow& row, const Launch& launch, Key& key);
  void learn(const trace::KernelRow& row, const Shape& shape, const Key& key);
  void infer(std::map<Key, Sum>& groups) const;

  trace::NameTable& names_;
  const LaunchLookup& index_;
  CaptureMap capture_;
  std::set<std::uint32_t> node_names_;
  std::vector<Place> graphs_;                                         // all of capture_
  std::map<std::pair<std::int32_t, std::uint64_t>, Replay> replays_;  // by rank, correlation id of the graph launch
  std::optional<Launch> replayed_;
  std::vector<std::int8_t> graph_apis_;  // by name id: -1 not asked yet
  std::map<Key, Sum> groups_;
  std::map<std::pair<std::uint32_t, Shape>, Cause> by_shape_;
  std::map<std::uint32_t, Cause> by_name_;
};

// Executions of a kernel on a device that belong to this graph node.
struct NodeShare {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  trace::NameId kernel_name;
  trace::NameId node_name;
  Method method = Method::node_order;
  double confidence = 0;
  std::int64_t kernel_count = 0;
  std::int64_t kernel_sum_ns = 0;
};
// Moves executions from rows without a node to rows with one: from rows without any cause, or, if a kernel has a single
// row, from that row (which keeps its operator). Shares without such rows are skipped. Updates coverage.
void take_nodes(AttributionResult& result, trace::NameTable& names, std::vector<NodeShare> shares);

// attribution.launch_coverage_ratio and attribution.time_coverage_ratio of one device.
trace::Metrics coverage_metrics(const Coverage& coverage, std::int64_t device);

}  // namespace aaco::analytics::attribution
