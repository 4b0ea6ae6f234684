#pragma once

#include "analytics/fleet/series.h"

namespace aaco::analytics::fleet {

// Tests each series for a window in which its unit is worse than its peers. The spread of means over windows is taken from all
// units of the same model, so that it includes lasting differences between good units and slow
// drifts. `rule` must outlive the tests.
void scan_series(const SeriesSet& set, const Rule& rule, Tests& tests);

}  // namespace aaco::analytics::fleet
