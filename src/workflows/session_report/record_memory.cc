#include <fmt/format.h>

#include "core/numbers.h"
#include "workflows/session_report/record_facts.h"

namespace aaco::workflows {
namespace {

constexpr double kMemoryLimitHits = 5;     // per second
constexpr std::int64_t kKilled = 128 + 9;  // exit code of a program that SIGKILL ended

}  // namespace

std::string memory_limit_of(const RecordFacts& facts) {
  const double hits = facts.metric("cgroup.memory_limit_hits").value_or(0);
  return fmt::format("the memory limit of its control group, {}{}",
                     core::format_bytes(facts.metric("cgroup.memory_limit_bytes").value_or(0)),
                     hits > 0 ? fmt::format(" (reached {} times)", core::format_count(hits)) : "");
}

std::optional<RecordLimit> out_of_memory(const RecordFacts& facts) {
  const double kills = facts.metric("cgroup.oom_kills").value_or(0);
  if (kills < 1) return std::nullopt;
  const bool itself = facts.model.session.outcome.exit_code == kKilled;
  std::string text = itself ? "The kernel killed the program"
                            : fmt::format("The kernel killed {:.0f} of the processes in its control group", kills);
  text += " because memory ran out: ";
  text += facts.metric("cgroup.memory_limit_bytes") ? memory_limit_of(facts)
                                                    : std::string("of the machine, as its control group has no limit");
  return RecordLimit{"out_of_memory",
                     itself ? "memory: killed by the kernel (OOM)" : "memory: processes killed by the kernel (OOM)", text + "."};
}

RecordLimit by_memory_limit(const RecordFacts& facts, RecordLimit limit) {
  const double seconds = static_cast<double>(facts.model.session.outcome.wall_ns.value_or(0)) * 1e-9;
  const double hits = facts.metric("cgroup.memory_limit_hits").value_or(0);
  const bool from_memory = limit.id == "storage" || limit.id == "page_faults" || limit.id == "kernel_time";
  if (!from_memory || seconds <= 0 || hits < kMemoryLimitHits * seconds) return limit;
  return {"memory_limit", "a memory limit",
          limit.text + fmt::format(" Its memory was full: {}, so pages were taken away and had to be read again.",
                                   memory_limit_of(facts))};
}

}  // namespace aaco::workflows
