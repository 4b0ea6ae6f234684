#include "estimation/roofline.h"

#include <algorithm>
#include <cmath>

namespace aaco::estimation {
namespace {

using core::ErrorCode;

// The tile that explains most kernels of the vendors' libraries; explanations name quantisation by it.
constexpr double kTile = 128;

// 400 Gb/s for each device: what servers with such devices are sold with. An assumption, as no table tells the network.
constexpr double kNetworkBytesPerS = 5e10;

core::Result<Roofline> exchanged(const Work& work, const CollectiveShape& shape, const DeviceFacts& device) {
  const double rate = shape.ranks > shape.ranks_per_node ? kNetworkBytesPerS : device.link_bytes_per_s;
  if (!(rate > 0)) return core::fail(ErrorCode::unsupported, "the registry has no link bandwidth for " + device.id);
  return Roofline{work.flops, work.bytes, 0, work.bytes / rate, 1, 1};
}

core::Result<double> peak(const Kernel& kernel, const DeviceFacts& device) {
  // Elementwise and normalising kernels run on the vector units whatever their type.
  const bool elementwise = std::holds_alternative<VectorShape>(kernel.shape);
  if (elementwise && device.vector_flops_per_s > 0) return device.vector_flops_per_s;
  const auto element = element_of(kernel.type);
  const auto found = element ? device.flops_per_s.find(*element) : device.flops_per_s.end();
  if (found == device.flops_per_s.end() || found->second <= 0)
    return core::fail(ErrorCode::unsupported, "the registry has no " + device.id + " peak for " + kernel.type,
                      "'aaco hardware show " + device.id + "' lists its data types");
  return found->second;
}

}  // namespace

std::optional<GemmShape> as_gemm(const Kernel& kernel) {
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.shape)) return *gemm;
  if (const auto* conv = std::get_if<ConvolutionShape>(&kernel.shape))
    return GemmShape{conv->groups, conv->n * conv->out_h() * conv->out_w(), conv->k / conv->groups,
                     conv->c / conv->groups * conv->r * conv->s};
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape)) {
    const std::int64_t query = attention->prefill ? attention->query : 1;
    return GemmShape{attention->batch * attention->heads, query, attention->past + query, 2 * attention->head_dim};
  }
  return std::nullopt;
}

TileFill fill(const GemmShape& shape, double tile_m, double tile_n, double units) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), batch = static_cast<double>(shape.batch);
  TileFill result;
  result.tiles = batch * std::ceil(m / tile_m) * std::ceil(n / tile_n);
  result.tile_ratio = batch * m * n / (result.tiles * tile_m * tile_n);
  const double width = std::max(units, 1.0);
  result.waves = std::ceil(result.tiles / width);
  result.wave_ratio = result.tiles / (result.waves * width);
  return result;
}

core::Result<Roofline> roofline(const Kernel& kernel, const DeviceFacts& device) {
  AACO_ASSIGN(const Work work, work_of(kernel));
  if (const auto* collective = std::get_if<CollectiveShape>(&kernel.shape)) return exchanged(work, *collective, device);
  AACO_ASSIGN(const double flops_per_s, peak(kernel, device));
  if (device.memory_bytes_per_s <= 0)
    return core::fail(ErrorCode::unsupported, "the registry has no memory bandwidth for " + device.id);
  Roofline result{work.flops, work.bytes, work.flops / flops_per_s, work.bytes / device.memory_bytes_per_s, 1, 1};
  if (const auto gemm = as_gemm(kernel); gemm && !device.is_cpu) {
    const TileFill tiles = fill(*gemm, kTile, kTile, device.compute_units);
    result.tile_ratio = tiles.tile_ratio;
    result.wave_ratio = tiles.wave_ratio;
  }
  return result;
}

}  // namespace aaco::estimation
