#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "collectors/nvml/api.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::nvml {

// One NVIDIA GPU. What a device answers with "not supported" is not asked again; other errors are counted at each reading.
class DeviceSource : public probe::Source {
 public:
  DeviceSource(std::shared_ptr<const Api> api, DeviceHandle handle, std::int64_t device)
      : api_(std::move(api)), handle_(handle), device_(device) {}
  core::Status open(const SysRoot&, const Target&) override { return {}; }

 protected:
  // A value asked for again and again.
  struct Question {
    const char* metric = "";
    trace::NameId name;
    bool unsupported = false;
  };
  void name_questions(trace::Sink& sink, std::initializer_list<Question*> questions);
  // Calls and emits value * unit.
  template <class Value, class Function, class... Arguments>
  void ask(probe::Emitter& out, Question& question, double unit, Function function, Arguments... arguments);
  // True where the answer counts.
  bool accept(probe::Emitter& out, Question& question, bool present, int result);
  void emit(probe::Emitter& out, const Question& question, double value) const {
    out.gpu(question.name, source_, device_, value);
  }

  std::shared_ptr<const Api> api_;
  DeviceHandle handle_;
  std::int64_t device_;
  trace::NameId source_;
};

// Activity, power, energy, clocks, temperature, throttling.
class FastSource final : public DeviceSource {
 public:
  using DeviceSource::DeviceSource;
  [[nodiscard]] std::string name() const override { return "nvml of GPU " + std::to_string(device_); }
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { power_before_ = thermal_before_ = std::nullopt; }

 private:
  void sample_activity(probe::Emitter& out);
  void sample_power(probe::Emitter& out);
  void sample_throttling(probe::Emitter& out);
  void sample_violation(probe::Emitter& out, Question& question, int policy, std::optional<ViolationTime>& before);

  Question busy_{"gpu.use_ratio"}, memory_busy_{"gpu.memory_use_ratio"}, power_{"gpu.power_watts"},
      power_instant_{"gpu.power_watts"}, energy_{"gpu.energy_joules"}, clock_{"gpu.clock_hz"},
      memory_clock_{"gpu.memory_clock_hz"}, temperature_{"gpu.temperature_celsius"}, throttle_power_{"gpu.throttle_power_flag"},
      throttle_thermal_{"gpu.throttle_thermal_flag"}, throttle_other_{"gpu.throttle_other_flag"},
      throttled_power_{"gpu.throttled_power_ratio"}, throttled_thermal_{"gpu.throttled_thermal_ratio"};
  std::optional<ViolationTime> power_before_, thermal_before_;
  trace::NameId instant_source_;
};

// Memory, limits, links, error counts.
class SlowSource final : public DeviceSource {
 public:
  using DeviceSource::DeviceSource;
  [[nodiscard]] std::string name() const override { return "nvml (slow) of GPU " + std::to_string(device_); }
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  Question memory_used_{"gpu.vram_used_bytes"}, memory_total_{"gpu.vram_total_bytes"}, power_cap_{"gpu.power_cap_watts"},
      pcie_speed_{"gpu.pcie_speed_transfers_per_second"}, pcie_width_{"gpu.pcie_width_lanes"},
      pcie_replays_{"gpu.pcie_replays_count"}, corrected_{"gpu.ecc_correctable_count"},
      uncorrected_{"gpu.ecc_uncorrectable_count"};
};

// Transfers per second and lane of a PCIe generation; empty for an unknown one.
std::optional<double> pcie_speed(unsigned generation);

}  // namespace aaco::collectors::nvml
