#include "collectors/cpu_energy.h"

#include <vector>

#include "collectors/proc/energy_domain.h"

namespace aaco::collectors {

using proc::EnergyDomain;

struct CpuEnergy::Packages {
  std::vector<EnergyDomain> domains;
};

CpuEnergy::CpuEnergy(std::unique_ptr<Packages> packages) : packages_(std::move(packages)) {}
CpuEnergy::CpuEnergy(CpuEnergy&&) noexcept = default;
CpuEnergy& CpuEnergy::operator=(CpuEnergy&&) noexcept = default;
CpuEnergy::~CpuEnergy() = default;

core::Result<CpuEnergy> CpuEnergy::open(const SysRoot& root) {
  AACO_ASSIGN(auto domains, proc::open_energy_domains(root));
  std::erase_if(domains, [](const EnergyDomain& domain) { return domain.inner || domain.name.starts_with("psys"); });
  if (domains.empty()) return core::fail(core::ErrorCode::unsupported, "no energy counter of a CPU package on this machine");
  CpuEnergy energy(std::make_unique<Packages>(Packages{std::move(domains)}));
  AACO_TRY(energy.read_joules());
  return energy;
}

core::Result<double> CpuEnergy::read_joules() {
  double joules = 0;
  for (EnergyDomain& domain : packages_->domains) {
    const auto reading = domain.advance();
    if (reading == EnergyDomain::Reading::failed || reading == EnergyDomain::Reading::backwards)
      return core::fail(core::ErrorCode::io,
                        "the energy counter of " + domain.name +
                            (reading == EnergyDomain::Reading::failed ? " cannot be read" : " went backwards"));
    joules += domain.joules;
  }
  return joules;
}

}  // namespace aaco::collectors
