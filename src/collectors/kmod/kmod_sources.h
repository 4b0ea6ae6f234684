#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collectors/kmod/device.h"
#include "collectors/kmod/drm_text.h"
#include "collectors/probe/source.h"
#include "core/result.h"

namespace aaco::collectors::kmod {

// process.gpu_memory_bytes of the process under test with its descendants. Without the module's device it reads /proc/PID/fdinfo
// of each DRM file, the same text at more system calls.
class GpuMemorySource final : public probe::Source {
 public:
  explicit GpuMemorySource(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string name() const override { return "kmod.gpu_memory"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  core::Result<std::string> text_of(std::int64_t process_id) const;
  SysRoot root_;
  std::int64_t process_id_ = 0;
  std::shared_ptr<Device> device_;  // null: /proc
  trace::NameId memory_;
};

// Interrupt rates of the machine since the last reading: cpu.device_interrupts_per_second, cpu.timer_interrupts_per_second,
// cpu.ipis_per_second, cpu.softirqs_per_second.
class InterruptSource final : public probe::Source {
 public:
  explicit InterruptSource(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string name() const override { return "kmod.interrupts"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override;

 private:
  std::shared_ptr<Device> device_;
  std::optional<std::uint32_t> region_;
  trace::NameId devices_, timers_, ipis_, softirqs_;
};

// cpu.tsc_hz: ticks of the processor's counter per second of CLOCK_MONOTONIC_RAW since the first reading.
class TscSource final : public probe::Source {
 public:
  explicit TscSource(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string name() const override { return "kmod.tsc"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  std::shared_ptr<Device> device_;
  std::optional<ClockPair> first_;
  trace::NameId rate_;
};

}  // namespace aaco::collectors::kmod
