#include "collectors/amdgpu/gpu_metrics_source.h"

#include <utility>

namespace aaco::collectors::amdgpu {
namespace {

using F = formats::GpuMetricsField;

// The largest table known has 3872 bytes; sysfs gives a page at most.
constexpr std::size_t kTableBytes = 16384;

// Values that are emitted as they stand; of a field with several instances the first.
struct LevelName {
  F field;
  const char* metric;
};
constexpr LevelName kLevelNames[] = {
    {F::gfx_activity, "gpu.use_ratio"},
    {F::memory_activity, "gpu.memory_use_ratio"},
    {F::media_activity, "gpu.media_use_ratio"},
    {F::socket_power_average, "gpu.power_watts"},
    {F::socket_power_current, "gpu.power_watts"},
    {F::gfx_power, "gpu.gfx_power_watts"},
    {F::energy, "gpu.energy_joules"},
    {F::temperature_edge, "gpu.temperature_edge_celsius"},
    {F::temperature_gfx, "gpu.temperature_celsius"},
    {F::temperature_hotspot, "gpu.temperature_celsius"},
    {F::temperature_memory, "gpu.temperature_memory_celsius"},
    {F::gfx_clock, "gpu.clock_hz"},
    {F::memory_clock, "gpu.memory_clock_hz"},
    {F::soc_clock, "gpu.soc_clock_hz"},
    {F::fabric_clock, "gpu.fabric_clock_hz"},
    {F::gfx_clock_average, "gpu.clock_average_hz"},
    {F::fan_rpm, "gpu.fan_rpm"},
    {F::pcie_width, "gpu.pcie_width_lanes"},
    {F::pcie_speed, "gpu.pcie_speed_transfers_per_second"},
    {F::pcie_bandwidth, "gpu.pcie_bytes_per_second"},
    {F::pcie_replays, "gpu.pcie_replays_count"},
    {F::pcie_naks_sent, "gpu.pcie_naks_sent_count"},
    {F::pcie_naks_received, "gpu.pcie_naks_received_count"},
    {F::pcie_l0_to_recovery, "gpu.pcie_recoveries_count"},
    {F::xgmi_width, "gpu.xgmi_width_lanes"},
    {F::xgmi_speed, "gpu.xgmi_speed_bits_per_second"},
    {F::voltage_gfx, "gpu.voltage_volts"},
    {F::dram_read_rate, "gpu.dram_read_bytes_per_second"},
    {F::dram_write_rate, "gpu.dram_write_bytes_per_second"},
    {F::partitions, "gpu.partitions_count"},
    {F::gfx_clock_limit, "gpu.clock_limit_hz"},
};

// Firmware cycles in which the clocks were held down, by reason; as a share of all cycles.
constexpr LevelName kShareNames[] = {
    {F::throttled_power, "gpu.throttled_power_ratio"},           {F::throttled_socket_thermal, "gpu.throttled_thermal_ratio"},
    {F::throttled_vr_thermal, "gpu.throttled_vr_thermal_ratio"}, {F::throttled_hbm_thermal, "gpu.throttled_memory_thermal_ratio"},
    {F::throttled_prochot, "gpu.throttled_prochot_ratio"},
};
constexpr int kPartitionsAtMost = 8;
constexpr int kDies = 8;

}  // namespace

core::Status GpuMetricsSource::open(const SysRoot& root, const Target&) {
  AACO_ASSIGN(file_, probe::ProbeFile::open(root.at(path_)));
  buffer_.resize(kTableBytes);
  const auto bytes = file_.read(buffer_);
  if (!bytes) return core::fail(core::ErrorCode::unsupported, "the driver provides no gpu_metrics table for this device");
  return formats::decode_gpu_metrics(*bytes, now_);
}

void GpuMetricsSource::intern(trace::Sink& sink) {
  source_ = sink.name("amdgpu.gpu_metrics");
  accumulated_ = sink.name("amdgpu.gpu_metrics.accumulated");
  busy_ = sink.name("gpu.use_ratio");
  memory_busy_ = sink.name("gpu.memory_use_ratio");
  levels_.clear();
  for (const LevelName& level : kLevelNames) levels_.push_back(sink.name(level.metric));
  shares_.clear();
  for (const LevelName& share : kShareNames) shares_.push_back(sink.name(share.metric));
  partitions_.clear();
  for (int i = 0; i < kPartitionsAtMost; ++i)
    partitions_.push_back(sink.name("gpu.partition" + std::to_string(i) + "_use_ratio"));
  throttle_flags_ = {sink.name("gpu.throttle_power_flag"), sink.name("gpu.throttle_current_flag"),
                     sink.name("gpu.throttle_thermal_flag"), sink.name("gpu.throttle_other_flag")};
  xgmi_read_ = sink.name("gpu.xgmi_read_bytes_per_second");
  xgmi_written_ = sink.name("gpu.xgmi_write_bytes_per_second");
}

bool GpuMetricsSource::read() {
  const auto bytes = file_.read(buffer_);
  return bytes && formats::decode_gpu_metrics(*bytes, now_);
}

std::optional<double> GpuMetricsSource::growth(F field, std::uint16_t index) const {
  const auto* before = before_.find(field, index);
  const auto* after = now_.find(field, index);
  if (before == nullptr || after == nullptr || after->raw < before->raw) return std::nullopt;
  // The difference of the raw counts: counters may be too large for a double.
  return after->raw == 0 ? 0 : static_cast<double>(after->raw - before->raw) * (after->value / static_cast<double>(after->raw));
}

void GpuMetricsSource::emit_levels(probe::Emitter& out) {
  for (std::size_t i = 0; i < std::size(kLevelNames); ++i)
    if (const auto* value = now_.find(kLevelNames[i].field)) emit(out, levels_[i], value->value);
}

void GpuMetricsSource::emit_throttle_bits(probe::Emitter& out) {
  const auto* status = now_.find(F::throttle_status_independent);
  if (status == nullptr) return;
  const formats::ThrottleBits bits = formats::throttle_bits(status->raw);
  const bool flags[] = {bits.power, bits.current, bits.thermal, bits.other};
  for (std::size_t i = 0; i < throttle_flags_.size(); ++i) emit(out, throttle_flags_[i], flags[i] ? 1 : 0);
}

// The mean over the dies of a partition, where the device is split.
void GpuMetricsSource::emit_partitions(probe::Emitter& out) {
  const auto* count = now_.find(F::partitions);
  if (count == nullptr || count->raw < 2 || count->raw > kPartitionsAtMost) return;
  double sums[kPartitionsAtMost] = {};
  int dies[kPartitionsAtMost] = {};
  for (const formats::GpuMetricsValue& value : now_.values) {
    if (value.field != F::partition_gfx_activity || value.index >= kPartitionsAtMost * kDies) continue;
    sums[value.index / kDies] += value.value;
    ++dies[value.index / kDies];
  }
  for (std::size_t i = 0; i < count->raw; ++i)
    if (dies[i] > 0) emit(out, partitions_[i], sums[i] / dies[i]);
}

void GpuMetricsSource::emit_shares(probe::Emitter& out) {
  const auto cycles = growth(F::accumulation_cycles);
  if (!cycles || *cycles <= 0) return;
  const auto share = [&](trace::NameId metric, F field) {
    if (const auto grown = growth(field)) out.gpu(metric, accumulated_, device_, *grown / *cycles);
  };
  share(busy_, F::gfx_activity_accumulated);
  share(memory_busy_, F::memory_activity_accumulated);
  for (std::size_t i = 0; i < std::size(kShareNames); ++i) share(shares_[i], kShareNames[i].field);
}

// Summed over the links of the device.
void GpuMetricsSource::emit_traffic(probe::Emitter& out, double seconds) {
  if (seconds <= 0) return;
  for (const auto& [field, metric] : {std::pair(F::xgmi_read, xgmi_read_), std::pair(F::xgmi_written, xgmi_written_)}) {
    std::optional<double> sum;
    for (std::uint16_t link = 0; link < 8; ++link)
      if (const auto bytes = growth(field, link)) sum = sum.value_or(0) + *bytes;
    if (sum) emit(out, metric, *sum / seconds);
  }
}

void GpuMetricsSource::sample(probe::Emitter& out) {
  if (!read()) return out.drop("amdgpu.gpu_metrics: read failed");
  emit_levels(out);
  emit_throttle_bits(out);
  emit_partitions(out);
  if (has_before_) {
    emit_shares(out);
    emit_traffic(out, static_cast<double>(out.now_ns() - before_ns_) * 1e-9);
  }
  std::swap(before_, now_);
  before_ns_ = out.now_ns();
  has_before_ = true;
}

}  // namespace aaco::collectors::amdgpu
