#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/probe/probe_file.h"

namespace aaco::collectors::proc {

// An energy counter of the processor (RAPL, powercap). One that wrapped once between two readings is followed by its range.
struct EnergyDomain {
  enum class Reading { failed, first, backwards, step };

  std::string name;    // "package-0", "package-0 core"
  bool inner = false;  // part of another domain
  probe::ProbeFile file;
  std::uint64_t range_uj = 0;
  std::optional<std::uint64_t> last_uj = {};
  double joules = 0;       // since the first reading
  double step_joules = 0;  // between the last two readings, after Reading::step

  Reading advance();
};

// Those of the machine. Fails with permission where they are readable by root only, unsupported without any.
core::Result<std::vector<EnergyDomain>> open_energy_domains(const SysRoot& root);

}  // namespace aaco::collectors::proc
