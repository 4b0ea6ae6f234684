#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimation/mappers/mapper.h"

// Cores with SIMD lanes: a product is worked in small register tiles, rows of which are dealt to the cores; narrow results leave
// lanes empty, few rows leave cores idle. Memory of the other sockets is farther away.
namespace aaco::estimation::mappers {
namespace {

constexpr double kRegisterRows = 6;         // rows of a register tile (BLIS and MLAS use 4 to 12)
constexpr double kLeastOperations = 65536;  // below this a runtime does not wake a second core
constexpr double kRemoteCost = 0.5;         // what reading another node's memory costs beside one's own

double lanes_of(const hardware::Device& device, double element_bytes) {
  constexpr double kBitsPerByte = 8;
  const double bits = device.execution.simd_bits ? static_cast<double>(*device.execution.simd_bits) : 128;
  return std::max(1.0, bits / kBitsPerByte / element_bytes);
}

// With pages spread over the nodes, all but one part in `nodes` is remote.
void spread_over_nodes(const hardware::Device& device, Mapping& mapping) {
  const auto nodes = static_cast<double>(device.execution.numa_nodes.value_or(1));
  if (nodes <= 1 || mapping.level != "memory") return;
  mapping.bytes_per_s /= 1 + kRemoteCost * (nodes - 1) / nodes;
  mapping.reasons.push_back(fmt::format("memory of {:g} NUMA nodes, pages spread over them", nodes));
}

}  // namespace

Mapping on_cpu(const Ground& ground, Mapping mapping) {
  spread_over_nodes(ground.device, mapping);
  const double lanes = lanes_of(ground.device, ground.element_bytes);
  const double cores = std::max(1.0, mapping.units);
  const double useful_cores = std::clamp(std::floor(ground.work.flops / kLeastOperations), 1.0, cores);
  if (!ground.product) {
    mapping.wave_ratio = useful_cores / cores;
    return mapping;
  }
  const GemmShape& shape = *ground.product;
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
  mapping.tile_m = std::min(kRegisterRows, m);
  mapping.tile_n = 2 * lanes;
  mapping.tiles = static_cast<double>(shape.batch) * std::ceil(m / mapping.tile_m) * std::ceil(n / mapping.tile_n);
  mapping.waves = std::ceil(mapping.tiles / useful_cores);
  // Libraries turn the product round where that fills the lanes better.
  mapping.tile_ratio = std::max(fill_ratio(n, lanes), fill_ratio(m, lanes));
  mapping.wave_ratio = wave_ratio(mapping.tiles, useful_cores) * useful_cores / cores;
  // One row is a sum of products: every weight is loaded for one multiply-add, so registers are not reused.
  if (m < 2 || n < 2) mapping.pipeline_ratio = 0.5;
  if (useful_cores < cores) mapping.reasons.push_back(fmt::format("work for {:g} of {:g} cores", useful_cores, cores));
  return mapping;
}

}  // namespace aaco::estimation::mappers
