#include "collectors/nvml/nvml_collector.h"

#include "collectors/nvml/api.h"
#include "collectors/nvml/device_sources.h"
#include "collectors/probe/sources_collector.h"
#include "hardware/gpu_devices.h"

namespace aaco::collectors::nvml {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

class NvmlCollector final : public probe::SourcesCollector {
 public:
  NvmlCollector(std::string library, std::unique_ptr<core::Clock> clock)
      : SourcesCollector("nvml", std::move(clock)), library_(std::move(library)) {}
  ~NvmlCollector() override { shut_down(); }

  [[nodiscard]] CollectorInfo info() const override {
    return {"nvml", "utilisation, memory, power, energy, temperature, clocks and throttling of NVIDIA GPUs"};
  }

  core::Status open(const SysRoot& root, const Target& target) override {
    AACO_ASSIGN(Api api, open_api(library_));
    api_ = std::make_shared<const Api>(std::move(api));
    unsigned count = 0;
    if (const int error = api_->device_count(&count); error != kSuccess)
      return core::fail(core::ErrorCode::unsupported, "NVML cannot count devices: " + api_->text(error));
    const auto first = static_cast<std::int64_t>(hardware::find_amd_devices(root.path).size());
    std::string refused;
    for (unsigned i = 0; i < count; ++i) {
      DeviceHandle handle = nullptr;
      if (const int error = api_->device_handle(i, &handle); error != kSuccess) {
        refused = "device " + std::to_string(i) + " cannot be opened: " + api_->text(error);
        sources().note(refused);
        continue;
      }
      sources().add(std::make_unique<FastSource>(api_, handle, first + i), 50 * kMillisecond);
      sources().add(std::make_unique<SlowSource>(api_, handle, first + i), 1000 * kMillisecond);
      opened_ = true;
    }
    if (!opened_) return core::fail(core::ErrorCode::unsupported, refused.empty() ? "NVML found no device" : "NVML's " + refused);
    return sources().open(root, target);
  }
  void close() override {
    SourcesCollector::close();
    shut_down();
  }

 private:
  void shut_down() {
    if (api_) api_->shutdown();
    api_.reset();
  }
  std::string library_;
  std::shared_ptr<const Api> api_;
  bool opened_ = false;
};

}  // namespace

std::unique_ptr<Collector> make_collector(std::string library, std::unique_ptr<core::Clock> clock) {
  return std::make_unique<NvmlCollector>(std::move(library), std::move(clock));
}

}  // namespace aaco::collectors::nvml
