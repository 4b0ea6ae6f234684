#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collectors/collector.h"
#include "core/result.h"
#include "trace/metric.h"
#include "trace/sink.h"

// Power draw of a device under a repeated workload, from the telemetry sensors.
namespace aaco::laboratory {

class PowerMeter {
 public:
  // Means over the time that counts, each empty where it is not known; clocks of GPUs only.
  struct Reading {
    std::optional<double> watts, clock_hz, memory_clock_hz;
    bool operator==(const Reading&) const = default;
  };
  enum class Of { processor, gpu };
  // CPU packages by energy counters, or GPUs by energy counters or power. Unsupported if none is readable.
  static core::Result<PowerMeter> open(const collectors::SysRoot& root, Of device);
  // Mean power in W, and the busy GPU's clocks, over half a second of back-to-back calls of `work`, after the sensor's settling
  // time. Empty if the readings do not cover that time, if their bound is wider than a fifth, and if it is unclear which of
  // several GPUs was busy: the highest draw must exceed the next by a quarter. An error of `work` is returned; `stop` ends it
  // early, empty.
  core::Result<Reading> during(const std::function<core::Status()>& work, const std::atomic<bool>& stop);

 private:
  explicit PowerMeter(Of device) : device_(device) {}
  Of device_;
  std::vector<std::unique_ptr<collectors::Collector>> collectors_;
  // Sinks of the last samples: collectors identify a sink by address, so that the next one needs another address.
  std::vector<std::unique_ptr<trace::MemorySink>> last_sinks_;
};

// Selects the relevant energy of a window ("energy.cpu_joules" or a GPU's "energy.gpu_joules") and that GPU's mean clocks; of a
// single GPU also without its energy; see during().
PowerMeter::Reading reading_of(const trace::Metrics& metrics, double seconds);

}  // namespace aaco::laboratory
