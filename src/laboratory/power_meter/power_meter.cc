#include "laboratory/power_meter.h"

#include <algorithm>
#include <string_view>

#include "analytics/telemetry.h"
#include "core/clock.h"

namespace aaco::laboratory {
namespace {

constexpr std::int64_t kMs = 1'000'000;
// Sensors average over tens of milliseconds, and are read 20 times a second.
constexpr std::int64_t kSettleNs = 200 * kMs, kMeasuredNs = 500 * kMs, kAfterNs = 150 * kMs;
constexpr std::int64_t kBetweenSamplesNs = 10 * kMs;
constexpr double kWidestBound = 0.2;
constexpr double kPlainlyMore = 1.25;

bool is_wanted(std::string_view collector, PowerMeter::Of device) {
  return device == PowerMeter::Of::processor ? collector == "proc" : collector == "amdgpu" || collector == "nvml";
}

bool has_power(const trace::MemorySink& sink, PowerMeter::Of device) {
  const auto any = [&](const auto& rows, std::initializer_list<std::string_view> wanted) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return std::find(wanted.begin(), wanted.end(), sink.text(row.metric)) != wanted.end();
    });
  };
  if (device == PowerMeter::Of::processor) return any(sink.rows<trace::SystemEventRow>(), {"cpu.energy_joules"});
  return any(sink.rows<trace::GpuEventRow>(), {"gpu.power_watts", "gpu.energy_joules"});
}

}  // namespace

core::Result<PowerMeter> PowerMeter::open(const collectors::SysRoot& root, Of device) {
  PowerMeter meter(device);
  for (auto& collector : collectors::builtin_collectors()) {
    if (!is_wanted(collector->info().name, device) || !collector->open(root, {})) continue;
    meter.last_sinks_.push_back(std::make_unique<trace::MemorySink>());
    collector->sample(*meter.last_sinks_.back());
    if (has_power(*meter.last_sinks_.back(), device)) meter.collectors_.push_back(std::move(collector));
  }
  if (meter.collectors_.empty())
    return core::fail(core::ErrorCode::unsupported,
                      device == Of::processor ? "no readable CPU energy counter (powercap; on most systems readable by root only)"
                                              : "no readable GPU power sensor (amdgpu, NVML)",
                      "run 'aaco doctor' to see what is missing");
  return meter;
}

core::Result<PowerMeter::Reading> PowerMeter::during(const std::function<core::Status()>& work, const std::atomic<bool>& stop) {
  auto own = std::make_unique<trace::MemorySink>();
  trace::MemorySink& sink = *own;
  last_sinks_.push_back(std::move(own));
  last_sinks_.erase(last_sinks_.begin(), last_sinks_.end() - 1);
  for (const auto& collector : collectors_) collector->forget();
  const std::int64_t begin = core::monotonic_ns();
  const analytics::metrics::Window window{begin + kSettleNs, begin + kSettleNs + kMeasuredNs};
  std::int64_t sampled = 0;
  for (std::int64_t now = begin; now < window.end_ns + kAfterNs; now = core::monotonic_ns()) {
    if (stop.load()) return Reading{};
    if (now - sampled >= kBetweenSamplesNs) {
      for (const auto& collector : collectors_) collector->sample(sink);
      sampled = now;
    }
    AACO_TRY(work());
  }
  for (const auto& collector : collectors_) collector->sample(sink);  // where the last one was long ago
  const analytics::metrics::ObservedWork observed{{window}, 0};
  const double seconds = static_cast<double>(kMeasuredNs) * 1e-9;
  if (device_ == Of::processor)
    return reading_of(analytics::metrics::host_metrics(sink.rows<trace::SystemEventRow>(), sink.names(), observed), seconds);
  return reading_of(analytics::metrics::gpu_metrics(sink.rows<trace::GpuEventRow>(), sink.names(), observed), seconds);
}

namespace {

// The energy of the device that plainly drew the most; null where none did.
const trace::MetricValue* busiest(const trace::Metrics& metrics) {
  const trace::MetricValue* most = nullptr;
  double next = 0;
  for (const trace::MetricValue& metric : metrics) {
    if (metric.id != "energy.cpu_joules" && metric.id != "energy.gpu_joules") continue;
    if (most == nullptr || metric.value > most->value) {
      next = most == nullptr ? 0 : most->value;
      most = &metric;
    } else {
      next = std::max(next, metric.value);
    }
  }
  return most == nullptr || !(most->value > 0) || most->value < kPlainlyMore * next ? nullptr : most;
}

}  // namespace

PowerMeter::Reading reading_of(const trace::Metrics& metrics, double seconds) {
  PowerMeter::Reading reading;
  const trace::MetricValue* const most = busiest(metrics);
  if (most != nullptr && !(most->ci95 && most->ci95->high - most->value > kWidestBound * most->value))
    reading.watts = most->value / seconds;
  std::int64_t clocks = 0;  // devices that tell one
  for (const trace::MetricValue& metric : metrics) clocks += metric.id == "gpu.clock_mean_hz" ? 1 : 0;
  for (const trace::MetricValue& metric : metrics) {
    if (most != nullptr ? metric.device != most->device : clocks != 1) continue;
    if (metric.id == "gpu.clock_mean_hz") reading.clock_hz = metric.value;
    if (metric.id == "gpu.memory_clock_mean_hz") reading.memory_clock_hz = metric.value;
  }
  return reading;
}

}  // namespace aaco::laboratory
