#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analytics/collectives.h"

// Which rank of one job the others wait for, from the collectives of ranks that were traced one by one.
namespace aaco::analytics::collectives {

// "gloo:all_reduce" gives all_reduce: the range that a process group writes around an operation on the host. Empty: another name.
std::string_view host_operation(std::string_view range);

struct RankWait {
  std::int32_t rank = 0;
  std::int64_t wait_ns = 0;      // in all matched operations
  std::int64_t late_count = 0;   // operations in which it arrived last
  std::int64_t match_count = 0;  // operations with a wait
};

struct LateRank {
  RankWait late, waits;  // the rank that waits least, and the one that waits most
  WaitMethod method = WaitMethod::none;
};

inline constexpr double kLateTimes = 2;     // the others wait this much longer (our own judgement)
inline constexpr double kLateShare = 0.02;  // of `span_ns`: below it the waits are noise (our own judgement)
inline constexpr std::int64_t kFewestOperations = 3;

// Empty where fewer than kFewestOperations were matched between the ranks, or none clearly waits for another. `span_ns`: of the
// traced part of one rank.
std::optional<LateRank> late_rank(std::span<const Call> calls, double span_ns);

}  // namespace aaco::analytics::collectives
