#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/near_miss.h"
#include "graph/partition.h"

// Which operators in which types a backend takes: data (data/support, docs/formats/support.md).
namespace aaco::graph {

// What connects a backend's devices with the host: the fastest that there is, so that its time is the least.
struct HostLink {
  std::string name;        // "PCIe 5.0 x16"
  double bytes_per_s = 0;  // in one direction, after the line code
};
struct BackendSupport {
  std::string backend, source;
  std::vector<std::string> devices;  // ids of the registry that are programmed by it alone
  std::set<ElementType> types;
  std::set<std::string> operators;         // with their domain where it is not ONNX's
  std::set<std::string> constant_operand;  // of these: only where the second operand is a constant
  NodeRules rules;                         // of these: only where the node meets them (`conditions`)
  std::optional<HostLink> link;
  bool one_part = false;
  std::optional<std::int64_t> most_refused;  // with more nodes than these that it does not take, it takes none
};
// Fails with invalid_input, with file and line, for an unknown key, a type that does not exist, an operator that stands twice.
core::Result<BackendSupport> load_backend_support(const std::string& path);

struct SupportRefusal {
  std::string reason;  // id in data/rules/compiler.yaml
  std::string text;
};
// Holds the nodes of one graph against what a backend takes; both must outlive it. `floats_as`: as partition_by() has it.
class SupportCheck {
 public:
  SupportCheck(const BackendSupport& support, ElementType floats_as, const Graph& graph);
  // Why the backend does not take the node (index into graph.nodes); empty: it does. Limits of the graph as a whole are not
  // looked at.
  [[nodiscard]] std::optional<SupportRefusal> refusal(std::size_t node) const;

 private:
  const BackendSupport& support_;
  ElementType floats_as_;
  const Graph& graph_;
  NodeRuleCheck rules_;
  std::vector<bool> constant_;  // by tensor: an initializer, or computed from such alone (a dequantised weight)
};

// The graph over the backend (target 0) and a host that takes everything (1). `floats_as`: the type that floating-point work is
// computed in; unknown: as the graph has it. `on_host`: operators that are left to the host by wish, with their domain.
Partition partition_by(const Graph& graph, const BackendSupport& support, ElementType floats_as, const std::string& host,
                       const std::vector<std::string>& on_host = {});

}  // namespace aaco::graph
