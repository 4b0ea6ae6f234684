#include "collectors/proc/energy_source.h"

#include "collectors/probe/scanner.h"
#include "core/files.h"

namespace aaco::collectors::proc {
namespace {

constexpr const char* kMonitors = "/sys/fs/resctrl/mon_data";

std::optional<std::uint64_t> read_u64(probe::ProbeFile& file) {
  char buffer[64];
  const auto text = file.read(buffer);
  return text ? probe::Scanner(*text).next_u64() : std::nullopt;
}

}  // namespace

core::Status EnergySource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(auto counters, open_energy_domains(root));
  for (EnergyDomain& counter : counters) domains_.push_back({std::move(counter), true, {}});
  return {};
}

void EnergySource::intern(trace::Sink& sink) {
  power_ = sink.name("cpu.power_watts");
  energy_ = sink.name("cpu.energy_joules");
  for (Domain& domain : domains_) domain.entity = sink.name(domain.counter.name);
}

void EnergySource::sample(probe::Emitter& out) {
  const double seconds = static_cast<double>(out.now_ns() - before_ns_) * 1e-9;
  for (Domain& domain : domains_) {
    using Reading = EnergyDomain::Reading;
    const Reading reading = domain.counter.advance();
    if (reading == Reading::failed) {
      out.drop("powercap.rapl: read failed");
      continue;
    }
    if (reading == Reading::backwards) out.drop("powercap.rapl: the counter went backwards");
    if (reading == Reading::step && !domain.fresh && seconds > 0)
      out.host(power_, domain.entity, domain.counter.step_joules / seconds);
    out.host(energy_, domain.entity, domain.counter.joules);
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
