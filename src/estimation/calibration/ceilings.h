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

// The best rates that were reached, a thousandth of the rows left aside as clock errors, and the shortest times.
Ceilings ceilings_of(std::span<const TimedRoofline> rows, const DeviceFacts& device);

}  // namespace aaco::estimation
