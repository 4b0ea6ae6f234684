#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::clock {

// cpu.clock_hz of each CPU, as cpufreq reports it.
class FrequencySource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "clock.frequency"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  struct Cpu {
    std::int64_t number = 0;
    probe::ProbeFile file;
    trace::NameId entity;
  };
  std::vector<Cpu> cpus_;
  trace::NameId clock_;
};

// What policy allows: cpu.clock_limit_hz (the lowest among the CPUs) and cpu.boost_flag.
class PolicySource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "clock.policy"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  std::vector<probe::ProbeFile> limits_;
  probe::ProbeFile boost_;
  bool boost_inverted_ = false;  // intel_pstate's file says "no turbo"
  trace::NameId limit_, boost_name_;
};

// cpu.thermal_throttles_per_second (Intel counts them per core and package) and cpu.temperature_celsius of the packages.
class ThermalSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "clock.thermal"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override;

 private:
  struct Counter {
    probe::ProbeFile file;
    std::optional<std::int64_t> before;
  };
  struct Sensor {
    probe::ProbeFile file;
    std::string label;
    trace::NameId entity;
  };
  std::vector<Counter> counters_;
  std::vector<Sensor> sensors_;
  std::int64_t before_ns_ = 0;
  trace::NameId throttles_, temperature_;
};

// How many CPUs have cpufreq files below the root.
std::size_t cpus_with_frequency(const SysRoot& root);

}  // namespace aaco::collectors::clock
