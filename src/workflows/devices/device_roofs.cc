#include "workflows/device_roofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "estimation/device_facts.h"
#include "hardware/die.h"
#include "hardware/registry.h"
#include "workflows/calibration_registry.h"

namespace aaco::workflows {
namespace {

using report::Roof;

bool is_product(const std::string& kind) { return kind == "gemm" || kind == "convolution" || kind == "attention"; }

// A ceiling below this part of the stated one is none: what was measured was limited by something else (our own judgement).
// Attention reaches a fifth of the peak.
constexpr double kMinOfPeak = 0.1, kMinOfBandwidth = 0.3;

std::optional<double> part_of(std::optional<double> whole, double share) {
  return whole ? std::optional(share * *whole) : std::nullopt;
}

// A fit's coefficient beyond what the data sheet states is none either.
void take_best(std::optional<MeasuredCeiling>& best, double per_second, const estimation::LatencyModel& model,
               std::optional<double> least, std::optional<double> most) {
  if (model.quality.sites < kFewestSites || (least && per_second < *least) || (most && per_second > *most)) return;
  if (per_second > 0 && (!best || per_second > best->per_second))
    best = MeasuredCeiling{per_second, model.kind + " " + model.type, model.quality.sites};
}

std::string sites(const MeasuredCeiling& ceiling) {
  return fmt::format("{}, {} site{}", ceiling.of, ceiling.sites, ceiling.sites == 1 ? "" : "s");
}

}  // namespace

void add_calibration(DeviceRoofs& out, const estimation::DeviceCalibration& calibration) {
  out.calibration = "calibration of " + calibration.device;
  if (const auto day = calibration.provenance.created.substr(0, 10); !day.empty()) out.calibration += ", " + day;
  for (const auto& model : calibration.latency) {
    const auto least_bytes = part_of(out.stated_bytes_per_s(), kMinOfBandwidth);
    take_best(out.main, model.ceilings.bytes_per_s, model, least_bytes, out.stated_bytes_per_s());
    take_best(out.cached, model.ceilings.cached_bytes_per_s, model, least_bytes, std::nullopt);
    const auto element = estimation::element_of(model.type);
    if (!is_product(model.kind) || !element) continue;
    // Variants of a type ("fp8_block") are families of a library that compute in the same element.
    std::optional<MeasuredCeiling> best;
    const auto type = estimation::registry_type(*element);
    auto& place = out.compute[{type, model.kind}];
    if (place.per_second > 0) best = place;
    take_best(best, model.ceilings.flops_per_s, model, part_of(out.stated_flops_per_s(type), kMinOfPeak),
              out.stated_flops_per_s(type));
    if (best) place = *best;
  }
  std::erase_if(out.compute, [](const auto& entry) { return entry.second.per_second <= 0; });
}

std::optional<double> DeviceRoofs::stated_flops_per_s(const std::string& type) const { return device.peak_ops_per_s(type); }

std::optional<double> DeviceRoofs::stated_bytes_per_s() const {
  if (!device.memory.bytes_per_s) return std::nullopt;
  return device.memory.bytes_per_s->value;
}

const MeasuredCeiling* DeviceRoofs::measured(const std::string& type, std::string_view kind) const {
  if (const auto own = compute.find({type, std::string(kind)}); own != compute.end()) return &own->second;
  const MeasuredCeiling* best = nullptr;
  for (const auto& [key, ceiling] : compute)
    if (key.first == type && (best == nullptr || ceiling.per_second > best->per_second)) best = &ceiling;
  return best;
}

std::optional<double> DeviceRoofs::measured_ns(const Work& work) const {
  double ns = 0;
  if (work.flops > 0) {
    const auto* ceiling = measured(work.type, work.kind);
    if (ceiling == nullptr) return std::nullopt;
    ns = 1e9 * work.flops / ceiling->per_second;
  }
  if (work.bytes > 0) {
    const bool in_cache = !work.counted && fits_cache(work.bytes / std::max(work.executions, 1.0));
    const auto& level = in_cache ? cached : main;
    if (!level) return std::nullopt;
    ns = std::max(ns, 1e9 * work.bytes / level->per_second);
  }
  return ns > 0 ? std::optional(ns) : std::nullopt;
}

std::vector<Roof> DeviceRoofs::roofs(const std::set<std::pair<std::string, std::string>>& work) const {
  std::vector<Roof> out;
  std::set<std::string> types;
  std::set<const MeasuredCeiling*> named;
  for (const auto& [type, kind] : work) types.insert(type);
  for (const std::string& type : types)
    if (const auto peak = stated_flops_per_s(type))
      out.push_back({type, Roof::Kind::compute, *peak, "hardware registry, " + id, Roof::Basis::stated, type});
  for (const auto& [type, kind] : work)
    if (const auto* ceiling = measured(type, kind); ceiling != nullptr && named.insert(ceiling).second)
      out.push_back({type + ", measured", Roof::Kind::compute, ceiling->per_second,
                     fmt::format("measured: {}, {}", calibration, sites(*ceiling)), Roof::Basis::measured, type});
  const auto memory = [&](const std::string& name, const hardware::Figure& figure) {
    const std::string source = fmt::format("hardware registry, {} ({})", id, figure.source);
    // Stores of one speed are one roof: shared memory and the first cache of many GPUs.
    if (!out.empty() && out.back().kind == Roof::Kind::memory && out.back().per_second == figure.value)
      out.back().of = out.back().name += ", " + name;
    else
      out.push_back({name, Roof::Kind::memory, figure.value, source, Roof::Basis::stated, name});
  };
  for (const auto& level : device.memory_levels)
    if (level.bytes_per_s) memory(level.name, *level.bytes_per_s);
  if (device.memory.bytes_per_s) memory("main memory", *device.memory.bytes_per_s);
  const auto measured_memory = [&](const std::string& level, const std::optional<MeasuredCeiling>& ceiling) {
    if (ceiling)
      out.push_back({level + ", measured", Roof::Kind::memory, ceiling->per_second,
                     fmt::format("measured: {}, {}", calibration, sites(*ceiling)), Roof::Basis::measured, level});
  };
  measured_memory("cached", cached);
  measured_memory("main memory", main);
  return out;
}

std::set<std::pair<std::string, std::string>> work_of(const std::vector<report::RoofPoint>& points) {
  std::set<std::pair<std::string, std::string>> work;
  for (const auto& point : points)
    if (point.flops > 0) work.emplace(point.type, point.kind);
  return work;
}

std::string add_measured(report::Roofline& line, const DeviceRoofs& roofs) {
  if (!roofs.problem.empty()) return fmt::format(" (calibration not readable: {})", roofs.problem);
  if (roofs.calibration.empty()) return {};
  double time = 0, ideal = 0, all = 0;
  for (auto& point : line.points) {
    all += point.time_ns;
    const auto least = roofs.measured_ns(
        {point.type, point.kind, point.flops, point.bytes, static_cast<double>(point.count), point.work_from == "counters"});
    if (!least || point.time_ns <= 0) continue;
    point.measured_ratio = *least / point.time_ns;
    time += point.time_ns;
    ideal += std::min(*least, point.time_ns);
  }
  if (time <= 0) return fmt::format("; the {} has no data for these types", roofs.calibration);
  line.measured_ratio = ideal / time;
  const std::string of = time < 0.995 * all ? fmt::format(" (covers {} of the time)", core::format_percent(time / all)) : "";
  return fmt::format(" and {} of the ceilings measured by the {}{}", core::format_percent(*line.measured_ratio),
                     roofs.calibration, of);
}

namespace {

// Points above their roof, of whose work more is counted than was done.
std::string describe_above(const std::vector<report::RoofPoint>& points) {
  constexpr double kAbove = 1.02;  // what a clock above the data sheet's explains
  double highest = 0;
  std::size_t above = 0;
  for (const auto& point : points)
    if (point.reached_ratio && *point.reached_ratio > kAbove) ++above, highest = std::max(highest, *point.reached_ratio);
  if (above == 0) return {};
  return fmt::format(
      "; {} of {} points {} above {} roof (up to {}): an algorithm such as Winograd performs fewer operations than counted, or "
      "the clock exceeded the data sheet value",
      above, points.size(), above == 1 ? "is" : "are", above == 1 ? "its" : "their", core::format_percent(highest));
}

std::string sources(const std::vector<report::RoofPoint>& points) {
  const auto counted = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const auto& point) { return point.work_from == "counters"; }));
  constexpr const char* kShapes = "estimated from shapes (each operand read or written once: minimum traffic)";
  if (counted == 0) return fmt::format("operations and bytes are {}", kShapes);
  if (counted == points.size()) return "operations and bytes are from hardware counters";
  return fmt::format("operations and bytes for {} of {} points are from hardware counters, the others {}", counted, points.size(),
                     kShapes);
}

}  // namespace

std::string describe_sources(const std::vector<report::RoofPoint>& points) { return sources(points) + describe_above(points); }

core::Result<DeviceRoofs> device_roofs(const std::string& id, const core::Paths& paths) {
  AACO_ASSIGN(const hardware::Device entry, hardware::DeviceRegistry::load_one(paths, id));
  AACO_ASSIGN(hardware::Device device, hardware::as_shown(entry));
  DeviceRoofs out;
  const auto facts = estimation::facts_of(device);
  out.id = device.id_with_state();
  out.cache_bytes = facts.cache_bytes;
  out.device = std::move(device);
  AACO_ASSIGN(const auto registry, hardware::DeviceRegistry::of({entry}));
  const auto set = load_calibrations(paths, registry, {out.id});
  if (!set)
    out.problem = set.error().message;
  else if (const auto found = set->entries().find(out.id); found != set->entries().end())
    add_calibration(out, found->second.calibration);
  return out;
}

}  // namespace aaco::workflows
