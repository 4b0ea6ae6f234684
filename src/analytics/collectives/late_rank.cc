#include "analytics/late_rank.h"

#include <algorithm>
#include <array>
#include <map>

namespace aaco::analytics::collectives {
namespace {

// Process groups of PyTorch that run on the host or write a range around what they enqueue.
constexpr std::array<std::string_view, 5> kGroups = {"gloo:", "nccl:", "mpi:", "ucc:", "xccl:"};

}  // namespace

std::string_view host_operation(std::string_view range) {
  for (const std::string_view group : kGroups)
    if (range.starts_with(group)) return range.substr(group.size());
  return {};
}

std::optional<LateRank> late_rank(std::span<const Call> calls, double span_ns) {
  std::map<std::int32_t, RankWait> ranks;
  LateRank found;
  for (const Call& call : calls) {
    if (!call.wait_ns || call.instance < 0) continue;
    RankWait& rank = ranks[call.row.rank];
    rank.rank = call.row.rank;
    rank.wait_ns += *call.wait_ns;
    rank.late_count += *call.wait_ns == 0 ? 1 : 0;
    ++rank.match_count;
    found.method = std::max(found.method, call.method);
  }
  if (ranks.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(
      ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second.wait_ns < b.second.wait_ns; });
  found.late = least->second;
  found.waits = most->second;
  const auto waited = static_cast<double>(found.waits.wait_ns), own = static_cast<double>(found.late.wait_ns);
  if (found.late.match_count < kFewestOperations || span_ns <= 0) return std::nullopt;
  if (waited < kLateTimes * own || waited - own < kLateShare * span_ns) return std::nullopt;
  return found;
}

}  // namespace aaco::analytics::collectives
