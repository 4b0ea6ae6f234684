#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/kernel.h"
#include "estimation/latency.h"
#include "hardware/device.h"

// How a kernel lies on a device: which engine, how it is cut into tiles, how full the units are, which memory feeds it. From the
// registry's specifications alone (docs/estimation.md has the rules and their sources).
namespace aaco::estimation {

struct Mapping {
  std::string engine;             // of the registry entry: "matrix cores"
  std::string computed_as;        // the registry's type the engine computes in
  double units = 0;               // of the engine; 0: not published
  double tile_m = 0, tile_n = 0;  // of one unit's piece; 0: not tiled
  double split_k = 1;             // pieces the inner dimension is cut into, so that more units work
  double tiles = 0, waves = 0;
  double tile_ratio = 1;      // useful share of the tiles' area
  double wave_ratio = 1;      // useful share of the units over all waves
  double pipeline_ratio = 1;  // share of the clocks that compute: filling a grid, feeding a small tile
  double ops_per_s = 0;       // of the engine at full clock, before the ratios
  std::string level;          // of memory that feeds it
  double bytes_per_s = 0;
  // Where the cache that holds the bytes has no published bandwidth: what the units take in at most, which alone is a low end.
  double most_bytes_per_s = 0;
  double staging_bytes = 0;  // of a tile's operands in LDS or shared memory; 0: none
  std::vector<std::string> reasons;
  [[nodiscard]] double compute_ratio() const { return tile_ratio * wave_ratio * pipeline_ratio; }
};

// Whether so many bytes fit the last cache, beside what is written meanwhile.
bool stays_in_cache(const hardware::Device& device, double bytes);

// By the kind of device: mappers/cpu.cc, gpu.cc, systolic.cc. `work`: of the kernel, by the graph where there is one. Fails with
// unsupported where the device cannot compute the type or has no memory bandwidth, and as work_of() does.
core::Result<Mapping> map_kernel(const Kernel& kernel, const Work& work, const hardware::Device& device);

// How long the work takes as mapped, from specifications: what good kernels reach of a ceiling that the mapping has lowered
// already, the launch floor, and bounds as wide as such estimates have been found to miss by.
LatencyEstimate theoretical_estimate(const Work& work, const Mapping& mapping, const hardware::Device& device);

}  // namespace aaco::estimation
