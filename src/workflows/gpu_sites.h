#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/kernel_work.h"
#include "core/json.h"
#include "estimation/latency.h"
#include "hardware/registry.h"
#include "report/model.h"
#include "trace/names.h"
#include "workflows/services.h"

namespace aaco::workflows {

// One operator with one set of shapes beside what it should take on the trace's own device.
struct GpuSite {
  std::string operator_name, shape, dtype;
  std::int64_t count = 0, kernels = 0;
  int needed = 1;                         // kernels a call that do its work
  double measured_ns = 0;                 // of all calls
  double attainable_ns = 0;               // the same by the data sheet's ceilings
  estimation::LatencyEstimate predicted;  // of one call
  double tile_ratio = 1, wave_ratio = 1;
};

struct GpuSites {
  std::string device_id;
  std::string reason;          // why there are none; empty where there are some
  double measured_ns = 0;      // of all sites
  double attainable_ns = 0;    // the same, each no more than was measured
  std::vector<GpuSite> sites;  // the widest gap first
  // FLOPs of all calls by operator, from their shapes; of any device, also an unknown one.
  std::map<std::string, double> operator_flops;
};
// The best estimates that the registry's calibrations allow. A device that the registry does not know, or a type that it cannot
// compute, has none; nor has one whose calibrations are damaged.
GpuSites estimate_sites(const std::vector<analytics::roofline::SiteGroup>& groups, const trace::NameTable& names,
                        const core::Result<hardware::Device>& device, const Services& services);

core::Json to_json(const GpuSites& sites, double kernel_sum_ns);

// sections.attainable of an imported trace (docs/formats/predictions.md), from what to_json() stored for the GPU with most time
// of known sites. Nothing where the report has one already.
void fill_sites(report::ReportModel& model);

}  // namespace aaco::workflows
