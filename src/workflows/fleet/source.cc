#include "workflows/fleet/source.h"

#include <algorithm>

#include "core/files.h"
#include "workflows/push.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kFleetMinuteNs = 60'000'000'000;
constexpr std::int64_t kMaxBins = 20'000;

}  // namespace

bool is_fleet_files(const std::string& from) { return from.find("://") == std::string::npos && core::exists(from); }

core::Result<std::unique_ptr<tracelake::FleetSource>> open_fleet_source(const std::string& from, const Services& services) {
  if (is_fleet_files(from)) return tracelake::open_fleet_files(from);
  auto server = find_fleet(from, services);
  if (server) return tracelake::open_remote_fleet(std::move(*server));
  if (from.find("://") != std::string::npos || server.error().code != core::ErrorCode::not_found)
    return tl::unexpected<core::Error>(std::move(server).error());
  return core::fail(core::ErrorCode::not_found, "'" + from + "' is not a file, a folder or a fleet of fleet.yaml",
                    "see docs/how_to/watch_a_fleet.md");
}

core::Result<FleetBins> fleet_bins(const FleetRequest& request, const tracelake::FleetExtent& extent) {
  if (extent.rows == 0)
    return core::fail(core::ErrorCode::not_found, "no telemetry in " + request.from, "see docs/how_to/watch_a_fleet.md");
  if (request.bin_ns < kFleetMinuteNs || request.bin_ns % kFleetMinuteNs != 0)
    return core::fail(core::ErrorCode::invalid_argument, "the bin must be a whole number of minutes");
  std::int64_t first = extent.first_unix_ns;
  if (request.last_ns) first = std::max(first, extent.last_unix_ns - *request.last_ns);
  first = first / request.bin_ns * request.bin_ns;
  const std::int64_t count = (extent.last_unix_ns - first) / request.bin_ns + 1;
  if (count > kMaxBins)
    return core::fail(core::ErrorCode::exhausted, "the telemetry spans more than " + std::to_string(kMaxBins) + " bins",
                      "pass --last or a longer --bin");
  return FleetBins{first, request.bin_ns, static_cast<std::int32_t>(count)};
}

}  // namespace aaco::workflows
