#include "analytics/stream_holds.h"

#include <algorithm>
#include <array>

namespace aaco::analytics::gaps {
namespace {

constexpr std::size_t kCallsKept = 4096, kThreadsKept = 4096;

struct Named {
  std::string_view part;
  Hold hold;
};
// Parts of the names of CUDA's and HIP's runtime and driver calls.
constexpr std::array<Named, 6> kHoldNames = {{{"StreamWaitEvent", Hold::event},
                                              {"LaunchHostFunc", Hold::host_function},
                                              {"StreamAddCallback", Hold::host_function},
                                              {"StreamWaitValue", Hold::value},
                                              {"StreamBatchMemOp", Hold::value},
                                              {"WaitExternalSemaphores", Hold::value}}};

}  // namespace

std::optional<Hold> hold_of(std::string_view name) {
  for (const Named& one : kHoldNames)
    if (name.find(one.part) != std::string_view::npos) return one.hold;
  return std::nullopt;
}

void StreamHolds::add(std::int32_t rank, std::int64_t thread_id, const HoldCall& call) {
  if (calls_.size() >= kThreadsKept && !calls_.contains({rank, thread_id})) return;
  auto& calls = calls_[{rank, thread_id}];
  calls.push_back(call);
  if (calls.size() > kCallsKept) calls.pop_front();
}

std::optional<HoldCall> StreamHolds::before(std::int32_t rank, std::int64_t thread_id, std::int64_t launch_ns,
                                            std::optional<std::int64_t> after_ns) const {
  const auto found = calls_.find({rank, thread_id});
  if (found == calls_.end()) return std::nullopt;
  const auto& calls = found->second;
  const auto belongs = [&](const HoldCall& call) {
    return call.end_ns <= launch_ns && (launch_ns - call.end_ns <= kToLaunchNs || (after_ns && call.start_ns >= *after_ns));
  };
  auto call = std::upper_bound(calls.begin(), calls.end(), launch_ns,
                               [](std::int64_t time, const HoldCall& one) { return time < one.start_ns; });
  std::optional<HoldCall> last;
  while (call != calls.begin() && belongs(*--call)) {
    if (!last) last = *call;
    if (call->hold == Hold::host_function) return last->hold == Hold::value ? last : *call;
    if (last->hold != Hold::event) return last;
  }
  return last;
}

}  // namespace aaco::analytics::gaps
