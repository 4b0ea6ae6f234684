#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "core/clock.h"
#include "trace/sink.h"

namespace aaco::testing {

// A clock that stands still until a test moves it.
class SteppedClock final : public core::Clock {
 public:
  explicit SteppedClock(std::shared_ptr<std::int64_t> now_ns) : now_ns_(std::move(now_ns)) {}
  [[nodiscard]] std::int64_t now_ns(core::ClockId) const override { return *now_ns_; }
  void sleep_until(std::int64_t) const override {}

 private:
  std::shared_ptr<std::int64_t> now_ns_;
};

// A collector on a fake machine, sampled at times the test chooses. `make` takes a clock.
class CollectorBench {
 public:
  template <class Make>
  CollectorBench(Make make, std::string root, collectors::Target target = {})
      : collector_(make(std::make_unique<SteppedClock>(now_ns_))), root_{std::move(root)}, target_(target) {}

  core::Status open() { return collector_->open(root_, target_); }
  // Moves on and samples once; the rows of earlier samples are forgotten.
  void sample_after(double seconds) {
    *now_ns_ += std::llround(seconds * 1e9);
    sink_ = std::make_unique<trace::MemorySink>();
    // Names belong to a sink, so each fresh one makes sources intern anew.
    collector_->sample(*sink_);
  }
  // The values of a host metric in the last sample.
  [[nodiscard]] std::vector<double> all(std::string_view metric, std::string_view entity = "") const {
    std::vector<double> values;
    for (const auto& row : sink_->rows<trace::SystemEventRow>())
      if (sink_->text(row.metric) == metric && sink_->text(row.entity) == entity) values.push_back(row.value);
    return values;
  }
  [[nodiscard]] std::optional<double> value(std::string_view metric, std::string_view entity = "") const {
    const auto values = all(metric, entity);
    return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
  }
  // The value of a GPU metric from one source.
  [[nodiscard]] std::optional<double> gpu(std::int64_t device, std::string_view metric, std::string_view source) const {
    for (const auto& row : sink_->rows<trace::GpuEventRow>())
      if (row.device == device && sink_->text(row.metric) == metric && sink_->text(row.source) == source) return row.value;
    return std::nullopt;
  }
  [[nodiscard]] const trace::MemorySink& rows() const { return *sink_; }
  collectors::Collector& collector() { return *collector_; }

 private:
  std::shared_ptr<std::int64_t> now_ns_ = std::make_shared<std::int64_t>(1'000'000'000);
  std::unique_ptr<collectors::Collector> collector_;
  collectors::SysRoot root_;
  collectors::Target target_;
  std::unique_ptr<trace::MemorySink> sink_ = std::make_unique<trace::MemorySink>();
};

}  // namespace aaco::testing
