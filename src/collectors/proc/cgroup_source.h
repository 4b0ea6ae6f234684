#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::proc {

// cpu.stat of a control group. Version 1 counts ns and no use, version 2 us.
struct CgroupCpuStat {
  std::optional<std::uint64_t> use_ns, throttled_ns, periods, throttled_periods;
  bool operator==(const CgroupCpuStat&) const = default;
};
CgroupCpuStat parse_cgroup_cpu_stat(std::string_view text);

// cgroup.*: how long the group was held back by its CPU quota, and its memory. throttled_ratio is the sum over CPUs of the time
// that run queues were throttled, over wall time: it exceeds 1 where several CPUs were. A process that moves to another group (a
// launcher that limits itself, a batch system) is followed.
class CgroupSource final : public probe::Source {
 public:
  [[nodiscard]] std::string name() const override { return "proc.cgroup"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { has_before_ = false; }

 private:
  void open_group();
  void follow();

  SysRoot root_;
  Target target_;
  probe::ProbeFile membership_, cpu_stat_, memory_;
  std::string groups_;  // as the kernel names those of the process
  CgroupCpuStat before_;
  std::int64_t before_ns_ = 0;
  bool has_before_ = false;
  double online_ = 0;  // CPUs; 0: unknown
  trace::NameId entity_, use_, throttled_, periods_, throttled_periods_, memory_bytes_;
};

}  // namespace aaco::collectors::proc
