#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimation/mappers/mapper.h"

// A grid of multiply-add cells, weights held in place: a tile of k x n weights is loaded, m rows stream through, and the grid
// fills and drains once a tile (Jouppi et al., In-Datacenter Performance Analysis of a Tensor Processing Unit, 2017).
namespace aaco::estimation::mappers {
namespace {

constexpr double kUnknownSide = 128;

}  // namespace

Mapping on_grid(const Ground& ground, Mapping mapping) {
  if (!ground.product) return mapping;
  const double rows = ground.engine->rows ? static_cast<double>(*ground.engine->rows) : kUnknownSide;
  const double columns = ground.engine->columns ? static_cast<double>(*ground.engine->columns) : kUnknownSide;
  const GemmShape& shape = *ground.product;
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  mapping.tile_m = rows;
  mapping.tile_n = columns;
  // Small products side by side in one tile, each with rows and columns of its own (a depthwise filter is a product of few terms
  // and one column; the rest of the tile is zeros).
  const auto batch = static_cast<double>(shape.batch);
  const double packed = std::clamp(std::min(std::floor(rows / k), std::floor(columns / n)), 1.0, std::max(1.0, batch));
  mapping.tiles = std::ceil(batch / packed) * std::ceil(k / rows) * std::ceil(n / columns);
  const double grids = std::max(1.0, mapping.units);
  mapping.waves = std::ceil(mapping.tiles / grids);
  mapping.tile_ratio = batch * k * n / (mapping.tiles * rows * columns);
  // The next tile's weights load while this one streams, which takes as many clocks as the grid has rows.
  mapping.pipeline_ratio = m / (std::max(m, rows) + rows + columns - 2);
  const double one_tile_each = wave_ratio(mapping.tiles, grids);
  // Few tiles: the rows are dealt to the grids instead.
  mapping.wave_ratio = std::max(one_tile_each, std::min(1.0, m / (rows * grids)));
  mapping.reasons.push_back(fmt::format("{:g} weight tiles of {:g} x {:g} on {:g} grid(s), {:g} rows through each", mapping.tiles,
                                        rows, columns, grids, m));
  if (packed > 1) mapping.reasons.push_back(fmt::format("{:g} products side by side in a tile", packed));
  return mapping;
}

}  // namespace aaco::estimation::mappers
