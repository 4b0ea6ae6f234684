#include "collectors/proc/proc_collector.h"

#include "collectors/probe/sources_collector.h"
#include "collectors/proc/cgroup_source.h"
#include "collectors/proc/cpu_stat.h"
#include "collectors/proc/energy_source.h"
#include "collectors/proc/machine_sources.h"
#include "collectors/proc/process_sources.h"

namespace aaco::collectors::proc {
namespace {

constexpr std::int64_t kEverySample = 0;
constexpr std::int64_t kMillisecond = 1'000'000;

class ProcCollector final : public probe::SourcesCollector {
 public:
  explicit ProcCollector(std::unique_ptr<core::Clock> clock) : SourcesCollector("proc", std::move(clock)) {}

  [[nodiscard]] CollectorInfo info() const override {
    return {"proc",
            "CPU use, memory, page faults, context switches, run-queue wait, pressure and cgroup limits of the host and the "
            "process tree"};
  }
  core::Status open(const SysRoot& root, const Target& target) override {
    if (target.process_id > 0) {
      const auto tree = std::make_shared<ProcessTree>();
      sources().add(std::make_unique<TreeSource>(tree), 200 * kMillisecond);  // first: the others walk its tree
      sources().add(std::make_unique<CpuUseSource>(tree), kEverySample);
      sources().add(std::make_unique<RunQueueSource>(tree), 20 * kMillisecond);
      sources().add(std::make_unique<ProcessStatSource>(tree), 50 * kMillisecond);
      sources().add(std::make_unique<ProcessStatusSource>(tree), 200 * kMillisecond);
    }
    sources().add(std::make_unique<CpuStatSource>(), 100 * kMillisecond);
    sources().add(std::make_unique<PressureSource>(), 100 * kMillisecond);
    sources().add(std::make_unique<CgroupSource>(), 100 * kMillisecond);
    sources().add(std::make_unique<EnergySource>(), 100 * kMillisecond);
    sources().add(std::make_unique<MemoryBandwidthSource>(), 100 * kMillisecond);
    sources().add(std::make_unique<MemoryInfoSource>(), 200 * kMillisecond);
    sources().add(std::make_unique<VmStatSource>(), 500 * kMillisecond);
    sources().add(std::make_unique<LoadSource>(), 1000 * kMillisecond);
    return sources().open(root, target);
  }
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock) {
  return std::make_unique<ProcCollector>(std::move(clock));
}

}  // namespace aaco::collectors::proc
