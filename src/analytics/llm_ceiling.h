#pragma once

#include <cstdint>
#include <optional>

#include "analytics/llm.h"

// The load generator's own ceiling: how `aaco llm --self-test` finds it, and what it says about a run.
namespace aaco::analytics::llm {

// One step of the search: chunks per second that were planned and that arrived, and how busy each side was.
struct CeilingStep {
  double planned_per_second = 0, received_per_second = 0;
  double client_cpu_ratio = 0, client_run_queue_ratio = 0, server_cpu_ratio = 0;
  std::int64_t server_late_ns = 0;  // the most that a chunk was written behind its time
};
inline constexpr double kKeptUp = 0.9;  // of the planned chunks per second: between two answers a stream has none
// The client keeps up: all chunks arrive, and its thread has room left (kBusyClient). The load's own waits for a CPU are not its
// work and do not count here.
bool keeps_up(const CeilingStep& step);
inline constexpr double kBusyServer = 0.95;  // share of its CPU above which the built-in server has no room left
// Fewer chunks arrived than were planned, and the client had room or the server had none: the client may reach more.
bool server_is_limit(const CeilingStep& step);

// Doubles the rate until the client does not keep up, then bisects.
class CeilingSearch {
 public:
  explicit CeilingSearch(double first_per_second, double tolerance_ratio = 0.05);
  // The rate to try next; empty: found.
  [[nodiscard]] std::optional<double> next() const;
  void add(const CeilingStep& step);
  // The most measurements that may follow, where each one that the client does not keep up with is repeated.
  [[nodiscard]] int most_left() const;
  // The highest rate with which the client kept up; empty where it kept up with none.
  [[nodiscard]] const std::optional<CeilingStep>& best() const { return best_; }
  // The step above it failed because of the server: the ceiling is higher than found.
  [[nodiscard]] bool server_limited() const { return server_limited_; }

 private:
  double first_, tolerance_;
  std::optional<CeilingStep> best_;
  std::optional<double> too_high_;
  bool server_limited_ = false;
};

// Adds the reason where the load was above the client's ceiling.
void judge_ceiling(const Load& load, const std::optional<double>& ceiling_chunks_per_second, OwnLimit& limit);

}  // namespace aaco::analytics::llm
