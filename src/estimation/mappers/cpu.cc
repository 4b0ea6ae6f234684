#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimation/mappers/mapper.h"

// Cores with SIMD lanes: a product is worked in small register tiles, which are dealt to the cores; narrow results leave lanes
// empty, few tiles leave cores idle. Memory of the other sockets is farther away.
namespace aaco::estimation::mappers {
namespace {

constexpr double kRegisterRows = 6;       // rows of a register tile (BLIS and MLAS use 4 to 12)
constexpr double kMinOperations = 65536;  // below this a runtime does not wake a second core
// One row is a sum of products: every weight is loaded for one multiply-add, so registers are not reused, and it takes as long as
// two.
constexpr double kLoneRow = 2;
constexpr double kRemoteCost = 0.5;  // what reading another node's memory costs beside one's own

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
  mapping.reasons.push_back(fmt::format("memory of {:g} NUMA nodes, pages interleaved", nodes));
}

// A runtime does not wake a core for less than its least: so many work, in parts where the next one has little to do.
double awake(double operations, double cores) { return std::clamp(operations / kMinOperations, 1.0, cores); }

struct Cores {
  double count = 1, lanes = 1;
};

// A product in register tiles.
struct Cut {
  double tile_rows = 0, tile_columns = 0, tiles = 0;
  double operations = 0;  // that are asked for
  double padded = 0;      // that are done: with lanes and rows of tiles that are empty
  double longest = 0;     // of the core that does most
  double busy = 0;        // cores
  bool lone = false;      // a single row
};

// Each figure but the shares grows with either side and with the batch, so that more work never takes less time.
Cut cut(const GemmShape& shape, double rows, double columns, const Cores& cores) {
  const auto k = static_cast<double>(shape.k), batch = static_cast<double>(shape.batch);
  const auto whole = [](double size, double piece) { return std::ceil(size / piece) * piece; };
  const double wide = whole(columns, cores.lanes);
  Cut out;
  out.lone = rows < 2;
  out.tile_rows = out.lone ? kLoneRow : std::min(kRegisterRows, rows);
  out.tile_columns = std::min(2 * cores.lanes, wide);
  out.tiles = batch * std::ceil(rows / kRegisterRows) * std::ceil(columns / (2 * cores.lanes));
  out.operations = 2 * k * batch * rows * columns;
  out.padded = 2 * k * batch * (rows > kRegisterRows ? whole(rows, kRegisterRows) : out.tile_rows) * wide;
  const double tile = 2 * k * out.tile_rows * out.tile_columns;
  out.longest = std::max(tile * std::ceil(out.tiles / cores.count), std::min(out.padded, kMinOperations));
  out.busy = std::min(out.tiles, awake(out.padded, cores.count));
  return out;
}

}  // namespace

Mapping on_cpu(const Ground& ground, Mapping mapping) {
  spread_over_nodes(ground.device, mapping);
  const double cores = std::max(1.0, mapping.units);
  if (!ground.product) {
    mapping.wave_ratio = awake(ground.work.flops, cores) / cores;
    return mapping;
  }
  const auto m = static_cast<double>(ground.product->m), n = static_cast<double>(ground.product->n);
  const Cores units{cores, lanes_of(ground.device, ground.computed_bytes)};
  // Libraries turn the product round where that is faster.
  const Cut as_is = cut(*ground.product, m, n, units), turned = cut(*ground.product, n, m, units);
  const Cut& best = turned.longest < as_is.longest ? turned : as_is;
  mapping.tile_m = best.tile_rows;
  mapping.tile_n = best.tile_columns;
  mapping.tiles = best.tiles;
  mapping.waves = std::ceil(best.tiles / best.busy);
  mapping.pipeline_ratio = best.lone ? 1 / kLoneRow : 1;
  mapping.tile_ratio = best.operations / best.padded / mapping.pipeline_ratio;
  mapping.wave_ratio = best.padded / cores / best.longest;
  if (best.busy < cores) mapping.reasons.push_back(fmt::format("occupies {:.0f} of {:g} cores", std::floor(best.busy), cores));
  return mapping;
}

}  // namespace aaco::estimation::mappers
