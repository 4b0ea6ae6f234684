#include "collectors/clock/clock_collector.h"

#include "collectors/clock/clock_sources.h"
#include "collectors/probe/sources_collector.h"

namespace aaco::collectors::clock {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::size_t kManyCpus = 64;

class ClockCollector final : public probe::SourcesCollector {
 public:
  explicit ClockCollector(std::unique_ptr<core::Clock> clock) : SourcesCollector("clock", std::move(clock)) {}

  [[nodiscard]] CollectorInfo info() const override {
    return {"clock", "CPU clocks, clock limits, boost, temperature and thermal throttling"};
  }
  core::Status open(const SysRoot& root, const Target& target) override {
    const std::int64_t fast = cpus_with_frequency(root) > kManyCpus ? 200 : 100;
    sources().add(std::make_unique<FrequencySource>(), fast * kMillisecond);
    sources().add(std::make_unique<ThermalSource>(), fast * kMillisecond);
    sources().add(std::make_unique<PolicySource>(), 1000 * kMillisecond);
    return sources().open(root, target);
  }
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock) {
  return std::make_unique<ClockCollector>(std::move(clock));
}

}  // namespace aaco::collectors::clock
