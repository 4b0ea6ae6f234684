#include "collectors/proc/machine_sources.h"

#include <utility>

#include "collectors/probe/scanner.h"

namespace aaco::collectors::proc {
namespace {

using probe::Scanner;

constexpr double kKibibyte = 1024;
constexpr std::size_t kVmStatBytes = 32 * 1024;

struct MemoryLine {
  std::string_view key, metric;
};
constexpr MemoryLine kMemoryLines[] = {
    {"MemAvailable", "memory.available_bytes"}, {"MemFree", "memory.free_bytes"},
    {"Cached", "memory.cached_bytes"},          {"Dirty", "memory.dirty_bytes"},
    {"SwapFree", "memory.swap_free_bytes"},
};

struct VmLine {
  std::string_view key, metric;
  double unit;  // of one count
};
// pgpgin and pgpgout count KiB, everything else pages or events (fs/proc, mm/vmstat.c of Linux).
constexpr VmLine kVmLines[] = {
    {"pgpgin", "memory.paged_in_bytes_per_second", kKibibyte},
    {"pgpgout", "memory.paged_out_bytes_per_second", kKibibyte},
    {"pswpin", "memory.swap_in_pages_per_second", 1},
    {"pswpout", "memory.swap_out_pages_per_second", 1},
    {"pgfault", "memory.faults_per_second", 1},
    {"pgmajfault", "memory.major_faults_per_second", 1},
    {"pgalloc_normal", "memory.allocated_pages_per_second", 1},
    {"compact_stall", "memory.compaction_stalls_per_second", 1},
    {"numa_miss", "memory.numa_misses_per_second", 1},
};

}  // namespace

core::Status LoadSource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(file_, probe::ProbeFile::open(root.at("/proc/loadavg")));
  return {};
}

void LoadSource::intern(trace::Sink& sink) { load_ = sink.name("system.load_1min"); }

void LoadSource::sample(probe::Emitter& out) {
  char buffer[128];
  const auto text = file_.read(buffer);
  const auto load = text ? Scanner(*text).next_f64() : std::nullopt;
  if (!load) return out.drop("proc.loadavg: read failed");
  out.host(load_, {}, *load);
}

core::Status MemoryInfoSource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(file_, probe::ProbeFile::open(root.at("/proc/meminfo")));
  return {};
}

void MemoryInfoSource::intern(trace::Sink& sink) {
  metrics_.clear();
  for (const MemoryLine& line : kMemoryLines) metrics_.push_back(sink.name(line.metric));
}

void MemoryInfoSource::sample(probe::Emitter& out) {
  char buffer[4096];
  const auto text = file_.read(buffer);
  if (!text) return out.drop("proc.meminfo: read failed");
  for (std::size_t i = 0; i < std::size(kMemoryLines); ++i)
    if (const auto kib = probe::keyed_u64(*text, kMemoryLines[i].key))
      out.host(metrics_[i], {}, static_cast<double>(*kib) * kKibibyte);
}

core::Status VmStatSource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(file_, probe::ProbeFile::open(root.at("/proc/vmstat")));
  buffer_.resize(kVmStatBytes);
  return {};
}

void VmStatSource::intern(trace::Sink& sink) {
  metrics_.clear();
  for (const VmLine& line : kVmLines) metrics_.push_back(sink.name(line.metric));
}

void VmStatSource::sample(probe::Emitter& out) {
  const auto text = file_.read(buffer_);
  if (!text) return out.drop("proc.vmstat: read failed");
  std::optional<std::uint64_t> now[std::size(kVmLines)];
  Scanner lines(*text);
  while (const auto line = lines.next_line()) {
    const std::size_t key_end = line->find(' ');
    if (key_end == std::string_view::npos) continue;
    for (std::size_t i = 0; i < std::size(kVmLines); ++i)
      if (line->substr(0, key_end) == kVmLines[i].key) now[i] = Scanner(line->substr(key_end)).next_u64();
  }
  const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
  if (!before_.empty() && seconds > 0)
    for (std::size_t i = 0; i < std::size(kVmLines); ++i)
      if (now[i] && before_[i] && *now[i] >= *before_[i])
        out.host(metrics_[i], {}, static_cast<double>(*now[i] - *before_[i]) * kVmLines[i].unit / seconds);
  before_.assign(std::begin(now), std::end(now));
  before_ns_ = out.now_ns();
}

Pressure parse_pressure(std::string_view text) {
  Pressure pressure;
  Scanner lines(text);
  while (const auto line = lines.next_line()) {
    constexpr std::string_view kTotal = " total=";
    const std::size_t at = line->find(kTotal);
    if (at == std::string_view::npos) continue;
    const auto total = Scanner(line->substr(at + kTotal.size())).next_u64();
    if (line->starts_with("some ")) pressure.some_us = total;
    if (line->starts_with("full ")) pressure.full_us = total;
  }
  return pressure;
}

core::Status PressureSource::open(const SysRoot& root, const Target&) {
  for (const char* resource : {"cpu", "memory", "io"}) {
    auto file = probe::ProbeFile::open(root.at(std::string("/proc/pressure/") + resource));
    // A kernel with PSI compiled in and switched off has files that cannot be read.
    char buffer[256];
    if (file && file->read(buffer)) resources_.push_back({resource, std::move(*file), {}, {}, {}});
  }
  if (resources_.empty())
    return core::fail(core::ErrorCode::unsupported, "this kernel provides no pressure stall information (PSI)",
                      "boot with psi=1");
  return {};
}

void PressureSource::intern(trace::Sink& sink) {
  for (Resource& resource : resources_) {
    resource.some = sink.name("pressure." + resource.name + "_some_ratio");
    resource.full = sink.name("pressure." + resource.name + "_full_ratio");
  }
}

void PressureSource::sample(probe::Emitter& out) {
  const double passed_us = static_cast<double>(out.now_ns() - std::exchange(before_ns_, out.now_ns())) * 1e-3;
  char buffer[256];
  for (Resource& resource : resources_) {
    const auto text = resource.file.read(buffer);
    if (!text) {
      out.drop("proc.pressure: read failed");
      continue;
    }
    const Pressure now = parse_pressure(*text);
    const auto emit = [&](trace::NameId metric, const auto& before, const auto& after) {
      if (before && after && *after >= *before && passed_us > 0)
        out.host(metric, {}, static_cast<double>(*after - *before) / passed_us);
    };
    emit(resource.some, resource.before.some_us, now.some_us);
    emit(resource.full, resource.before.full_us, now.full_us);
    resource.before = now;
  }
}

void PressureSource::forget() {
  for (Resource& resource : resources_) resource.before = {};
}

}  // namespace aaco::collectors::proc
