#pragma once

#include <memory>
#include <string>

#include "workflows/fleet.h"

namespace aaco::workflows {

// Whether it names a file or folder of telemetry; else it is an engine.
bool is_fleet_files(const std::string& from);
core::Result<std::unique_ptr<tracelake::FleetSource>> open_fleet_source(const std::string& from, const Services& services);

// The bins that a request means.
struct FleetBins {
  std::int64_t first_unix_ns = 0, bin_ns = 0;
  std::int32_t count = 0;
  [[nodiscard]] std::int64_t until_unix_ns() const { return first_unix_ns + count * bin_ns; }
};
core::Result<FleetBins> fleet_bins(const FleetRequest& request, const tracelake::FleetExtent& extent);

}  // namespace aaco::workflows
