#include "estimation/device_facts.h"

#include <array>
#include <utility>

#include "estimation/kernel.h"
#include "hardware/probe.h"

namespace aaco::estimation {
namespace {

// The registry's names of data types beside those of the estimators.
constexpr std::array<std::pair<std::string_view, const char*>, 9> kTypes{{{"float64", "fp64"},
                                                                          {"float32", "fp32"},
                                                                          {"tf32", "tf32"},
                                                                          {"float16", "fp16"},
                                                                          {"bfloat16", "bf16"},
                                                                          {"float8", "fp8"},
                                                                          {"float6", "fp6"},
                                                                          {"float4", "fp4"},
                                                                          {"int8", "int8"}}};

}  // namespace

DeviceFacts facts_of(const hardware::Device& device) {
  DeviceFacts facts;
  facts.id = device.id_with_state();
  facts.vendor = device.vendor;
  facts.architecture = device.architecture;
  facts.is_cpu = device.kind == hardware::DeviceKind::cpu;
  facts.is_accelerator = device.kind == hardware::DeviceKind::accelerator;
  facts.compute_units = device.units().value_or(0);
  facts.clock_hz = device.clock_hz().value_or(0);
  for (const auto& [registry_name, name] : kTypes)
    if (const auto peak = device.peak_ops_per_s(registry_name)) facts.flops_per_s[name] = *peak;
  for (const hardware::Engine& engine : device.engines)
    for (const auto& rate : engine.rates)
      if (rate.peak_ops_per_s && rate.peak_ops_per_s->source == hardware::kMeasuredSource) facts.measured_peaks = true;
  facts.vector_flops_per_s = device.peak_ops_per_s("float32", hardware::EngineKind::vector).value_or(0);
  if (device.memory.bytes_per_s) facts.memory_bytes_per_s = device.memory.bytes_per_s->value;
  if (const auto* cache = device.last_level()) facts.cache_bytes = cache->bytes.value * static_cast<double>(cache->instances);
  if (const auto& link = device.device_link ? device.device_link : device.host_link)
    facts.link_bytes_per_s = link->bytes_per_s.value;
  if (device.power.board_watts) facts.power_watts = device.power.board_watts->value;
  return facts;
}

std::string registry_type(std::string_view type) {
  std::string name = canonical_type(type);
  for (const auto& [registry_name, canonical] : kTypes)
    if (name == canonical) return std::string(registry_name);
  return name;
}

}  // namespace aaco::estimation
