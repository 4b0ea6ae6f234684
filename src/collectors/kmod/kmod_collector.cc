#include "collectors/kmod/kmod_collector.h"

#include <utility>

#include "collectors/kmod/kmod_sources.h"
#include "collectors/probe/sources_collector.h"

namespace aaco::collectors::kmod {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

class KmodCollector final : public probe::SourcesCollector {
 public:
  KmodCollector(std::unique_ptr<core::Clock> clock, OpenDevice open)
      : SourcesCollector("kmod", std::move(clock)), open_(std::move(open)) {}

  [[nodiscard]] CollectorInfo info() const override {
    return {"kmod", "GPU memory of the process; interrupts and the TSC's rate with the kernel module"};
  }
  core::Status open(const SysRoot& root, const Target& target) override {
    auto device = open_(root);
    std::shared_ptr<Device> opened = device ? *device : nullptr;
    sources().add(std::make_unique<GpuMemorySource>(opened), 500 * kMillisecond);
    if (opened) {
      sources().add(std::make_unique<InterruptSource>(opened), 100 * kMillisecond);
      sources().add(std::make_unique<TscSource>(opened), 1000 * kMillisecond);
    }
    const auto status = sources().open(root, target);
    // Without the module and without /proc's fdinfo, the module is what is missing.
    if (!status && !device) return tl::unexpected<core::Error>(std::move(device).error());
    if (status && !device) sources().note("kernel module: " + device.error().message + "; GPU memory is read from /proc");
    return status;
  }

 private:
  OpenDevice open_;
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::unique_ptr<core::Clock> clock, OpenDevice open) {
  return std::make_unique<KmodCollector>(std::move(clock), std::move(open));
}

}  // namespace aaco::collectors::kmod
