#include "collectors/proc/cpu_stat.h"

#include <string>
#include <utility>

#include "collectors/probe/scanner.h"

namespace aaco::collectors::proc {
namespace {

using probe::Scanner;

// The interrupt line alone can have thousands of numbers, and it stands before the counters we want.
constexpr std::size_t kBufferBytes = 512 * 1024;
constexpr std::int64_t kMaxCores = 16384;

bool parse_times(Scanner& words, CpuTimes& times) {
  std::uint64_t* const members[] = {&times.user,   &times.nice, &times.system,  &times.idle,
                                    &times.iowait, &times.irq,  &times.softirq, &times.steal};
  int found = 0;
  for (std::uint64_t* member : members) {
    const auto value = words.next_u64();
    *member = value.value_or(0);
    if (value) ++found;
  }
  return found >= 4;  // the oldest kernels have four
}

bool parse_core(std::string_view line, SystemStat& into) {
  Scanner words(line.substr(3));
  const auto number = words.next_i64();
  CpuTimes times;
  if (!number || *number < 0 || *number >= kMaxCores || !parse_times(words, times)) return false;
  into.cores.push_back({*number, times});
  return true;
}

void parse_counter(std::string_view line, SystemStat& into) {
  const std::pair<std::string_view, std::optional<std::uint64_t> SystemStat::*> counters[] = {
      {"ctxt ", &SystemStat::context_switches},   {"intr ", &SystemStat::interrupts},
      {"softirq ", &SystemStat::soft_interrupts}, {"processes ", &SystemStat::processes_created},
      {"procs_running ", &SystemStat::running},   {"procs_blocked ", &SystemStat::blocked}};
  for (const auto& [key, member] : counters)
    if (line.starts_with(key)) into.*member = Scanner(line.substr(key.size())).next_u64();
}

std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

}  // namespace

bool parse_system_stat(std::string_view text, SystemStat& into) {
  into.cores.clear();
  into.context_switches = into.interrupts = into.soft_interrupts = into.processes_created = into.running = into.blocked =
      std::nullopt;
  Scanner lines(text);
  const auto first = lines.next_line();
  if (!first || !first->starts_with("cpu ")) return false;
  Scanner words(first->substr(4));
  if (!parse_times(words, into.machine)) return false;
  while (const auto line = lines.next_line()) {
    if (line->starts_with("cpu")) {
      if (!parse_core(*line, into)) return false;
    } else {
      parse_counter(*line, into);
    }
  }
  return true;
}

std::optional<CpuShares> cpu_shares(const CpuTimes& before, const CpuTimes& after) {
  const std::uint64_t user = grown(before.user, after.user) + grown(before.nice, after.nice);
  const std::uint64_t system = grown(before.system, after.system);
  const std::uint64_t irq = grown(before.irq, after.irq) + grown(before.softirq, after.softirq);
  const std::uint64_t steal = grown(before.steal, after.steal);
  const std::uint64_t iowait = grown(before.iowait, after.iowait);
  const std::uint64_t total = user + system + irq + steal + iowait + grown(before.idle, after.idle);
  if (total == 0) return std::nullopt;
  const auto share = [total](std::uint64_t part) { return static_cast<double>(part) / static_cast<double>(total); };
  return CpuShares{share(user + system + irq), share(user), share(system), share(iowait), share(irq), share(steal)};
}

core::Status CpuStatSource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(file_, probe::ProbeFile::open(root.at("/proc/stat")));
  buffer_.resize(kBufferBytes);
  const auto text = file_.read(buffer_);
  if (!text || !parse_system_stat(*text, now_))
    return core::fail(core::ErrorCode::unsupported, "/proc/stat has an unexpected format; CPU use is not available");
  return {};
}

void CpuStatSource::intern(trace::Sink& sink) {
  use_ = sink.name("cpu.use_ratio");
  user_ = sink.name("cpu.user_ratio");
  system_ = sink.name("cpu.system_ratio");
  iowait_ = sink.name("cpu.iowait_ratio");
  irq_ = sink.name("cpu.irq_ratio");
  steal_ = sink.name("cpu.steal_ratio");
  switches_ = sink.name("system.context_switches_per_second");
  interrupts_ = sink.name("system.interrupts_per_second");
  forks_ = sink.name("system.processes_created_per_second");
  running_ = sink.name("system.running_count");
  blocked_ = sink.name("system.blocked_count");
  core_entities_.clear();
}

trace::NameId CpuStatSource::core_entity(probe::Emitter& out, std::int64_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (index >= core_entities_.size()) core_entities_.resize(index + 1);
  if (core_entities_[index] == trace::NameId{}) core_entities_[index] = out.name("cpu" + std::to_string(number));
  return core_entities_[index];
}

void CpuStatSource::emit_cores(probe::Emitter& out) {
  // Both lists are in the order of the numbers; a core that came or went in between is left out of this interval.
  auto before = before_.cores.begin();
  for (const SystemStat::Core& core : now_.cores) {
    while (before != before_.cores.end() && before->number < core.number) ++before;
    if (before == before_.cores.end() || before->number != core.number) continue;
    if (const auto shares = cpu_shares(before->times, core.times)) out.host(use_, core_entity(out, core.number), shares->use);
  }
}

void CpuStatSource::emit_rates(probe::Emitter& out) {
  const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
  if (seconds <= 0) return;
  const auto rate = [&](trace::NameId metric, const auto& before, const auto& after) {
    if (before && after && *after >= *before) out.host(metric, {}, static_cast<double>(*after - *before) / seconds);
  };
  rate(switches_, before_.context_switches, now_.context_switches);
  rate(interrupts_, before_.interrupts, now_.interrupts);
  rate(forks_, before_.processes_created, now_.processes_created);
}

void CpuStatSource::sample(probe::Emitter& out) {
  const auto text = file_.read(buffer_);
  if (!text || !parse_system_stat(*text, now_)) return out.drop("proc.stat: read failed");
  if (has_before_) {
    if (const auto shares = cpu_shares(before_.machine, now_.machine)) {
      out.host(use_, {}, shares->use);
      out.host(user_, {}, shares->user);
      out.host(system_, {}, shares->system);
      out.host(iowait_, {}, shares->iowait);
      out.host(irq_, {}, shares->irq);
      out.host(steal_, {}, shares->steal);
    }
    emit_cores(out);
    emit_rates(out);
  }
  if (now_.running) out.host(running_, {}, static_cast<double>(*now_.running));
  if (now_.blocked) out.host(blocked_, {}, static_cast<double>(*now_.blocked));
  std::swap(before_, now_);
  before_ns_ = out.now_ns();
  has_before_ = true;
}

}  // namespace aaco::collectors::proc
