#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"
#include "collectors/proc/energy_domain.h"

namespace aaco::collectors::proc {

// Energy counters of the processor (RAPL, powercap): cpu.power_watts over the interval between two readings, and
// cpu.energy_joules since the first one.
class EnergySource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "powercap.rapl"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override;

 private:
  struct Domain {
    EnergyDomain counter;
    bool fresh = true;  // no reading since the start or a pause: energy continues, power waits for the next reading
    trace::NameId entity;
  };
  std::vector<Domain> domains_;
  std::int64_t before_ns_ = 0;
  trace::NameId power_, energy_;
};

// Memory traffic counted by the hardware, where the resctrl file system is mounted and has monitoring: bytes per second and L3
// cache.
class MemoryBandwidthSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "resctrl.mbm"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override;

 private:
  struct Domain {
    std::string name;  // "L3 00"
    probe::ProbeFile file;
    std::optional<std::uint64_t> last_bytes;
    trace::NameId entity;
  };
  std::vector<Domain> domains_;
  std::int64_t before_ns_ = 0;
  trace::NameId bandwidth_;
};

}  // namespace aaco::collectors::proc
