#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "estimation/mappers/mapper.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using hardware::DeviceKind;
using hardware::Engine;
using hardware::EngineKind;
using mappers::Ground;

// Tiles are multiplied by any engine; everything else needs lanes. A device without lanes (a TPU here) does it on what it has.
const Engine* engine_for(const hardware::Device& device, std::string_view type, bool product) {
  const Engine* best = nullptr;
  for (const bool lanes_only : {!product, false}) {
    for (const Engine& engine : device.engines) {
      if (lanes_only && engine.kind != EngineKind::vector) continue;
      const auto ops = engine.ops_per_s(type);
      if (ops && (best == nullptr || *ops > best->ops_per_s(type).value_or(0))) best = &engine;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

std::string names_of(const hardware::Device& device) {
  std::string names;
  for (const Engine& engine : device.engines)
    for (const auto& rate : engine.rates) names += (names.empty() ? "" : ", ") + rate.dtype;
  return names;
}

// The outermost store with a published bandwidth that all bytes of the units pass.
double most_bytes_per_s(const hardware::Device& device) {
  double found = 0;
  for (const hardware::MemoryLevel& level : device.memory_levels)
    if (level.bytes_per_s) found = level.bytes_per_s->value;
  return found;
}

// The nearest store that holds the kernel's bytes and says how fast it is, shared by all units; else main memory.
void feed(const Ground& ground, Mapping& mapping) {
  const auto& memory = ground.device.memory;
  mapping.level = memory.bytes_per_s ? memory.kind == "none" ? "the link" : "memory" : "";
  mapping.bytes_per_s = memory.bytes_per_s ? memory.bytes_per_s->value : 0;
  const hardware::MemoryLevel* last = ground.device.last_level();
  if (last == nullptr) return;
  if (!stays_in_cache(ground.device, ground.work.bytes)) return;
  const bool without_memory = mapping.bytes_per_s <= 0;
  if (!last->bytes_per_s) mapping.most_bytes_per_s = std::max(mapping.bytes_per_s, most_bytes_per_s(ground.device));
  if (!last->bytes_per_s || (!without_memory && last->bytes_per_s->value <= mapping.bytes_per_s)) return;
  const double cold = without_memory ? 0 : std::min(ground.work.cold_bytes, ground.work.bytes);
  const double warm = ground.work.bytes - cold;
  if (cold > 0)
    mapping.reasons.push_back(fmt::format("{} of weights are read from memory: the model's weights do not fit in {}",
                                          core::format_bytes(cold), last->name));
  if (warm <= cold) return;
  mapping.bytes_per_s = ground.work.bytes / (warm / last->bytes_per_s->value + (cold > 0 ? cold / mapping.bytes_per_s : 0));
  mapping.level = last->name;
  mapping.reasons.push_back(fmt::format("its {} fit in {}", core::format_bytes(warm), last->name));
}

// A device without memory of its own streams over the link to its host.
void feed_over_link(const hardware::Device& device, Mapping& mapping) {
  if (mapping.bytes_per_s > 0 || !device.host_link) return;
  mapping.level = device.host_link->kind;
  mapping.bytes_per_s = device.host_link->bytes_per_s.value;
}

// Part of a ceiling that good kernels reach once quantisation is accounted for, the floor of a launch, and how far such estimates
// were from measurements (docs/estimation.md).
constexpr double kReachedCompute = 0.75, kReachedMemory = 0.75;
constexpr double kGpuFloorS = 4e-6, kCpuFloorS = 1.5e-6, kGridFloorS = 1e-6;
constexpr double kBelow = 2.0, kAbove = 3.0;

double floor_of(const hardware::Device& device) {
  switch (device.kind) {
    case DeviceKind::cpu: return kCpuFloorS;
    case DeviceKind::gpu: return kGpuFloorS;
    case DeviceKind::accelerator: break;
  }
  return kGridFloorS;
}

}  // namespace

bool stays_in_cache(const hardware::Device& device, double bytes) {
  const hardware::MemoryLevel* last = device.last_level();
  // Half: the other half holds what is written.
  return last != nullptr && bytes <= last->bytes.value * static_cast<double>(last->instances) / 2;
}

double mappers::fill_ratio(double count, double piece) { return piece <= 0 ? 1 : count / (std::ceil(count / piece) * piece); }

double mappers::wave_ratio(double pieces, double units) { return units <= 0 ? 1 : pieces / (std::ceil(pieces / units) * units); }

core::Result<Mapping> map_kernel(const Kernel& kernel, const Work& work, const hardware::Device& device) {
  const auto element = element_of(kernel.type);
  const std::string type = element ? device.computed_as(registry_type(*element)) : std::string();
  if (type.empty())
    return core::fail(ErrorCode::unsupported, device.id + " does not support " + kernel.type,
                      "supported: " + names_of(device) + "; choose one with --dtype");
  Ground ground{device, kernel, work, nullptr, as_gemm(kernel), element_bytes(*element).value_or(4)};
  ground.computed_bytes = std::max(ground.element_bytes, element_bytes(canonical_type(type)).value_or(ground.element_bytes));
  ground.engine = engine_for(device, type, ground.product.has_value());
  if (ground.engine == nullptr)
    return core::fail(ErrorCode::unsupported, device.id + " has no engine with a published rate for " + type);
  Mapping mapping;
  mapping.engine = ground.engine->name;
  mapping.computed_as = type;
  mapping.units = ground.engine->units ? ground.engine->units->value : 0;
  // Engines of one kind work together (both kinds of cores of a hybrid processor).
  mapping.ops_per_s = device.peak_ops_per_s(type, ground.engine->kind).value_or(*ground.engine->ops_per_s(type));
  if (type != registry_type(*element)) mapping.reasons.push_back(fmt::format("{} is computed as {}", *element, type));
  feed(ground, mapping);
  feed_over_link(device, mapping);
  if (mapping.bytes_per_s <= 0)
    return core::fail(ErrorCode::unsupported,
                      "the registry has no memory bandwidth for " + device.id + ", so no prediction is possible",
                      "add it to the entry " + device.where);
  if (ground.engine->kind == EngineKind::systolic) return on_grid(ground, std::move(mapping));
  if (device.kind == DeviceKind::cpu) return on_cpu(ground, std::move(mapping));
  return on_gpu(ground, std::move(mapping));
}

LatencyEstimate theoretical_estimate(const Work& work, const Mapping& mapping, const hardware::Device& device) {
  LatencyEstimate result;
  Explanation& why = result.explanation;
  why.compute_s = work.flops / mapping.ops_per_s;
  why.memory_s = work.bytes / mapping.bytes_per_s;
  why.floor_s = floor_of(device);
  why.tile_ratio = mapping.tile_ratio;
  why.wave_ratio = mapping.wave_ratio;
  const double compute = why.compute_s / (mapping.compute_ratio() * kReachedCompute);
  const double memory = why.memory_s / kReachedMemory;
  result.seconds = std::max(compute, memory) + why.floor_s;
  const double best = std::max(why.compute_s, why.memory_s);
  const double least_memory = mapping.most_bytes_per_s > 0 ? work.bytes / mapping.most_bytes_per_s : why.memory_s;
  result.lower = std::max({why.compute_s, least_memory, result.seconds / kBelow});
  result.upper = result.seconds * kAbove;
  result.level = Level::theoretical;
  result.source = "specification";
  why.efficiency_ratio = (best + why.floor_s) / result.seconds;
  why.limit = std::max(compute, memory) < why.floor_s ? "floor" : compute > memory ? "compute" : "memory";
  why.method = "published peaks reduced by tile and wave efficiency (good kernels reach about 75 % of that) plus a launch floor";
  return result;
}

}  // namespace aaco::estimation
