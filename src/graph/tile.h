#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/cost.h"

// How a product, a convolution (as the product it is) or attention falls into tiles, and the tiles onto the units of a device.
namespace aaco::graph {

struct TileShape {
  std::int64_t m = 128, n = 128;  // of the result that one unit makes at a time
  bool operator==(const TileShape&) const = default;
};

struct Tiling {
  TileShape tile;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;  // the product
  double tiles = 0;
  double waves = 0;       // rounds of tiles over all units
  double tile_ratio = 1;  // useful share of the tiles' area: 0..1
  double wave_ratio = 1;  // useful share of the units over all waves: 0..1
  [[nodiscard]] double efficiency_ratio() const { return tile_ratio * wave_ratio; }
};

// Empty where the site is no product, a size is below 1, or there are no units or tiles. Of several tiles the one with the best
// product of both ratios; the larger one where they are alike, for it reads less.
std::optional<Tiling> tile(const Site& site, const std::vector<TileShape>& shapes, std::int64_t units);
// "1024 x 512 in tiles of 128 x 128: 32 tiles on 80 units, 1 wave, 40.0 % of the units busy".
std::string explain(const Tiling& tiling, std::int64_t units);

}  // namespace aaco::graph
