#pragma once

#include <memory>

#include "collectors/collector.h"
#include "core/result.h"

namespace aaco::collectors {

// What the processor's packages used, all processes of the machine included. Counters advance about every millisecond.
class CpuEnergy {
 public:
  // Fails with permission or unsupported where no counter of a package can be read.
  static core::Result<CpuEnergy> open(const SysRoot& root);
  CpuEnergy(CpuEnergy&&) noexcept;
  CpuEnergy& operator=(CpuEnergy&&) noexcept;
  ~CpuEnergy();

  // J since open(). Fails with io where a counter cannot be read any more, or went backwards.
  core::Result<double> read_joules();

 private:
  struct Packages;
  explicit CpuEnergy(std::unique_ptr<Packages> packages);
  std::unique_ptr<Packages> packages_;
};

}  // namespace aaco::collectors
