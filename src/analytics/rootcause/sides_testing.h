#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analytics/rootcause.h"
#include "tests/support/source_dir.h"

// Sides of a comparison for the tests of this folder.
namespace aaco::analytics::rootcause {

// A call of 1000 ns on two CPUs, all of it computing.
inline Side calm() {
  Side side;
  side.call_ns = 1000;
  side.account.emplace();
  auto& call = *side.account;
  call.calls = 100;
  call.wall_ns = 1000;
  call.cpu_ns = 1000;
  call.wait_ns = call.blocked_ns = call.others_wait_ns = call.system_ns = call.throttled_ns = 0;
  call.process_cpu_ns = 2000;
  call.minor_faults = call.major_faults = call.storage_bytes = 0;
  return side;
}

struct Profiled {
  trace::NameTable names;
  Side side = calm();
  Profiled(double convolution, double matmul, double between) {
    side.names = &names;
    side.nodes.parts.emplace();
    side.nodes.parts->in_nodes.mean_ns = convolution + matmul;
    side.nodes.parts->between_nodes.mean_ns = between;
    side.nodes.parts->whole.mean_ns = convolution + matmul + between;
    add("Conv", convolution);
    add("MatMul", matmul);
  }
  void add(std::string_view name, double ns) {
    metrics::NodeShare share;
    share.op_type = names.intern(name);
    share.time.mean_ns = ns;
    if (ns > 0) side.nodes.operators.push_back(share);
  }
};

inline const bottleneck::RuleBook& book() {
  static const bottleneck::RuleBook shipped = *bottleneck::RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  return shipped;
}

inline std::string first_cause(const Side& a, const Side& b, const std::vector<hardware::Difference>& differences = {}) {
  const auto causes = find_causes(a, b, *decompose(a, b), differences, book(), nullptr);
  return causes.empty() ? "" : causes.front().id;
}

}  // namespace aaco::analytics::rootcause
