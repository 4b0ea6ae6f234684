#include "estimation/latency/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace aaco::estimation {
namespace {

constexpr double kGpuFloorS = 4e-6, kCpuFloorS = 2e-6;

// Tile sizes that the vendors' libraries choose among.
constexpr std::array<std::pair<double, double>, 9> kTiles{
    {{64, 64}, {128, 64}, {64, 128}, {128, 128}, {256, 128}, {128, 256}, {256, 256}, {32, 64}, {16, 128}}};

class Row {
 public:
  explicit Row(std::size_t expected) { values_.reserve(expected); }
  void plain(double value) { values_.push_back(static_cast<float>(value)); }
  void log(double value) { plain(std::log2(std::max(value, 1e-30))); }
  template <class... Integers>
  void logs(Integers... values) {
    (log(static_cast<double>(values)), ...);
  }
  void flag(bool value) { plain(value ? 1 : 0); }
  // How well a dimension is aligned, and what is left over of the last tile.
  void alignment(std::int64_t value) {
    std::int64_t power = 1;
    while (power < 256 && value % (power * 2) == 0) power *= 2;
    log(static_cast<double>(power));
    plain(static_cast<double>(value % 128) / 128);
  }
  std::vector<float> take() { return std::move(values_); }

 private:
  std::vector<float> values_;
};

void add_roofline(Row& row, const Roofline& roof) {
  row.logs(roof.compute_s, roof.memory_s, roof.seconds());
  row.log(roof.compute_s / std::max(roof.memory_s, 1e-30));
}

void add_fills(Row& row, const GemmShape& shape, const DeviceFacts& device) {
  for (const auto& [tile_m, tile_n] : kTiles) {
    const TileFill filled = fill(shape, tile_m, tile_n, device.compute_units);
    row.log(filled.waves);
    row.log(filled.tile_ratio * filled.wave_ratio);
  }
}

void add(Row& row, const GemmShape& s, const DeviceFacts& device) {
  row.logs(s.batch, s.m, s.n, s.k);
  const double outputs = static_cast<double>(s.batch) * static_cast<double>(s.m) * static_cast<double>(s.n);
  row.logs(outputs, static_cast<double>(s.k) / outputs, static_cast<double>(s.m) / static_cast<double>(s.n));
  row.alignment(s.m);
  row.alignment(s.n);
  row.alignment(s.k);
  add_fills(row, s, device);
}

// Time of Winograd's transformed products over the least time, by the outputs a tile has; one figure where they do not apply.
void add_transforms(Row& row, const ConvolutionShape& s, const DeviceFacts& device, const Roofline& roof) {
  constexpr double kNone = 5;
  const bool applies = s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 && s.groups == 1;
  const double defined = static_cast<double>(s.out_h() * s.out_w()) * static_cast<double>(s.r * s.s);
  for (const std::int64_t tile : {2, 3, 4}) {
    const double tiles = std::ceil(static_cast<double>(s.out_h()) / static_cast<double>(tile)) *
                         std::ceil(static_cast<double>(s.out_w()) / static_cast<double>(tile));
    const double multiplied = tiles * static_cast<double>((tile + s.r - 1) * (tile + s.s - 1));
    if (applies)
      row.log(roof.compute_s * multiplied / defined / (roof.seconds() + nominal_floor_s(device)));
    else
      row.plain(kNone);
  }
}

// Which of input, result, filters and unrolled input is what is moved.
void add_movement(Row& row, const ConvolutionShape& s, const Roofline& roof) {
  const auto elements = [](auto... sides) { return (static_cast<double>(sides) * ...); };
  const double per_byte = 1 / std::max(roof.bytes, 1.0);
  row.log(elements(s.n, s.c, s.h, s.w) * per_byte);
  row.log(elements(s.n, s.k, s.out_h(), s.out_w()) * per_byte);
  row.log(elements(s.k, s.c / s.groups, s.r, s.s) * per_byte);
  row.log(elements(s.n, s.out_h(), s.out_w(), s.c, s.r, s.s) * per_byte);
  row.log(elements(s.n, s.h, s.w));
  row.log(elements(s.out_h() * s.stride_h, s.out_w() * s.stride_w) / elements(s.h, s.w));
}

void add(Row& row, const ConvolutionShape& s, const DeviceFacts& device, const Roofline& roof) {
  row.logs(s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride_h, s.stride_w, s.dilation_h, s.groups);
  row.plain(static_cast<double>(s.pad_h));
  row.plain(static_cast<double>(s.pad_w));
  row.flag(s.channels_last);
  row.logs(s.out_h(), s.out_w(), s.out_h() * s.out_w() * s.n);
  row.alignment(s.c / s.groups);
  row.alignment(s.k / s.groups);
  row.alignment(s.n);
  row.logs(s.r * s.s, s.h * s.w, s.c / s.groups * s.r * s.s, s.k / s.groups);
  const bool plain = s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1;
  row.flag(plain && s.groups == 1 && s.r == 3 && s.s == 3);                 // where Winograd's transforms apply
  row.flag(plain && s.r == 1 && s.s == 1 && s.pad_h == 0 && s.pad_w == 0);  // a plain product
  row.flag(s.groups > 1 && s.groups == s.c);
  // The transforms work on tiles of 2 x 2 and 3 x 3 outputs, whose last ones may be partly empty.
  for (const double tile : {2.0, 3.0, 4.0, 6.0}) {
    const double h = static_cast<double>(s.out_h()), w = static_cast<double>(s.out_w());
    row.log(h * w / (std::ceil(h / tile) * std::ceil(w / tile) * tile * tile));
  }
  // The parts of the least time that computing and moving are, and how much of the input the stride passes over.
  row.log(roof.compute_s / (roof.seconds() + nominal_floor_s(device)));
  row.log(roof.memory_s / (roof.seconds() + nominal_floor_s(device)));
  row.log(std::min(1.0, static_cast<double>(s.r) / static_cast<double>(s.stride_h)) *
          std::min(1.0, static_cast<double>(s.s) / static_cast<double>(s.stride_w)));
  add_transforms(row, s, device, roof);
  add_movement(row, s, roof);
  // What is left over of the pieces that implicit products and their loads of four come in.
  const std::int64_t pixels = s.n * s.out_h() * s.out_w(), terms = s.c / s.groups * s.r * s.s;
  for (const auto& [value, piece] : {std::pair<std::int64_t, std::int64_t>{s.k / s.groups, 32},
                                     {s.c / s.groups, 8},
                                     {terms, 16},
                                     {pixels, 64},
                                     {s.out_h() * s.out_w(), 4}})
    row.plain(static_cast<double>(value % piece));
  const GemmShape product = *as_gemm({s, "fp32"});
  add_fills(row, product, device);
  for (const auto& [tile_m, tile_n] : kTiles) {
    const TileFill filled = fill(product, tile_m, tile_n, device.compute_units);
    row.log(roof.compute_s / std::max(filled.tile_ratio * filled.wave_ratio, 1e-9) / (roof.seconds() + nominal_floor_s(device)));
  }
}

double bytes_of(const std::string& type) { return operands_of(type).value_or(Operands{"", 2, 2}).bytes; }

// Which of the numbered names it is; beyond them where it is none.
void add_place(Row& row, const std::string& name, const std::vector<std::string>& names) {
  row.plain(static_cast<double>(std::find(names.begin(), names.end(), name) - names.begin()));
}

// Blocks of a decoding step: a head of keys and values of a sequence, or pieces of its cache.
void add_decoding(Row& row, double blocks, double keys, double read_bytes, const DeviceFacts& device) {
  const double units = std::max(device.compute_units, 1.0);
  row.logs(blocks / units, read_bytes / units, blocks * keys / units);
  for (const double piece : {64.0, 256.0, 1024.0}) {
    const double pieces = blocks * std::ceil(keys / piece), waves = std::ceil(pieces / units);
    row.logs(waves, pieces / (waves * units));
  }
  const double waves = std::ceil(blocks / units);
  row.logs(waves, blocks / (waves * units));
}

void add_decode(Row& row, const AttentionShape& s, const DeviceFacts& device, const Roofline& roof) {
  const std::int64_t keys = s.past + 1, group = s.heads / std::max<std::int64_t>(1, s.kv_heads);
  const std::int64_t read = s.window > 0 ? std::min(keys, s.window) : keys;
  row.logs(s.batch, keys, read, s.heads, s.kv_heads, s.head_dim, group, bytes_of(s.kv_type));
  row.logs(s.batch * s.kv_heads, s.batch * s.heads, s.heads * s.head_dim, s.window + 1);
  add_decoding(row, static_cast<double>(s.batch * s.kv_heads), static_cast<double>(read), roof.bytes, device);
}

void add(Row& row, const LatentAttentionShape& s, const DeviceFacts& device, const Roofline& roof) {
  row.logs(s.batch, s.heads, s.query, s.keys, s.batch * s.heads, s.batch * s.query, s.batch * s.keys, bytes_of(s.kv_type));
  if (!s.prefill)
    return add_decoding(row, static_cast<double>(s.batch) * std::ceil(static_cast<double>(s.heads) / 64),
                        static_cast<double>(s.keys), roof.bytes, device);
  for (const double tile : {64.0, 128.0}) {
    const TileFill filled = fill({s.batch * s.heads, s.query, 1, 1}, tile, 1, device.compute_units);
    row.logs(filled.waves, filled.tile_ratio * filled.wave_ratio);
  }
}

void add(Row& row, const ExpertsShape& s, const DeviceFacts& device, const Roofline& roof) {
  const ExpertLoad load = load_of(s);
  const double inner = static_cast<double>(s.inter) / static_cast<double>(s.tensor),
               each = load.visits / std::max(load.experts, 1e-9);
  // Tables have a dozen layers: by their sizes alone trees would tell them apart, and say nothing of another.
  row.log(s.expert > 1 ? s.expert : 1);
  row.flag(s.gated);
  row.plain(s.skew);
  row.plain(s.expert > 1 ? s.skew : 0);
  row.logs(inner, load.visits, load.experts, each, load.experts * static_cast<double>(s.expert) / static_cast<double>(s.experts));
  const double units = std::max(device.compute_units, 1.0);
  for (const double tile : {16.0, 64.0, 128.0}) {
    const double rows = load.experts * std::ceil(each / tile), tiles = rows * std::ceil((s.gated ? 2 : 1) * inner / 128);
    const double waves = std::ceil(tiles / units);
    row.logs(rows * tile / std::max(load.visits, 1e-9), waves, tiles / std::max(waves * units, 1e-9));
    row.log(roof.compute_s * rows * tile / std::max(load.visits, 1e-9) / (roof.seconds() + nominal_floor_s(device)));
  }
}

constexpr std::array<std::string_view, 5> kCollectives{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"};

void add(Row& row, const CollectiveShape& s) {
  row.plain(static_cast<double>(std::find(kCollectives.begin(), kCollectives.end(), s.op) - kCollectives.begin()));
  row.logs(s.ranks, s.ranks_per_node, s.bytes, s.bytes / static_cast<double>(s.ranks));
  row.flag(s.ranks > s.ranks_per_node);
}

void add(Row& row, const AttentionShape& s, const DeviceFacts& device, const Roofline& roof) {
  if (!s.prefill) return add_decode(row, s, device, roof);
  const std::int64_t query = s.query;
  row.logs(bytes_of(s.kv_type), s.window + 1, s.window > 0 ? std::min(s.window, s.past + query) : s.past + query);
  row.logs(s.batch, query, s.past + query, s.heads, s.kv_heads, s.head_dim, s.heads / std::max<std::int64_t>(1, s.kv_heads));
  row.logs(s.batch * s.heads, s.batch * query, s.heads * s.head_dim, s.batch * s.kv_heads);
  row.plain(static_cast<double>(query % 128) / 128);
  row.plain(static_cast<double>(s.head_dim % 64) / 64);
  for (const double tile : {64.0, 128.0, 192.0, 256.0}) {
    // A block works on some queries of a head; with grouped heads, on those of a group.
    for (const std::int64_t group : {std::int64_t{1}, s.heads / std::max<std::int64_t>(1, s.kv_heads)}) {
      const GemmShape grid{s.batch * s.heads / std::max<std::int64_t>(1, group), query * group, 1, 1};
      const TileFill filled = fill(grid, tile, 1, device.compute_units);
      row.log(filled.waves);
      row.log(filled.tile_ratio * filled.wave_ratio);
      // What is computed when empty parts of tiles and waves count, beside the time that the floor allows.
      row.log(roof.compute_s / std::max(filled.tile_ratio * filled.wave_ratio, 1e-9) /
              (roof.seconds() + nominal_floor_s(device)));
    }
  }
}

void add(Row& row, const VectorShape& s, const std::vector<std::string>& operators) {
  add_place(row, s.op, operators);
  row.logs(s.rows, s.cols);
  row.log(static_cast<double>(s.rows) * static_cast<double>(s.cols));
  row.alignment(s.cols);
  row.alignment(s.rows);
  for (const double tile : {256.0, 512.0, 1024.0})
    row.plain(static_cast<double>(s.cols) / tile - std::floor(static_cast<double>(s.cols) / tile));
}

}  // namespace

double nominal_floor_s(const DeviceFacts& device) { return device.is_cpu ? kCpuFloorS : kGpuFloorS; }

std::vector<float> features_of(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                               const std::vector<std::string>& operators) {
  constexpr std::size_t kUsual = 80;
  Row row(kUsual);
  add_roofline(row, roof);
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.shape)) add(row, *gemm, device);
  if (const auto* conv = std::get_if<ConvolutionShape>(&kernel.shape)) add(row, *conv, device, roof);
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape)) add(row, *attention, device, roof);
  if (const auto* vector = std::get_if<VectorShape>(&kernel.shape)) add(row, *vector, operators);
  if (const auto* latent = std::get_if<LatentAttentionShape>(&kernel.shape)) add(row, *latent, device, roof);
  if (const auto* experts = std::get_if<ExpertsShape>(&kernel.shape)) add(row, *experts, device, roof);
  if (const auto* collective = std::get_if<CollectiveShape>(&kernel.shape)) add(row, *collective);
  if (has_programs(kind_of(kernel))) add_place(row, kernel.program, operators);
  return row.take();
}

