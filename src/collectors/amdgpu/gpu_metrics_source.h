#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"
#include "formats/gpu_metrics.h"

namespace aaco::collectors::amdgpu {

// The binary gpu_metrics table of one device: levels as they stand, counters as differences between two tables. Shares of
// time come from the firmware's own accumulators where the version has them: nothing between two readings is missed.
class GpuMetricsSource final : public probe::Source {
 public:
  GpuMetricsSource(std::string path, std::int64_t device) : path_(std::move(path)), device_(device) {}
  [[nodiscard]] std::string name() const override { return "amdgpu.gpu_metrics of GPU " + std::to_string(device_); }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { has_before_ = false; }

 private:
  [[nodiscard]] bool read();
  void emit_levels(probe::Emitter& out);
  void emit_throttle_bits(probe::Emitter& out);
  void emit_partitions(probe::Emitter& out);
  void emit_shares(probe::Emitter& out);
  void emit_traffic(probe::Emitter& out, double seconds);
  void emit(probe::Emitter& out, trace::NameId metric, double value) const { out.gpu(metric, source_, device_, value); }
  [[nodiscard]] std::optional<double> growth(formats::GpuMetricsField field, std::uint16_t index = 0) const;

  std::string path_;
  std::int64_t device_;
  probe::ProbeFile file_;
  std::vector<char> buffer_;
  formats::GpuMetrics now_, before_;
  std::int64_t before_ns_ = 0;
  bool has_before_ = false;
  trace::NameId source_, accumulated_, busy_, memory_busy_;
  std::vector<trace::NameId> levels_, shares_, partitions_;
  std::array<trace::NameId, 4> throttle_flags_;
  trace::NameId xgmi_read_, xgmi_written_;
};

}  // namespace aaco::collectors::amdgpu
