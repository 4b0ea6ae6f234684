#include "hardware/device.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace aaco::hardware {
namespace {

struct TypeFacts {
  std::string_view name;
  int bits;
  std::string_view next;  // the next wider type that holds its values
};

constexpr std::array<TypeFacts, 11> kTypes = {{{"float64", 64, ""},
                                               {"float32", 32, "float64"},
                                               {"tf32", 19, "float32"},
                                               {"float16", 16, "float32"},
                                               {"bfloat16", 16, "float32"},
                                               {"float8", 8, "float16"},
                                               {"float6", 6, "float8"},
                                               {"float4", 4, "float8"},
                                               {"int32", 32, ""},
                                               {"int8", 8, "float16"},
                                               {"int4", 4, "int8"}}};

const TypeFacts* facts_of(std::string_view dtype) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeFacts& type) { return type.name == dtype; });
  return found == kTypes.end() ? nullptr : found;
}

// All spellings of one family of formats: float8e4m3fn -> float8, uint8 -> int8.
std::string_view family_of(std::string_view dtype) {
  if (dtype.starts_with("float8")) return "float8";
  if (dtype.starts_with("float4")) return "float4";
  if (dtype == "uint8" || dtype == "int8") return "int8";
  if (dtype == "uint4" || dtype == "int4") return "int4";
  return dtype;
}

}  // namespace

std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::accelerator: return "accelerator";
  }
  return "";
}

std::string_view to_string(EngineKind kind) {
  switch (kind) {
    case EngineKind::vector: return "vector";
    case EngineKind::matrix: return "matrix";
    case EngineKind::systolic: return "systolic";
  }
  return "";
}

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::unit: return "unit";
    case Scope::cluster: return "cluster";
    case Scope::die: return "die";
    case Scope::device: return "device";
  }
  return "";
}

int dtype_bits(std::string_view dtype) {
  const TypeFacts* facts = facts_of(dtype);
  return facts == nullptr ? 0 : facts->bits;
}

const EngineRate* Engine::rate(std::string_view dtype) const {
  const auto found = std::find_if(rates.begin(), rates.end(), [&](const EngineRate& rate) { return rate.dtype == dtype; });
  return found == rates.end() ? nullptr : &*found;
}

std::optional<double> Engine::ops_per_s(std::string_view dtype) const {
  const EngineRate* found = rate(dtype);
  if (found == nullptr) return std::nullopt;
  if (units && clock_hz && found->ops_per_clock) return units->value * *found->ops_per_clock * clock_hz->value;
  if (found->peak_ops_per_s) return found->peak_ops_per_s->value;
  return std::nullopt;
}

std::string Device::computed_as(std::string_view dtype) const {
  std::string_view type = family_of(dtype);
  while (!type.empty()) {
    for (const Engine& engine : engines)
      if (engine.ops_per_s(type)) return std::string(type);
    const TypeFacts* facts = facts_of(type);
    if (facts == nullptr) return {};
    type = facts->next;
  }
  return {};
}

std::optional<double> Device::peak_ops_per_s(std::string_view dtype, EngineKind engine_kind) const {
  const std::string type = computed_as(dtype);
  std::optional<double> sum;
  for (const Engine& engine : engines)
    if (engine.kind == engine_kind)
      if (const auto ops = engine.ops_per_s(type)) sum = sum.value_or(0) + *ops;
  return sum;
}

std::optional<double> Device::peak_ops_per_s(std::string_view dtype) const {
  std::optional<double> best;
  for (const EngineKind each : {EngineKind::vector, EngineKind::matrix, EngineKind::systolic})
    if (const auto ops = peak_ops_per_s(dtype, each)) best = std::max(best.value_or(0), *ops);
  return best;
}

std::optional<double> Device::units() const {
  std::optional<double> sum;
  for (const Engine& engine : engines)
    if (engine.units && engine.kind == engines.front().kind) sum = sum.value_or(0) + engine.units->value;
  if (sum) return sum;
  for (const Engine& engine : engines)
    if (engine.units) return engine.units->value;
  return std::nullopt;
}

std::optional<double> Device::clock_hz() const {
  for (const Engine& engine : engines)
    if (engine.clock_hz) return engine.clock_hz->value;
  return std::nullopt;
}

const MemoryLevel* Device::level(std::string_view level_name) const {
  const auto found = std::find_if(memory_levels.begin(), memory_levels.end(),
                                  [&](const MemoryLevel& level) { return level.name == level_name; });
  return found == memory_levels.end() ? nullptr : &*found;
}

const MemoryLevel* Device::last_level() const {
  const MemoryLevel* best = nullptr;
  for (const MemoryLevel& level : memory_levels)
    if (level.scope == Scope::device || level.scope == Scope::die) best = &level;
  return best;
}

}  // namespace aaco::hardware