std::size_t feature_count(std::string_view kind) {
  const DeviceFacts device;
  const auto count = [&](const Kernel& kernel) { return features_of(kernel, device, {}, {}).size(); };
  if (kind == "gemm") return count({GemmShape{1, 1, 1, 1}, "fp32"});
  if (kind == "convolution") return count({ConvolutionShape{1, 1, 1, 1, 1}, "fp32"});
  if (kind == "attention") return count({AttentionShape{true, 1, 1, 0, 1, 1, 1, ""}, "fp32"});
  if (kind == "decode attention") return count({AttentionShape{false, 1, 1, 0, 1, 1, 1, ""}, "fp32"});
  if (kind == "vector") return count({VectorShape{"add", 1, 1}, "fp32"});
  if (kind == "latent attention") return count({LatentAttentionShape{true, 1, 1, 1, 1, ""}, "fp32"});
  if (kind == "decode latent attention") return count({LatentAttentionShape{false, 1, 1, 1, 1, ""}, "fp32"});
  if (kind == "experts") return count({ExpertsShape{1, 1, 1}, "fp32"});
  if (kind == "collective") return count({CollectiveShape{"all_reduce", 2, 2, 1}, "fp32"});
  return count({OtherShape{}, "fp32"});
}

std::vector<float> energy_features_of(const Kernel& kernel, const Roofline& roof, double seconds) {
  Row row(16);
  row.logs(seconds, roof.compute_s / seconds, roof.memory_s / seconds, roof.flops, roof.bytes);
  const auto gemm = as_gemm(kernel);
  const GemmShape shape = gemm.value_or(GemmShape{});
  row.logs(shape.batch, std::max<std::int64_t>(shape.m, 1), std::max<std::int64_t>(shape.n, 1),
           std::max<std::int64_t>(shape.k, 1));
  row.logs(roof.tile_ratio, roof.wave_ratio);
  return row.take();
}

std::size_t energy_feature_count() { return energy_features_of({OtherShape{}, "fp32"}, {}, 1).size(); }

}  // namespace aaco::estimation
