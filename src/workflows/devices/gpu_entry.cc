#include "workflows/devices/gpu_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/strings.h"
#include "hardware/probe.h"

namespace aaco::workflows {
namespace {

constexpr const char* kRuntimeSource = "runtime";
constexpr const char* kReadSource = "measured_read";
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

hardware::Figure measured(double value) { return {value, hardware::kMeasuredSource, {}}; }
hardware::Figure told(std::int64_t value) { return {static_cast<double>(value), kRuntimeSource, {}}; }

std::string vendor_of(const std::string& name) {
  const std::string lower = core::to_lower(name);
  if (lower.find("amd") != std::string::npos || lower.find("radeon") != std::string::npos) return "amd";
  return lower.find("nvidia") != std::string::npos || lower.find("tesla") != std::string::npos ? "nvidia" : "unknown";
}

// "NVIDIA H100 80GB HBM3", 80 GiB -> nvidia_h100_80gb_hbm3_80gb.
std::string id_of(const laboratory::GpuFacts& facts) {
  std::string words;
  for (const char letter : core::to_lower(facts.name)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (plain || (!words.empty() && words.back() != '_')) words += plain ? letter : '_';
  }
  words = words.substr(0, 60);
  while (words.ends_with('_')) words.pop_back();
  const std::string vendor = vendor_of(facts.name);
  if (!words.starts_with(vendor)) words = vendor + (words.empty() ? "_gpu" : "_" + words);
  return fmt::format("{}_{:.0f}gb", words, std::round(static_cast<double>(facts.memory_bytes.value_or(0)) / kGibibyte));
}

hardware::Engine engine_of(const std::string& name, hardware::EngineKind kind, const std::map<std::string, double>& rates,
                           const laboratory::GpuFacts& facts) {
  hardware::Engine engine;
  engine.name = name;
  engine.kind = kind;
  if (facts.units) engine.units = told(*facts.units);
  if (facts.clock_hz) engine.clock_hz = told(*facts.clock_hz);
  for (const auto& [dtype, per_second] : rates) {
    hardware::EngineRate rate;
    rate.dtype = dtype;
    rate.peak_ops_per_s = measured(per_second);
    rate.source = hardware::kMeasuredSource;
    engine.rates.push_back(std::move(rate));
  }
  return engine;
}

void add_memory(const laboratory::GpuFacts& facts, const GpuReadings& readings, hardware::Device& device) {
  device.memory.kind = "device memory";
  if (facts.memory_bytes) device.memory.bytes = told(*facts.memory_bytes);
  if (readings.copy) device.memory.bytes_per_s = measured(*readings.copy);
  if (readings.copy && readings.read) device.memory.bytes_per_s->others.push_back({*readings.read, kReadSource});
  if (!facts.cache_bytes) return;
  hardware::MemoryLevel cache;
  cache.name = "l2";
  cache.bytes = told(*facts.cache_bytes);
  const double memory = std::max(readings.copy.value_or(0), readings.read.value_or(0));
  if (readings.cache && *readings.cache > memory) cache.bytes_per_s = measured(*readings.cache);
  if (readings.cache && *readings.cache <= memory)
    device.notes.push_back(
        fmt::format("l2 read {:.0f} GB/s, no faster than memory: its bandwidth is omitted.", *readings.cache / 1e9));
  device.memory_levels.push_back(std::move(cache));
}

}  // namespace

hardware::Device entry_of(const laboratory::GpuFacts& facts, const GpuReadings& readings, const std::string& runtime,
                          const std::string& date) {
  hardware::Device device;
  device.id = id_of(facts);
  device.name = facts.name.empty() ? "GPU" : facts.name;
  device.vendor = vendor_of(facts.name);
  device.kind = hardware::DeviceKind::gpu;
  device.architecture = facts.target.empty() ? "unknown" : facts.target;
  device.target = facts.target;
  device.sources = {
      {kRuntimeSource, "What the " + runtime + " tells of the device"},
      {hardware::kMeasuredSource, fmt::format("Measured by aaco hardware probe, {}: shortest of several calls", date)},
      {kReadSource, "The same measurement, reads only (the other counts bytes read plus bytes written by a copy)"}};
  if (!readings.lanes.empty()) device.engines.push_back(engine_of("lanes", hardware::EngineKind::vector, readings.lanes, facts));
  if (!readings.products.empty())
    device.engines.push_back(engine_of("products", hardware::EngineKind::matrix, readings.products, facts));
  add_memory(facts, readings, device);
  if (facts.lanes) device.execution.wave_lanes = facts.lanes;
  if (readings.from_host) device.host_link = hardware::Link{"host link", measured(*readings.from_host)};
  device.notes.insert(device.notes.end(), readings.notes.begin(), readings.notes.end());
  device.notes.push_back(
      "Figures are measured on this machine, not vendor specifications: a library that is older than the device, a power limit "
      "or "
      "another process may limit them. Products are those of the vendor's library, 8192 by 8192 by 8192.");
  return device;
}

std::vector<std::string> beside_published(const hardware::Device& measured, const hardware::Device& published) {
  std::vector<std::string> lines{"this GPU is in the registry as " + published.id +
                                 ", whose published figures stay; measured beside published:"};
  const auto add = [&lines](const std::string& what, double here, std::optional<double> there, double unit, const char* name) {
    lines.push_back(there && *there > 0 ? fmt::format("  {:<22} {:>9.4g} of {:>9.4g} {} ({:.0f} %)", what, here / unit,
                                                      *there / unit, name, 100 * here / *there)
                                        : fmt::format("  {:<22} {:>9.4g} {} (nothing published)", what, here / unit, name));
  };
  for (const hardware::Engine& engine : measured.engines)
    for (const hardware::EngineRate& rate : engine.rates)
      add((engine.kind == hardware::EngineKind::matrix ? "products " : "lanes ") + rate.dtype, rate.peak_ops_per_s->value,
          engine.kind == hardware::EngineKind::matrix ? published.peak_ops_per_s(rate.dtype)
                                                      : published.peak_ops_per_s(rate.dtype, engine.kind),
          1e12, "TFLOP/s");
  const auto value = [](const std::optional<hardware::Figure>& figure) {
    return figure ? std::optional(figure->value) : std::nullopt;
  };
  if (measured.memory.bytes_per_s)
    add("memory, copy", measured.memory.bytes_per_s->value, value(published.memory.bytes_per_s), 1e9, "GB/s");
  if (measured.host_link)
    add("from the host", measured.host_link->bytes_per_s.value,
        published.host_link ? std::optional(published.host_link->bytes_per_s.value) : std::nullopt, 1e9, "GB/s");
  return lines;
}

}  // namespace aaco::workflows
