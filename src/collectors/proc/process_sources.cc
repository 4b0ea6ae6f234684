#include "collectors/proc/process_sources.h"

#include <time.h>
#include <unistd.h>

#include "collectors/probe/scanner.h"
#include "collectors/proc/cpu_range.h"

namespace aaco::collectors::proc {
namespace {

// Above this many threads the run-queue wait is read only at each fifth turn: every turn would read them all.
constexpr std::size_t kManyThreads = 16;
constexpr std::int64_t kTurnsOfMany = 5;

std::int64_t ns_per_tick() { return 1'000'000'000 / sysconf(_SC_CLK_TCK); }

std::optional<ProcessStat> read_stat(ProcessProbe& process) {
  char buffer[1024];
  const auto text = process.stat.read(buffer);
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::optional<std::int64_t> read_cpu_ns(ProcessProbe& process) {
  if (process.cpu_clock) {
    timespec time{};
    if (clock_gettime(*process.cpu_clock, &time) != 0) return std::nullopt;
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  }
  const auto stat = read_stat(process);
  if (!stat) return std::nullopt;
  return static_cast<std::int64_t>(stat->user_ticks + stat->system_ticks) * ns_per_tick();
}

// Adds the growth of a counter since its last reading to `sum`; the first reading gives nothing.
template <class Count>
void add_growth(std::optional<Count>& last, std::optional<Count> now, std::optional<double>& sum) {
  if (last && now && *now >= *last) sum = sum.value_or(0) + static_cast<double>(*now - *last);
  if (now) last = now;
}

double growth(std::uint64_t before, std::uint64_t after) { return after > before ? static_cast<double>(after - before) : 0; }

// Seconds since the last sample of a source, and this one becomes the last.
std::optional<double> seconds_since(std::optional<std::int64_t>& before_ns, std::int64_t now_ns) {
  const auto before = std::exchange(before_ns, now_ns);
  if (!before || now_ns <= *before) return std::nullopt;
  return static_cast<double>(now_ns - *before) * 1e-9;
}

core::Status needs_process(ProcessTree& tree) {
  if (tree.processes().empty()) return core::fail(core::ErrorCode::unsupported, "no process to observe");
  return {};
}

}  // namespace

core::Status TreeSource::open(const SysRoot& root, const Target& target) { return tree_->open(root, target.process_id); }

void TreeSource::intern(trace::Sink& sink) {
  sink_ = &sink;
  tree_->intern(sink);
  tree_entity_ = sink.name("tree");
  processes_ = sink.name("process.count");
  threads_ = sink.name("process.threads_count");
}

void TreeSource::sample(probe::Emitter& out) {
  tree_->refresh(*sink_);
  std::size_t alive = 0;
  for (const ProcessProbe& process : tree_->processes())
    if (process.alive) ++alive;
  out.host(processes_, tree_entity_, static_cast<double>(alive));
  out.host(threads_, tree_entity_, static_cast<double>(tree_->thread_count() + tree_->unobserved()));
  for (std::size_t i = 0; i < tree_->unobserved(); ++i) out.drop("proc.tree: a process or thread beyond the per-process limit");
}

core::Status CpuUseSource::open(const SysRoot& root, const Target&) {
  online_ = online_cpus(root);
  return needs_process(*tree_);
}

void CpuUseSource::intern(trace::Sink& sink) {
  tree_entity_ = sink.name("tree");
  cores_ = sink.name("process.cpu_use_cores");
}

void CpuUseSource::sample(probe::Emitter& out) {
  const auto seconds = seconds_since(before_ns_, out.now_ns());
  std::optional<double> cpu_ns;
  for (ProcessProbe& process : tree_->processes()) {
    std::optional<double> own;
    add_growth(process.cpu_ns, read_cpu_ns(process), own);
    if (!own) continue;
    cpu_ns = cpu_ns.value_or(0) + *own;
  }
  if (!seconds || !cpu_ns) return;
  pending_ns_ += *cpu_ns;
  pending_seconds_ += *seconds;
  const double cores = pending_ns_ * 1e-9 / pending_seconds_;
  // A sample right after a late one: the CPU time is of a longer interval than the clock says.
  if (!is_possible(cores, online_))
    return out.drop("proc.cpu_use: more CPU time than the machine's CPUs have; counted with the next");
  out.host(cores_, tree_entity_, cores);
  pending_ns_ = pending_seconds_ = 0;
}

core::Status RunQueueSource::open(const SysRoot&, const Target&) { return needs_process(*tree_); }

void RunQueueSource::intern(trace::Sink& sink) {
  tree_entity_ = sink.name("tree");
  wait_ = sink.name("process.run_queue_wait_ratio");
}

void RunQueueSource::sample(probe::Emitter& out) {
  if (tree_->thread_count() > kManyThreads && ++turn_ % kTurnsOfMany != 0) return;
  const auto seconds = seconds_since(before_ns_, out.now_ns());
  std::optional<double> wait_ns;
  char buffer[128];
  for (ProcessProbe& process : tree_->processes())
    for (ThreadProbe& thread : process.threads) {
      if (!thread.sched_stat.valid()) continue;
      const auto text = thread.sched_stat.read(buffer);
      const auto stat = text ? parse_sched_stat(*text) : std::nullopt;
      add_growth(thread.wait_ns, stat ? std::optional(stat->wait_ns) : std::nullopt, wait_ns);
    }
  if (seconds && wait_ns) out.host(wait_, tree_entity_, *wait_ns * 1e-9 / *seconds);
}

core::Status ProcessStatSource::open(const SysRoot&, const Target&) { return needs_process(*tree_); }

void ProcessStatSource::intern(trace::Sink& sink) {
  tree_entity_ = sink.name("tree");
  rss_ = sink.name("process.rss_bytes");
  minor_ = sink.name("process.minor_faults_per_second");
  major_ = sink.name("process.major_faults_per_second");
  cpu_time_ = sink.name("process.cpu_time_seconds");
  system_time_ = sink.name("process.system_time_seconds");
  stopped_ = sink.name("process.stopped_count");
  disk_sleep_ = sink.name("process.disk_sleep_count");
}

void ProcessStatSource::sample(probe::Emitter& out) {
  const auto seconds = seconds_since(before_ns_, out.now_ns());
  const double page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  const bool several = tree_->processes().size() > 1;
  std::optional<double> rss, minor, major;
  double cpu_ticks = 0, system_ticks = 0, stopped = 0, disk_sleep = 0;
  for (ProcessProbe& process : tree_->processes()) {
    const auto stat = read_stat(process);
    if (!stat) {
      process.alive = false;  // it has ended; the next refresh takes it out
      continue;
    }
    const double own_rss = static_cast<double>(stat->rss_pages) * page_bytes;
    rss = rss.value_or(0) + own_rss;
    if (several) out.host(rss_, process.entity, own_rss);
    if (process.last_stat) {
      minor = minor.value_or(0) + growth(process.last_stat->minor_faults, stat->minor_faults);
      major = major.value_or(0) + growth(process.last_stat->major_faults, stat->major_faults);
    }
    cpu_ticks += static_cast<double>(stat->user_ticks + stat->system_ticks + stat->waited_user_ticks + stat->waited_system_ticks);
    system_ticks += static_cast<double>(stat->system_ticks + stat->waited_system_ticks);
    if (stat->state == 'T' || stat->state == 't') ++stopped;
    if (stat->state == 'D') ++disk_sleep;
    process.last_stat = stat;
  }
  if (!rss) return out.drop("proc.process_stat: the process exited");
  out.host(rss_, tree_entity_, *rss);
  out.host(cpu_time_, tree_entity_, cpu_ticks * static_cast<double>(ns_per_tick()) * 1e-9);
  out.host(system_time_, tree_entity_, system_ticks * static_cast<double>(ns_per_tick()) * 1e-9);
  out.host(stopped_, tree_entity_, stopped);
  out.host(disk_sleep_, tree_entity_, disk_sleep);
  if (seconds && minor) out.host(minor_, tree_entity_, *minor / *seconds);
  if (seconds && major) out.host(major_, tree_entity_, *major / *seconds);
}

core::Status ProcessStatusSource::open(const SysRoot&, const Target&) { return needs_process(*tree_); }

void ProcessStatusSource::intern(trace::Sink& sink) {
  tree_entity_ = sink.name("tree");
  peak_ = sink.name("process.rss_peak_bytes");
  swap_ = sink.name("process.swap_bytes");
  voluntary_ = sink.name("process.voluntary_switches_per_second");
  involuntary_ = sink.name("process.involuntary_switches_per_second");
  read_ = sink.name("process.storage_read_bytes_per_second");
  written_ = sink.name("process.storage_write_bytes_per_second");
}

void ProcessStatusSource::sample(probe::Emitter& out) {
  const auto seconds = seconds_since(before_ns_, out.now_ns());
  emit_memory(out);
  emit_switches(out, seconds);
  emit_io(out, seconds);
}

void ProcessStatusSource::emit_memory(probe::Emitter& out) {
  char buffer[4096];
  std::optional<double> swap;
  for (ProcessProbe& process : tree_->processes()) {
    const auto text = process.status.valid() ? process.status.read(buffer) : std::nullopt;
    if (!text) continue;
    const ProcessStatus status = parse_process_status(*text);
    if (status.peak_rss_bytes) out.host(peak_, process.entity, static_cast<double>(*status.peak_rss_bytes));
    if (status.swap_bytes) swap = swap.value_or(0) + static_cast<double>(*status.swap_bytes);
  }
  if (swap) out.host(swap_, tree_entity_, *swap);
}

void ProcessStatusSource::emit_switches(probe::Emitter& out, std::optional<double> seconds) {
  char buffer[4096];
  std::optional<double> voluntary, involuntary;
  for (ProcessProbe& process : tree_->processes())
    for (ThreadProbe& thread : process.threads) {
      const auto text = thread.status.valid() ? thread.status.read(buffer) : std::nullopt;
      const ProcessStatus status = text ? parse_process_status(*text) : ProcessStatus{};
      add_growth(thread.voluntary_switches, status.voluntary_switches, voluntary);
      add_growth(thread.involuntary_switches, status.involuntary_switches, involuntary);
    }
  if (seconds && voluntary) out.host(voluntary_, tree_entity_, *voluntary / *seconds);
  if (seconds && involuntary) out.host(involuntary_, tree_entity_, *involuntary / *seconds);
}

void ProcessStatusSource::emit_io(probe::Emitter& out, std::optional<double> seconds) {
  char buffer[512];
  std::optional<double> read, written;
  for (ProcessProbe& process : tree_->processes()) {
    const auto text = process.io.valid() ? process.io.read(buffer) : std::nullopt;
    if (!text) continue;
    add_growth(process.read_bytes, probe::keyed_u64(*text, "read_bytes"), read);
    add_growth(process.written_bytes, probe::keyed_u64(*text, "write_bytes"), written);
  }
  if (seconds && read) out.host(read_, tree_entity_, *read / *seconds);
  if (seconds && written) out.host(written_, tree_entity_, *written / *seconds);
}

}  // namespace aaco::collectors::proc
