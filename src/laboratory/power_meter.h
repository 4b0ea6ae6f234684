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

// What a device draws while it does one thing again and again, by the sensors that telemetry reads.
namespace aaco::laboratory {

class PowerMeter {
 public:
  enum class Of { processor, gpu };
  // The processor's packages by their energy counters, or GPUs by those or by their power. Unsupported where none can be read.
  static core::Result<PowerMeter> open(const collectors::SysRoot& root, Of device);
  // Mean power in W over half a second in which `work` is called without a pause, after what a sensor needs to follow. Empty
  // where the readings do not cover that, where their bound is wider than a fifth, and where it is not plain which of several
  // GPUs worked: the one that drew most has to draw a quarter more than the next. An error of `work` is returned; `stop` ends it
  // early, empty.
  core::Result<std::optional<double>> during(const std::function<core::Status()>& work, const std::atomic<bool>& stop);

 private:
  explicit PowerMeter(Of device) : device_(device) {}
  Of device_;
  std::vector<std::unique_ptr<collectors::Collector>> collectors_;
  // Those of the last samples: a collector knows a sink by its address, so that the next one has to have another.
  std::vector<std::unique_ptr<trace::MemorySink>> last_sinks_;
};

// Of the energies of a window, "energy.cpu_joules" or a GPU's "energy.gpu_joules", the one that is meant; see during().
std::optional<double> watts_of(const trace::Metrics& metrics, double seconds);

}  // namespace aaco::laboratory
