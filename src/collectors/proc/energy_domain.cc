#include "collectors/proc/energy_domain.h"

#include "collectors/probe/scanner.h"
#include "core/files.h"

namespace aaco::collectors::proc {
namespace {

constexpr const char* kPowercap = "/sys/class/powercap";
constexpr double kMicro = 1e-6;

// "intel-rapl:0:1" lies inside "intel-rapl:0".
bool is_inner(const std::string& folder) { return folder.find(':') != folder.rfind(':'); }

std::string domain_name(const SysRoot& root, const std::string& folder) {
  const auto name_of = [&](const std::string& one) {
    return probe::read_small(root.at(std::string(kPowercap) + "/" + one + "/name")).value_or(one);
  };
  return is_inner(folder) ? name_of(folder.substr(0, folder.rfind(':'))) + " " + name_of(folder) : name_of(folder);
}

}  // namespace

EnergyDomain::Reading EnergyDomain::advance() {
  char buffer[64];
  const auto text = file.read(buffer);
  const auto now = text ? probe::Scanner(*text).next_u64() : std::nullopt;
  if (!now) return Reading::failed;
  const auto before = last_uj;
  last_uj = now;
  if (!before) return Reading::first;
  if (*now < *before && range_uj <= *before) return Reading::backwards;
  step_joules = static_cast<double>(*now >= *before ? *now - *before : range_uj - *before + *now) * kMicro;
  joules += step_joules;
  return Reading::step;
}

core::Result<std::vector<EnergyDomain>> open_energy_domains(const SysRoot& root) {
  std::vector<EnergyDomain> domains;
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
    domains.push_back({domain_name(root, folder), is_inner(folder), std::move(*file),
                       range && *range > 0 ? static_cast<std::uint64_t>(*range) : 0});
  }
  if (!domains.empty()) return domains;
  if (refused && refused->code == core::ErrorCode::permission)
    return core::fail(core::ErrorCode::permission, "CPU energy counters are readable by root only; CPU energy is not measured",
                      "run as root, or: chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj");
  return core::fail(core::ErrorCode::unsupported, "no CPU energy counters on this machine (common in virtual machines)");
}

}  // namespace aaco::collectors::proc
