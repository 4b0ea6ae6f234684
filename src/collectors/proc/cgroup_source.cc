#include "collectors/proc/cgroup_source.h"

#include "collectors/probe/scanner.h"
#include "collectors/proc/cpu_range.h"
#include "hardware/cgroup.h"

namespace aaco::collectors::proc {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::size_t kLongestMembership = 4096;

std::optional<std::uint64_t> us_to_ns(std::optional<std::uint64_t> us) {
  if (!us || *us > UINT64_MAX / kNsPerUs) return std::nullopt;
  return *us * kNsPerUs;
}

}  // namespace

CgroupCpuStat parse_cgroup_cpu_stat(std::string_view text) {
  CgroupCpuStat stat;
  stat.use_ns = us_to_ns(probe::keyed_u64(text, "usage_usec"));
  stat.throttled_ns = us_to_ns(probe::keyed_u64(text, "throttled_usec"));
  if (!stat.throttled_ns) stat.throttled_ns = probe::keyed_u64(text, "throttled_time");
  stat.periods = probe::keyed_u64(text, "nr_periods");
  stat.throttled_periods = probe::keyed_u64(text, "nr_throttled");
  return stat;
}

void CgroupSource::open_group() {
  cpu_stat_.close();
  memory_.close();
  const hardware::Cgroup group = hardware::find_cgroup(root_.path, target_.process_id);
  if (!group.cpu_folder.empty())
    if (auto file = probe::ProbeFile::open(root_.at(group.cpu_folder + "/cpu.stat"))) cpu_stat_ = std::move(*file);
  if (group.memory_folder.empty()) return;
  const char* const usage = group.memory_version == 2 ? "/memory.current" : "/memory.usage_in_bytes";
  if (auto file = probe::ProbeFile::open(root_.at(group.memory_folder + usage))) memory_ = std::move(*file);
}

core::Status CgroupSource::open(const SysRoot& root, const Target& target) {
  online_ = online_cpus(root);
  root_ = root;
  target_ = target;
  const std::string process = target.process_id == 0 ? "self" : std::to_string(target.process_id);
  if (auto file = probe::ProbeFile::open(root.at("/proc/" + process + "/cgroup"))) membership_ = std::move(*file);
  char buffer[kLongestMembership];
  if (const auto text = membership_.read(buffer)) groups_ = *text;
  open_group();
  if (!cpu_stat_.valid() && !memory_.valid())
    return core::fail(core::ErrorCode::unsupported, "no readable cgroup for the process; a CPU quota would go undetected");
  return {};
}

// A process that ended is in no group: what was open stays so.
void CgroupSource::follow() {
  char buffer[kLongestMembership];
  const auto text = membership_.read(buffer);
  if (!text || text->empty() || *text == groups_) return;
  groups_ = *text;
  open_group();
  has_before_ = false;
}

void CgroupSource::intern(trace::Sink& sink) {
  entity_ = sink.name("cgroup");
  use_ = sink.name("cgroup.cpu_use_cores");
  throttled_ = sink.name("cgroup.throttled_ratio");
  periods_ = sink.name("cgroup.periods_per_second");
  throttled_periods_ = sink.name("cgroup.throttled_periods_per_second");
  memory_bytes_ = sink.name("cgroup.memory_bytes");
}

void CgroupSource::sample(probe::Emitter& out) {
  follow();
  if (cpu_stat_.valid()) {
    char buffer[1024];
    const auto text = cpu_stat_.read(buffer);
    if (!text) return out.drop("proc.cgroup: the cgroup was removed");
    const CgroupCpuStat now = parse_cgroup_cpu_stat(*text);
    const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
    const auto rate = [&](trace::NameId metric, const auto& before, const auto& after, double unit) {
      if (!has_before_ || seconds <= 0 || !before || !after || *after < *before) return;
      const double value = static_cast<double>(*after - *before) * unit / seconds;
      if (metric == use_ && !is_possible(value, online_))
        return out.drop("proc.cgroup: more CPU time than the machine's CPUs have");
      out.host(metric, entity_, value);
    };
    rate(use_, before_.use_ns, now.use_ns, 1e-9);
    rate(throttled_, before_.throttled_ns, now.throttled_ns, 1e-9);
    rate(periods_, before_.periods, now.periods, 1);
    rate(throttled_periods_, before_.throttled_periods, now.throttled_periods, 1);
    before_ = now;
    before_ns_ = out.now_ns();
    has_before_ = true;
  }
  if (!memory_.valid()) return;
  if (const auto bytes = memory_.read_i64())
    out.host(memory_bytes_, entity_, static_cast<double>(*bytes));
  else
    out.drop("proc.cgroup: reading memory failed");
}

}  // namespace aaco::collectors::proc
