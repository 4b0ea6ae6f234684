#pragma once

#include <string>
#include <vector>

#include "analytics/kernel_limit.h"
#include "analytics/work_rates.h"
#include "hardware/device.h"
#include "trace/names.h"
#include "trace/sink.h"

namespace aaco::workflows {

// FLOP/s and bytes/s of one GPU's kernels and operators.
struct GpuRates {
  std::string device_id;  // of the hardware registry; empty: unknown
  std::vector<analytics::roofline::WorkRate> rates;
};
GpuRates make_rates(const analytics::roofline::KnownWork& known, const std::vector<analytics::roofline::SiteGroup>& sites,
                    const trace::NameTable& names, const core::Result<hardware::Device>& device);
// Rows of table work_rates; `names` are those of the rates.
void store_rates(const GpuRates& rates, const trace::NameTable& names, trace::Sink& sink);

}  // namespace aaco::workflows
