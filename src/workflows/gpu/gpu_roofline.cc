#include "workflows/gpu_roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "analytics/work_rates.h"
#include "core/numbers.h"
#include "hardware/die.h"
#include "workflows/device_roofs.h"
#include "workflows/gpu_analysis.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::Placed;
using core::Json;

constexpr std::size_t kStoredKernels = 60;  // in the manifest; the metrics count all

Json kernel_json(const GpuRoofline::Kernel& kernel) {
  const Placed& placed = kernel.placed;
  const double seconds = placed.work.time_ns * 1e-9;
  const double attainable =
      placed.compute_roof ? placed.peak_flops_per_s : placed.work.flops / placed.work.bytes * placed.bytes_per_s;
  Json out = Json::object({{"name", kernel.name},
                           {"family", analytics::fingerprint::to_string(placed.work.family)},
                           {"dtype", placed.work.dtype},
                           {"work_from", analytics::roofline::to_string(placed.work.source)},
                           {"count", placed.work.count},
                           {"time_ns", placed.work.time_ns},
                           {"flops", placed.work.flops},
                           {"bytes", placed.work.bytes},
                           {"achieved_flops_per_s", placed.work.flops / seconds},
                           {"achieved_bytes_per_s", placed.work.bytes / seconds},
                           {"attainable_flops_per_s", attainable},
                           {"roof", placed.compute_roof ? "compute" : "memory"},
                           {"peak_flops_per_s", placed.peak_flops_per_s},
                           {"memory_bytes_per_s", placed.bytes_per_s},
                           {"reached_ratio", placed.reached_ratio}});
  if (!kernel.faster_dtype.empty())
    out.set("faster_type", Json::object({{"dtype", kernel.faster_dtype}, {"peak_flops_per_s", kernel.faster_peak_flops_per_s}}));
  return out;
}

// TF32 takes float32 numbers as they are; 16 bits need a conversion.
void find_faster_type(const hardware::Device& device, GpuRoofline::Kernel& kernel) {
  if (kernel.placed.work.dtype != "float32" || !kernel.placed.compute_roof) return;
  for (const char* dtype : {"tf32", "bfloat16", "float16"}) {
    const auto peak = device.peak_ops_per_s(dtype);
    if (!peak || *peak < kFasterType * kernel.placed.peak_flops_per_s) continue;
    kernel.faster_dtype = dtype, kernel.faster_peak_flops_per_s = *peak;
    return;
  }
}

// The GPU with most kernel time of known work.
const Json* best_known(const Json& gpus) {
  const auto known = [](const Json& gpu) { return gpu["roofline"]["known_ns"].as_f64().value_or(0); };
  const Json* best = nullptr;
  for (const Json& gpu : gpus.items())
    if (!gpu["roofline"]["kernels"].items().empty() && (best == nullptr || known(gpu) > known(*best))) best = &gpu;
  return best;
}

// As the import saw them, for a device that the registry no longer has.
std::vector<report::Roof> stored_roofs(const Json& stored) {
  std::map<std::string, double> peaks;
  double bandwidth = 0;
  for (const Json& kernel : stored["kernels"].items()) {
    peaks[std::string(kernel["dtype"].text())] = kernel["peak_flops_per_s"].as_f64().value_or(0);
    bandwidth = kernel["memory_bytes_per_s"].as_f64().value_or(0);
  }
  const std::string source = "data sheet of " + std::string(stored["device_name"].text());
  std::vector<report::Roof> roofs;
  for (const auto& [dtype, peak] : peaks) roofs.push_back({dtype, report::Roof::Kind::compute, peak, source});
  roofs.push_back({"main memory", report::Roof::Kind::memory, bandwidth, source});
  return roofs;
}

}  // namespace

void add_seen_devices(const Json& facts, std::int32_t rank, SeenDevices& devices) {
  std::int64_t next = 0;
  for (const Json& entry : facts["devices"].items()) {
    const std::int64_t number = entry["id"].as_i64().value_or(next);
    next = number + 1;
    hardware::DeviceRegistry::Seen seen;
    seen.name = entry["name"].text();
    for (const char* key : {"target", "architecture"})
      if (seen.target.empty()) seen.target = entry[key].text();
    for (const char* key : {"numSms", "compute_unit_count"})
      if (!seen.units) seen.units = entry[key].as_f64();
    for (const char* key : {"totalGlobalMem", "memory_bytes"})
      if (!seen.memory_bytes) seen.memory_bytes = entry[key].as_f64();
    if (!seen.name.empty() || !seen.target.empty()) devices.try_emplace({rank, number}, std::move(seen));
  }
}

const hardware::DeviceRegistry::Seen* seen_device(const SeenDevices& devices, std::int32_t rank, std::int64_t device) {
  if (const auto place = devices.find({rank, device}); place != devices.end()) return &place->second;
  const auto only_kind = [&](bool of_rank) -> const hardware::DeviceRegistry::Seen* {
    const hardware::DeviceRegistry::Seen* first = nullptr;
    for (const auto& [key, seen] : devices) {
      if (of_rank && key.first != rank) continue;
      if (first != nullptr && (first->name != seen.name || first->target != seen.target)) return nullptr;
      if (first == nullptr) first = &seen;
    }
    return first;
  };
  const auto* own = only_kind(true);
  const bool has_own = std::any_of(devices.begin(), devices.end(), [&](const auto& entry) { return entry.first.first == rank; });
  return own != nullptr || has_own ? own : only_kind(false);
}

