#pragma once

#include <span>

#include "estimation/calibrated.h"
#include "estimation/device_facts.h"
#include "estimation/roofline.h"

namespace aaco::estimation {

struct TimedRoofline {
  Roofline roof;
  double seconds = 0;
};

// The best rates that were reached where they are what bounds a kernel, a thousandth of the rows left aside as clock errors (0:
// no row is bound by that side), and the shortest times of kernels with next to no work (the nominal one where there are none).
Ceilings ceilings_of(std::span<const TimedRoofline> rows, const DeviceFacts& device);

}  // namespace aaco::estimation
