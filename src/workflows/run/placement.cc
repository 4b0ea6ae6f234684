#include "workflows/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace aaco::workflows {

Placement placement_of(const runner::BackendOptions& requested, const core::Json& runtime) {
  Placement placement{requested.backend, requested.provider, {}, {}};
  std::vector<std::pair<std::int64_t, std::string>> ran;
  for (const auto& [provider, nodes] : runtime["nodes_by_provider"].members())
    if (const auto count = nodes.as_i64().value_or(0); count > 0) ran.emplace_back(count, provider);
  const bool as_requested =
      ran.empty() || std::any_of(ran.begin(), ran.end(), [&](const auto& one) { return one.second == requested.provider; });
  if (as_requested) return placement;
  std::stable_sort(ran.begin(), ran.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  placement.provider.clear();
  for (const auto& [count, provider] : ran) placement.provider += (placement.provider.empty() ? "" : "+") + provider;
  placement.backend = placement.provider == "CPUExecutionProvider" ? "cpu" : placement.provider;
  placement.requested_backend = requested.backend;
  placement.requested_provider = requested.provider;
  return placement;
}

core::Json described(core::Json runtime, const Placement& placement) {
  if (placement.requested_provider.empty()) return runtime;
  runtime.set("provider", placement.provider).set("requested_provider", placement.requested_provider);
  return runtime;
}

}  // namespace aaco::workflows
