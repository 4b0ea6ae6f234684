#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analytics/attribution.h"
#include "analytics/fingerprint.h"
#include "analytics/node_order.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/rows.h"
#include "workflows/graph_nodes.h"

namespace aaco::workflows {

// The kernels of each step of a device as a sequence, while they stream past: steps that run the same kernels in the same order
// are one variant, and are joined to the graph once. Memory: the different variants (kMaxVariants a device), and the open steps.
class NodeKernels {
 public:
  static constexpr std::size_t kMaxVariants = 8;
  static constexpr std::size_t kMaxKernels = 20'000;  // of a step

  // Without steps all kernels of a device are one.
  NodeKernels(trace::NameTable& names, const std::vector<trace::IterationRow>& steps);
  // In order of start. `launched_ns`: when the host launched it, where that is known; it says whose step the kernel is.
  void add(const trace::KernelRow& row, analytics::fingerprint::Family family, std::optional<std::int64_t> launched_ns);

  struct Result {
    std::vector<analytics::attribution::NodeShare> shares;
    core::Json summary;  // what was joined how, for the outcome
  };
  Result join(const GraphNodes& graph);

 private:
  using DeviceKey = std::pair<std::int32_t, std::int64_t>;
  struct Kernel {
    std::uint32_t name = 0;
    std::int64_t duration_ns = 0;
    std::optional<double> threads;
  };
  struct Sum {
    std::int64_t count = 0, sum_ns = 0;
  };
  struct Variant {
    std::vector<Kernel> kernels;  // of the first such step
    std::vector<Sum> sums;        // by place
    std::int64_t steps = 0;
  };
  struct Device {
    std::map<std::int64_t, std::vector<Kernel>> open;  // by step
    std::map<std::vector<std::uint32_t>, Variant> variants;
    std::int64_t left_out = 0;  // steps that are too long, or of one variant too many
  };
  [[nodiscard]] std::optional<std::int64_t> step_of(std::int32_t rank, std::int64_t time_ns) const;
  static void close(Device& device, std::vector<Kernel> kernels);
  void join(const DeviceKey& key, const Variant& variant, const GraphNodes& graph, Result& result);

  trace::NameTable& names_;
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> steps_;  // by rank: start, end
  std::map<std::uint32_t, analytics::fingerprint::Family> families_;                  // by name
  std::map<DeviceKey, Device> devices_;
};

// Nodes of the session's graph, or, where it has none, those that ran. `go_on` fails where the import is to end.
core::Result<std::int64_t> count_graph_nodes(const std::string& session_path, trace::NameTable& names,
                                             const std::function<core::Status()>& go_on);

}  // namespace aaco::workflows
