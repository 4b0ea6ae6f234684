#include "collectors/proc/energy_source.h"

#include <cerrno>

#include "collectors/probe/scanner.h"
#include "core/files.h"

namespace aaco::collectors::proc {
namespace {

constexpr const char* kPowercap = "/sys/class/powercap";
constexpr const char* kMonitors = "/sys/fs/resctrl/mon_data";
constexpr double kMicro = 1e-6;

std::optional<std::uint64_t> read_u64(probe::ProbeFile& file) {
  char buffer[64];
  const auto text = file.read(buffer);
  return text ? probe::Scanner(*text).next_u64() : std::nullopt;
}

// "intel-rapl:0:1" lies inside "intel-rapl:0".
std::string domain_name(const SysRoot& root, const std::string& folder) {
  const auto name_of = [&](const std::string& one) {
    return probe::read_small(root.at(std::string(kPowercap) + "/" + one + "/name")).value_or(one);
  };
  const std::size_t last = folder.rfind(':');
  const bool inner = folder.find(':') != last;
  return inner ? name_of(folder.substr(0, last)) + " " + name_of(folder) : name_of(folder);
}

}  // namespace

core::Status EnergySource::open(const SysRoot& root, const Target&) {
  std::optional<core::Error> refused;
  for (const std::string& folder : core::list_directory(root.at(kPowercap)).value_or(std::vector<std::string>{})) {
    // "intel-rapl-mmio" domains mirror the same packages.
    if (!folder.starts_with("intel-rapl:")) continue;
    const std::string path = root.at(std::string(kPowercap) + "/" + folder);
    auto file = probe::ProbeFile::open(path + "/energy_uj");
    if (!file) {
      refused = std::move(file).error();
      continue;
    }
    const auto range = probe::read_small_i64(path + "/max_energy_range_uj");
    Domain domain;
    domain.name = domain_name(root, folder);
    domain.file = std::move(*file);
    domain.range_uj = range && *range > 0 ? static_cast<std::uint64_t>(*range) : 0;
    domains_.push_back(std::move(domain));
  }
  if (!domains_.empty()) return {};
  if (refused && refused->code == core::ErrorCode::permission)
    return core::fail(core::ErrorCode::permission, "CPU energy counters are readable by root only; CPU energy is not measured",
                      "run as root, or: chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj");
  return core::fail(core::ErrorCode::unsupported, "no CPU energy counters on this machine (common in virtual machines)");
}

void EnergySource::intern(trace::Sink& sink) {
  power_ = sink.name("cpu.power_watts");
  energy_ = sink.name("cpu.energy_joules");
  for (Domain& domain : domains_) domain.entity = sink.name(domain.name);
}

void EnergySource::sample(probe::Emitter& out) {
  const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
  for (Domain& domain : domains_) {
    const auto now = read_u64(domain.file);
    if (!now) {
      out.drop("powercap.rapl: read failed");
      continue;
    }
    if (domain.last_uj && *now < *domain.last_uj && domain.range_uj <= *domain.last_uj) {
      out.drop("powercap.rapl: the counter went backwards");
    } else if (domain.last_uj) {
      const std::uint64_t step = *now >= *domain.last_uj ? *now - *domain.last_uj : domain.range_uj - *domain.last_uj + *now;
      domain.joules += static_cast<double>(step) * kMicro;
      if (!domain.fresh && seconds > 0) out.host(power_, domain.entity, static_cast<double>(step) * kMicro / seconds);
    }
    out.host(energy_, domain.entity, domain.joules);
    domain.last_uj = now;
    domain.fresh = false;
  }
  before_ns_ = out.now_ns();
}

void EnergySource::forget() {
  for (Domain& domain : domains_) domain.fresh = true;
}

core::Status MemoryBandwidthSource::open(const SysRoot& root, const Target&) {
  for (const std::string& name : core::list_directory(root.at(kMonitors)).value_or(std::vector<std::string>{})) {
    if (!name.starts_with("mon_L3_")) continue;
    auto file = probe::ProbeFile::open(root.at(std::string(kMonitors) + "/" + name + "/mbm_total_bytes"));
    if (!file) continue;
    Domain domain;
    domain.name = "L3 " + name.substr(std::string_view("mon_L3_").size());
    domain.file = std::move(*file);
    domains_.push_back(std::move(domain));
  }
  if (domains_.empty())
    return core::fail(core::ErrorCode::unsupported, "no memory bandwidth counters on this machine",
                      "if the CPU supports memory bandwidth monitoring: mount -t resctrl resctrl /sys/fs/resctrl");
  return {};
}

void MemoryBandwidthSource::intern(trace::Sink& sink) {
  bandwidth_ = sink.name("memory.bandwidth_bytes_per_second");
  for (Domain& domain : domains_) domain.entity = sink.name(domain.name);
}

void MemoryBandwidthSource::sample(probe::Emitter& out) {
  const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
  for (Domain& domain : domains_) {
    const auto now = read_u64(domain.file);  // "Unavailable" or "Error" while the counter is not assigned
    if (!now) out.drop("resctrl.mbm: counter unavailable");
    if (now && domain.last_bytes && *now >= *domain.last_bytes && seconds > 0)
      out.host(bandwidth_, domain.entity, static_cast<double>(*now - *domain.last_bytes) / seconds);
    domain.last_bytes = now;
  }
  before_ns_ = out.now_ns();
}

void MemoryBandwidthSource::forget() {
  for (Domain& domain : domains_) domain.last_bytes.reset();
}

}  // namespace aaco::collectors::proc
