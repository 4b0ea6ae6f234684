#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analytics/kernel_work.h"
#include "core/json.h"
#include "hardware/registry.h"
#include "report/model.h"
#include "trace/metric.h"
#include "trace/names.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What the files say of the devices their rows name, by rank and device.
using SeenDevices = std::map<std::pair<std::int32_t, std::int64_t>, hardware::DeviceRegistry::Seen>;
// Adds what a file's facts ("devices") say.
void add_seen_devices(const core::Json& facts, std::int32_t rank, SeenDevices& devices);
// The device of that number; where the files number their devices otherwise (the visible ones from 0), what all of the rank's,
// else all of the session's, are. Null where that is not one kind.
const hardware::DeviceRegistry::Seen* seen_device(const SeenDevices& devices, std::int32_t rank, std::int64_t device);

// The registry's device for what a trace says of one, as a runtime shows it: one die of a board with two. The error tells why
// there is none. `seen` may be null.
core::Result<hardware::Device> match_device(const hardware::DeviceRegistry::Seen* seen, const Services& services);

// One GPU's kernels of known work under the limits that its data sheet states.
struct GpuRoofline {
  struct Kernel {
    std::string name;
    analytics::roofline::Placed placed;
    // Of a float32 kernel that arithmetic limits, a shorter type of which the device does kFasterType times as many a second.
    std::string faster_dtype;
    double faster_peak_flops_per_s = 0;
  };
  std::string device_id, device_name;
  std::string reason;  // why there are no kernels; empty where there are some
  double known_ns = 0, ideal_ns = 0;
  std::vector<Kernel> kernels;  // largest time first
};
inline constexpr double kFasterType = 2;  // our own judgement: what a change of the type is worth
GpuRoofline make_roofline(const std::vector<analytics::roofline::GroupWork>& work, const trace::NameTable& names,
                          const core::Result<hardware::Device>& device);

// gpu.known_work_ratio and gpu.roofline_ratio; nothing where no kernel's work is known.
trace::Metrics roofline_metrics(const GpuRoofline& roofline, std::int64_t kernel_sum_ns, std::int64_t device);
core::Json to_json(const GpuRoofline& roofline);
// The kernels that to_json() stored, as points; their reached_ratio is of the data sheet's roofs.
std::vector<report::RoofPoint> roofline_points(const core::Json& stored);
// The report's section, from what to_json() stored for the GPU with most kernel time of known work, with what the device's
// calibration measured where it has one.
void fill_roofline(report::ReportModel& model, const core::Paths& paths);

}  // namespace aaco::workflows
