#include "graph/tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"

namespace aaco::graph {
namespace {

double product_of(const std::vector<std::int64_t>& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

// Sizes beyond 2^53 are no kernel.
std::int64_t whole(double value) { return value < 9007199254740992.0 ? static_cast<std::int64_t>(value) : 0; }

GemmSite gemm_of(const ConvolutionSite& site) {
  const auto groups = static_cast<double>(std::max<std::int64_t>(1, site.groups));
  GemmSite gemm;
  gemm.batch = std::max<std::int64_t>(1, site.groups);
  gemm.m = whole(static_cast<double>(site.n) * product_of(site.transposed ? site.input : site.output));
  gemm.n = whole(static_cast<double>(site.k) / groups * (site.transposed ? product_of(site.filter) : 1));
  gemm.k = whole(static_cast<double>(site.c) / groups * (site.transposed ? 1 : product_of(site.filter)));
  return gemm;
}

std::optional<GemmSite> gemm_of(const Site& site) {
  if (const auto* gemm = std::get_if<GemmSite>(&site)) return *gemm;
  if (const auto* convolution = std::get_if<ConvolutionSite>(&site)) return gemm_of(*convolution);
  if (const auto* attention = std::get_if<AttentionSite>(&site)) {
    GemmSite scores;
    if (__builtin_mul_overflow(attention->batch, attention->heads, &scores.batch)) return std::nullopt;
    scores.m = attention->queries;
    scores.n = attention->keys;
    scores.k = attention->head_dim;
    return scores;
  }
  return std::nullopt;
}

Tiling tiling_of(const GemmSite& gemm, const TileShape& shape, std::int64_t units) {
  Tiling out{shape, gemm.batch, gemm.m, gemm.n, gemm.k, 0, 0, 1, 1};
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const auto tile_m = static_cast<double>(shape.m), tile_n = static_cast<double>(shape.n);
  const double rows = std::ceil(m / tile_m), columns = std::ceil(n / tile_n);
  out.tiles = static_cast<double>(gemm.batch) * rows * columns;
  out.waves = std::ceil(out.tiles / static_cast<double>(units));
  out.tile_ratio = m * n / (rows * tile_m * columns * tile_n);
  out.wave_ratio = out.tiles / (out.waves * static_cast<double>(units));
  return out;
}

}  // namespace

std::optional<Tiling> tile(const Site& site, const std::vector<TileShape>& shapes, std::int64_t units) {
  const auto gemm = gemm_of(site);
  if (!gemm || units < 1 || gemm->batch < 1 || gemm->m < 1 || gemm->n < 1 || gemm->k < 1) return std::nullopt;
  std::optional<Tiling> best;
  for (const TileShape& shape : shapes) {
    if (shape.m < 1 || shape.n < 1) continue;
    const Tiling candidate = tiling_of(*gemm, shape, units);
    constexpr double kAlike = 1e-9;
    const double gain = best ? candidate.efficiency_ratio() - best->efficiency_ratio() : 1;
    if (gain > kAlike || (gain > -kAlike && shape.m * shape.n > best->tile.m * best->tile.n)) best = candidate;
  }
  return best;
}

std::string explain(const Tiling& tiling, std::int64_t units) {
  return fmt::format(
      "{}{} x {} in tiles of {} x {}: {:.0f} tiles on {} units, {:.0f} wave{}, {} of their area and {} of the units used",
      tiling.batch > 1 ? fmt::format("{} x ", tiling.batch) : "", tiling.m, tiling.n, tiling.tile.m, tiling.tile.n, tiling.tiles,
      units, tiling.waves, tiling.waves == 1 ? "" : "s", core::format_percent(tiling.tile_ratio),
      core::format_percent(tiling.wave_ratio));
}

}  // namespace aaco::graph
