#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::proc {

// /proc/loadavg: system.load_1min.
class LoadSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.loadavg"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  probe::ProbeFile file_;
  trace::NameId load_;
};

// /proc/meminfo: memory.* of the machine.
class MemoryInfoSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.meminfo"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  probe::ProbeFile file_;
  std::vector<trace::NameId> metrics_;
};

// /proc/vmstat: paging rates of the machine. They are the nearest thing to memory traffic that /proc gives: they count pages
// moved by the kernel, not bytes moved between processor and memory.
class VmStatSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.vmstat"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { before_.clear(); }

 private:
  probe::ProbeFile file_;
  std::vector<char> buffer_;
  std::vector<std::optional<std::uint64_t>> before_;
  std::int64_t before_ns_ = 0;
  std::vector<trace::NameId> metrics_;
};

// Total stall time in /proc/pressure/*: us since boot in which some, or all, tasks that were not idle waited.
struct Pressure {
  std::optional<std::uint64_t> some_us, full_us;
  bool operator==(const Pressure&) const = default;
};
Pressure parse_pressure(std::string_view text);

// /proc/pressure/{cpu,memory,io}: the share of wall time in which somebody (some), or everybody (full), waited.
class PressureSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.pressure"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override;

 private:
  struct Resource {
    std::string name;  // "cpu"
    probe::ProbeFile file;
    Pressure before;
    trace::NameId some, full;
  };
  std::vector<Resource> resources_;
  std::int64_t before_ns_ = 0;
};

}  // namespace aaco::collectors::proc
