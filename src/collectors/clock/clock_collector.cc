#include "collectors/clock/clock_collector.h"

#include "collectors/clock/clock_sources.h"

namespace aaco::collectors::clock {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::size_t kManyCpus = 64;

class ClockCollector final : public Collector {
 public:
  explicit ClockCollector(std::unique_ptr<core::Clock> clock) : clock_(std::move(clock)) { sources_.set_name("clock"); }

  [[nodiscard]] CollectorInfo info() const override {
    return {"clock", "CPU clocks, clock limits, boost, temperature and thermal throttling"};
  }
  core::Status open(const SysRoot& root, const Target& target) override {
    const std::int64_t fast = cpus_with_frequency(root) > kManyCpus ? 200 : 100;
    sources_.add(std::make_unique<FrequencySource>(), fast * kMillisecond);
    sources_.add(std::make_unique<ThermalSource>(), fast * kMillisecond);
    sources_.add(std::make_unique<PolicySource>(), 1000 * kMillisecond);
    return sources_.open(root, target);
  }
  void sample(trace::Sink& sink) override { sources_.sample(sink, *clock_); }
  void forget() override { sources_.forget(); }
  void close() override { sources_.close(); }
  [[nodiscard]] trace::Account account() const override { return sources_.account(); }

 private:
  std::unique_ptr<core::Clock> clock_;
  probe::SourceSet sources_;
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock) {
  return std::make_unique<ClockCollector>(std::move(clock));
}

}  // namespace aaco::collectors::clock
