#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::proc {

// Time a CPU has spent since boot, in clock ticks (10 ms each). Guest time is inside user and nice.
struct CpuTimes {
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  [[nodiscard]] std::uint64_t total() const { return user + nice + system + idle + iowait + irq + softirq + steal; }
  bool operator==(const CpuTimes&) const = default;
};

// /proc/stat: the machine ("cpu"), each core, and counters since boot. Cores that are off line are not listed by the kernel.
struct SystemStat {
  struct Core {
    std::int64_t number = 0;
    CpuTimes times;
    bool operator==(const Core&) const = default;
  };
  CpuTimes machine;
  std::vector<Core> cores;
  std::optional<std::uint64_t> context_switches;
  std::optional<std::uint64_t> interrupts;
  std::optional<std::uint64_t> soft_interrupts;
  std::optional<std::uint64_t> processes_created;
  std::optional<std::uint64_t> running;  // runnable now
  std::optional<std::uint64_t> blocked;  // in uninterruptible I/O wait now
  bool operator==(const SystemStat&) const = default;
};

// Fills `into` (whose vector keeps its memory). False where the text does not begin with a "cpu" line of at least four times.
bool parse_system_stat(std::string_view text, SystemStat& into);

// The shares of the time between two readings, each 0..1; empty where no time passed. iowait may run backwards in the kernel:
// counted as 0.
struct CpuShares {
  double use = 0, user = 0, system = 0, iowait = 0, irq = 0, steal = 0;
};
std::optional<CpuShares> cpu_shares(const CpuTimes& before, const CpuTimes& after);

// cpu.* per machine and core, system.* rates.
class CpuStatSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.stat"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { has_before_ = false; }

 private:
  void emit_cores(probe::Emitter& out);
  void emit_rates(probe::Emitter& out);
  trace::NameId core_entity(probe::Emitter& out, std::int64_t number);

  probe::ProbeFile file_;
  std::vector<char> buffer_;
  SystemStat before_, now_;
  std::int64_t before_ns_ = 0;
  bool has_before_ = false;
  std::vector<trace::NameId> core_entities_;  // by core number
  trace::NameId use_, user_, system_, iowait_, irq_, steal_, switches_, interrupts_, forks_, running_, blocked_;
};

}  // namespace aaco::collectors::proc
