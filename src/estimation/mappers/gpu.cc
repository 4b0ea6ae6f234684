#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "estimation/mappers/mapper.h"

// Compute units or multiprocessors: a product is cut into tiles, each worked on by one unit from operands staged in LDS or shared
// memory; the tiles run in waves, and the last wave leaves units idle.
namespace aaco::estimation::mappers {
namespace {

struct Tile {
  double m, n;
};
// What GEMM libraries choose from (the macro tiles of Tensile and CUTLASS).
constexpr std::array kTiles{Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{128, 64}, Tile{64, 128}, Tile{64, 64},
                            Tile{64, 32},   Tile{32, 64},   Tile{32, 32},   Tile{16, 64},  Tile{64, 16},  Tile{16, 16}};
constexpr double kDepth = 32;      // of the inner dimension that is staged at once
constexpr double kStages = 2;      // one is computed on while the next is loaded
constexpr double kMinSplit = 512;  // of the inner dimension that a piece keeps when it is split
constexpr double kMaxSplit = 16;
// A tile of m x n does m n / (m + n) operations for an element it stages; below a few dozen of them staging is what takes the
// time.
constexpr double kStagingCost = 12;

double staging_bytes(const Tile& tile, double element_bytes) { return (tile.m + tile.n) * kDepth * kStages * element_bytes; }

const hardware::MemoryLevel* scratch(const hardware::Device& device) {
  for (const char* name : {"lds", "shared", "shared_memory", "l1"})
    if (const auto* level = device.level(name)) return level;
  return nullptr;
}

double intensity_ratio(const Tile& tile) {
  const double intensity = tile.m * tile.n / (tile.m + tile.n);
  return intensity / (intensity + kStagingCost);
}

double split_of(const GemmShape& shape, double tiles, double units) {
  if (units <= 0 || tiles >= units) return 1;
  const double room = std::floor(static_cast<double>(shape.k) / kMinSplit);
  return std::clamp(std::floor(units / tiles), 1.0, std::clamp(room, 1.0, kMaxSplit));
}

void cut(const GemmShape& shape, const Tile& tile, Mapping& mapping) {
  const TileFill one = fill(shape, tile.m, tile.n, mapping.units);
  mapping.tile_m = tile.m;
  mapping.tile_n = tile.n;
  mapping.split_k = split_of(shape, one.tiles, mapping.units);
  mapping.tiles = one.tiles * mapping.split_k;
  mapping.waves = mapping.units > 0 ? std::ceil(mapping.tiles / mapping.units) : 1;
  mapping.tile_ratio = one.tile_ratio;
  mapping.wave_ratio = wave_ratio(mapping.tiles, mapping.units);
  mapping.pipeline_ratio = intensity_ratio(tile);
}

void map_product(const Ground& ground, Mapping& mapping) {
  const hardware::MemoryLevel* store = scratch(ground.device);
  Mapping best = mapping;
  best.tile_ratio = 0;
  for (const Tile& tile : kTiles) {
    const double bytes = staging_bytes(tile, ground.element_bytes);
    if (store != nullptr && bytes > store->bytes.value) continue;
    Mapping candidate = mapping;
    candidate.staging_bytes = bytes;
    cut(*ground.product, tile, candidate);
    if (candidate.compute_ratio() > best.compute_ratio()) best = std::move(candidate);
  }
  if (best.tile_ratio > 0) mapping = std::move(best);
  if (mapping.tiles <= 0) return;
  mapping.reasons.push_back(
      fmt::format("{:g} tiles of {:g} x {:g}{} in {:g} wave(s) over {:g} units", mapping.tiles, mapping.tile_m, mapping.tile_n,
                  mapping.split_k > 1 ? fmt::format(", k split {:g} ways", mapping.split_k) : "", mapping.waves, mapping.units));
}

// Operators without tiles: groups of 256 threads, four elements each.
void map_lanes(const Ground& ground, Mapping& mapping) {
  constexpr double kGroupElements = 256.0 * 4;
  const double elements = ground.work.bytes / (2 * ground.element_bytes);
  mapping.tiles = std::max(1.0, std::ceil(elements / kGroupElements));
  mapping.waves = mapping.units > 0 ? std::ceil(mapping.tiles / mapping.units) : 1;
  mapping.wave_ratio = wave_ratio(mapping.tiles, mapping.units);
  // Too few groups cannot keep the memory busy either. The fullest group ends last: a further one, however small, makes nothing
  // faster.
  const double busy = std::max(1.0, elements / kGroupElements);
  if (mapping.units > 0 && busy < mapping.units) {
    mapping.bytes_per_s *= busy / mapping.units;
    mapping.reasons.push_back(fmt::format("{:g} group(s) of threads on {:g} units", mapping.tiles, mapping.units));
  }
}

}  // namespace

Mapping on_gpu(const Ground& ground, Mapping mapping) {
  if (ground.product)
    map_product(ground, mapping);
  else
    map_lanes(ground, mapping);
  return mapping;
}

}  // namespace aaco::estimation::mappers
