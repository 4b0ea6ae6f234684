#include <fmt/format.h>

#include "analytics/llm.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] std::optional<double> value() const { return count_ == 0 ? std::optional<double>() : sum_ / count_; }

 private:
  double sum_ = 0, count_ = 0;
};

}  // namespace

ServerState server_state(std::span<const trace::SystemEventRow> events, const trace::NameTable& names, std::int64_t from_ns,
                         std::int64_t to_ns) {
  Mean cores, waits, throttled;
  for (const auto& row : events) {
    if (row.time_ns < from_ns || row.time_ns > to_ns) continue;
    const std::string_view metric = names.text(row.metric);
    if (metric == "process.cpu_use_cores" && names.text(row.entity) == "tree") cores.add(row.value);
    if (metric == "process.run_queue_wait_ratio") waits.add(row.value);
    if (metric == "cgroup.throttled_ratio") throttled.add(row.value);
  }
  return {.cpu_cores = cores.value(), .run_queue_ratio = waits.value(), .throttled_ratio = throttled.value()};
}

std::vector<std::string> server_causes(const ServerState& server, const OwnLimit& client) {
  std::vector<std::string> causes;
  if (client.limited && 2 * client.run_queue_ratio.value_or(1) > server.run_queue_ratio.value_or(0)) return causes;
  if (server.cpu_cores && server.run_queue_ratio && *server.run_queue_ratio > kServerWaitFloor) {
    const double share = *server.run_queue_ratio / (*server.run_queue_ratio + *server.cpu_cores);
    if (share > kServerWaits)
      causes.push_back(fmt::format("the server waited for a CPU {} of the time it had work ({:.2f} CPUs used)",
                                   core::format_percent(share), *server.cpu_cores));
  }
  if (server.throttled_ratio.value_or(0) > kServerThrottled)
    causes.push_back(fmt::format("the CPU limit of the control group throttled the server {} of the time",
                                 core::format_percent(*server.throttled_ratio)));
  return causes;
}

}  // namespace aaco::analytics::llm
