#pragma once

#include <span>
#include <vector>

#include "estimation/calibrated.h"

namespace aaco::estimation {

struct ProgramRow {
  std::size_t program = 0;
  double compute_s = 0, memory_s = 0;  // by the specification
  double seconds = 0;                  // measured
};

// One for each of `programs`; of one without rows the specification with a launch of `floor_s`.
std::vector<ProgramCost> fit_program_costs(std::span<const ProgramRow> rows, std::size_t programs, double floor_s);

}  // namespace aaco::estimation
