#pragma once

#include <span>
#include <vector>

#include "estimation/calibration.h"
#include "estimation/calibration/ceilings.h"
#include "estimation/device_facts.h"

namespace aaco::estimation {

// Which rows (positions in `rows`) show attention over all pairs of tokens. Tables of attention also hold runs with a sliding
// window, and have no column for it: those run beside a slower row of the same shape, or above the device's peak where every row
// of a head shape is windowed. Rows of other kinds are all true.
std::vector<bool> full_attention(std::span<const Measurement> measurements, std::span<const std::size_t> rows,
                                 std::span<const TimedRoofline> timed);

}  // namespace aaco::estimation
