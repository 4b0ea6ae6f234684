#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/live.h"
#include "trace/sink.h"

namespace aaco::workflows {

// Keeps the newest value of each metric that a collector, or a stored session, has.
class LatestValues final : public trace::EveryRowTo<LatestValues> {
 public:
  using EveryRowTo::add;
  void add(const trace::SystemEventRow& row) override {
    put(host_[{row.metric.value, row.entity.value}], row.time_ns, row.value);
  }
  void add(const trace::GpuEventRow& row) override { put(gpu_[{row.device, row.metric.value}], row.time_ns, row.value); }
  template <class Row>
  void take(const Row&) {}
  trace::NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }
  trace::NameTable& names() { return names_; }

  // Fills in what is known and not older than `max_age_ns`.
  void fill(report::LiveMachine& machine, std::int64_t now_ns, std::int64_t max_age_ns) const;

 private:
  struct Value {
    std::int64_t time_ns = 0;
    double value = 0;
  };
  static void put(Value& into, std::int64_t time_ns, double value) {
    if (time_ns >= into.time_ns) into = {time_ns, value};
  }
  trace::NameTable names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Value> host_;  // by metric and entity
  std::map<std::pair<std::int64_t, std::uint32_t>, Value> gpu_;    // by device and metric; the newest of its sources
};

}  // namespace aaco::workflows