core::Result<hardware::Device> match_device(const hardware::DeviceRegistry::Seen* seen, const Services& services) {
  if (seen == nullptr) return core::fail(core::ErrorCode::not_found, "the trace does not name the device");
  // Most traces have the name of an entry: reading the entries that contain it takes a tenth of the time of reading all.
  if (!seen->name.empty())
    if (const auto few = hardware::DeviceRegistry::load_some(services.paths, {seen->name});
        few && !few->id_of(seen->name).empty()) {
      AACO_ASSIGN(const hardware::Device device, few->find(seen->name));
      return hardware::as_shown(device);
    }
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::load(services.paths));
  AACO_ASSIGN(const hardware::Device device, registry.match(*seen));
  return hardware::as_shown(device);
}

GpuRoofline make_roofline(const std::vector<analytics::roofline::GroupWork>& work, const trace::NameTable& names,
                          const core::Result<hardware::Device>& device) {
  GpuRoofline out;
  if (work.empty()) {
    out.reason = "the trace has neither operator shapes nor counters, so FLOPs and bytes per kernel are unknown";
    return out;
  }
  if (!device) {
    out.reason = device.error().message;
    return out;
  }
  out.device_id = device->id_with_state();
  out.device_name = device->name;
  for (auto group : work) {
    group.dtype = analytics::roofline::computed_in(group, names.text(group.kernel), &*device);
    const auto placed = analytics::roofline::place(group, *device);
    if (!placed) continue;
    out.known_ns += group.time_ns;
    // Above its roof (more is counted than the algorithm did) a kernel makes up for no other's distance from its own.
    out.ideal_ns += std::min(placed->ideal_ns, group.time_ns);
    out.kernels.push_back({std::string(names.text(group.kernel)), *placed, {}, 0});
    find_faster_type(*device, out.kernels.back());
  }
  std::stable_sort(out.kernels.begin(), out.kernels.end(),
                   [](const auto& a, const auto& b) { return a.placed.work.time_ns > b.placed.work.time_ns; });
  if (out.kernels.empty()) out.reason = "no peak rate of " + out.device_name + " matches the kernels' data types";
  return out;
}

trace::Metrics roofline_metrics(const GpuRoofline& roofline, std::int64_t kernel_sum_ns, std::int64_t device) {
  trace::Metrics metrics;
  if (roofline.kernels.empty() || kernel_sum_ns <= 0 || roofline.known_ns <= 0) return metrics;
  metrics.push_back({"gpu.known_work_ratio", roofline.known_ns / static_cast<double>(kernel_sum_ns), "ratio", {}, device});
  metrics.push_back({"gpu.roofline_ratio", roofline.ideal_ns / roofline.known_ns, "ratio", {}, device});
  return metrics;
}

Json to_json(const GpuRoofline& roofline) {
  Json out = Json::object();
  if (!roofline.device_id.empty()) out.set("device_id", roofline.device_id).set("device_name", roofline.device_name);
  if (!roofline.reason.empty()) return out.set("reason", roofline.reason);
  Json kernels = Json::array();
  for (std::size_t i = 0; i < std::min(kStoredKernels, roofline.kernels.size()); ++i)
    kernels.push(kernel_json(roofline.kernels[i]));
  return out.set("known_ns", roofline.known_ns)
      .set("ideal_ns", roofline.ideal_ns)
      .set("kernel_count", roofline.kernels.size())
      .set("kernels", std::move(kernels));
}

std::vector<report::RoofPoint> roofline_points(const Json& stored) {
  std::vector<report::RoofPoint> points;
  for (const Json& kernel : stored["kernels"].items()) {
    report::RoofPoint point;
    point.name = kernel["name"].text();
    point.group = kernel["family"].text();
    point.flops = kernel["flops"].as_f64().value_or(0);
    point.bytes = kernel["bytes"].as_f64().value_or(0);
    point.time_ns = kernel["time_ns"].as_f64().value_or(0);
    point.reached_ratio = kernel["reached_ratio"].as_f64();
    point.kind = point.group;
    point.type = kernel["dtype"].text();
    point.count = kernel["count"].as_i64().value_or(1);
    point.work_from = kernel["work_from"].text();
    points.push_back(std::move(point));
  }
  return points;
}

void fill_roofline(report::ReportModel& model, const core::Paths& paths) {
  const Json& gpus = model.session.outcome.gpu["gpus"];
  const Json* gpu = best_known(gpus);
  if (model.roofline || gpu == nullptr) return;
  const Json& stored = (*gpu)["roofline"];
  const std::string device(stored["device_name"].text());
  report::Roofline line;
  line.points = roofline_points(stored);
  const double known = stored["known_ns"].as_f64().value_or(0), ideal = stored["ideal_ns"].as_f64().value_or(0);
  const auto number = (*gpu)["metric_device"].as_i64();
  const auto* total = trace::find_metric(model.metrics, "gpu.kernel_sum_ns", number);
  if (known > 0) line.reached_ratio = ideal / known;
  std::string measured;
  if (const auto roofs = device_roofs(std::string(stored["device_id"].text()), paths)) {
    measured = add_measured(line, *roofs);
    line.roofs = roofs->roofs(work_of(line.points));
  } else {
    line.roofs = stored_roofs(stored);
  }
  const std::string which =
      gpus.items().size() > 1 ? fmt::format("On {} (the GPU with the most known work), kernels",
                                            gpu_label((*gpu)["rank"].as_i64().value_or(0), (*gpu)["device"].as_i64().value_or(0)))
                              : "Kernels";
  line.text = fmt::format("{} with known FLOPs and bytes ({} of the kernel time) reach {} of the data sheet roofs of {}{}; {}.",
                          which, core::format_percent(total != nullptr && total->value > 0 ? known / total->value : 0),
                          core::format_percent(known > 0 ? ideal / known : 0), device, measured, describe_sources(line.points));
  model.roofline = std::move(line);
}

}  // namespace aaco::workflows
