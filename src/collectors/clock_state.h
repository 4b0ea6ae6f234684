#pragma once

#include "collectors/collector.h"
#include "core/json.h"

namespace aaco::collectors {

// How clocks are governed at this moment, for telemetry/clock_state.json: {"cpu": {boost, smt_active, governor, performance_mode:
// {verdict, reasons}, cpus: [...]}, "gpus": [{device, performance_level, power_cap_watts, clocks}]}. Taken at both ends of a run,
// a change between them is evidence.
core::Json clock_state(const SysRoot& root);

}  // namespace aaco::collectors
