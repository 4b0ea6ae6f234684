#pragma once

#include <optional>

#include "core/result.h"
#include "estimation/device_facts.h"
#include "estimation/kernel.h"

namespace aaco::estimation {

// The least time specifications allow (Williams, Waterman, Patterson, Roofline, 2009), and how a tiled kernel fills the device.
struct Roofline {
  double flops = 0, bytes = 0;
  double compute_s = 0, memory_s = 0;
  double tile_ratio = 1;  // useful share of the tiles' area
  double wave_ratio = 1;  // useful share of the units over all waves of tiles
  [[nodiscard]] double seconds() const { return compute_s > memory_s ? compute_s : memory_s; }
};

// Fails as work_of() does, and with unsupported where the device has no peak for the type or no memory bandwidth.
core::Result<Roofline> roofline(const Kernel& kernel, const DeviceFacts& device);

// A kernel as a product of matrices: a convolution as implicit GEMM (m: output pixels, n: filters of a group, k: channels x
// filter), attention as its two products; empty for what is no product.
std::optional<GemmShape> as_gemm(const Kernel& kernel);

// How a grid of tile_m x tile_n tiles covers the product on so many units.
struct TileFill {
  double tiles = 0, waves = 0;
  double tile_ratio = 1, wave_ratio = 1;
};
TileFill fill(const GemmShape& shape, double tile_m, double tile_n, double units);

}  // namespace aaco::estimation
