#pragma once

#include "collectors/collector.h"
#include "core/json.h"

namespace aaco::collectors {

// Current clock settings for telemetry/clock_state.json: {"cpu": {boost, smt_active, governor, performance_mode:
// {verdict, reasons}, cpus: [...]}, "gpus": [{device, performance_level, power_cap_watts, clocks}]}. Taken at both ends of a run,
// so that a change in between is detected.
core::Json clock_state(const SysRoot& root);

}  // namespace aaco::collectors
