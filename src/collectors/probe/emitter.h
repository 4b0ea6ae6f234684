#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::collectors::probe {

// What a source writes its values to: rows stamped with the time of the reading, each counted.
class Emitter {
 public:
  Emitter(trace::Sink& sink, trace::Account& account) : sink_(sink), account_(account) {}

  // The time of the reading whose values follow, monotonic ns.
  void stamp(std::int64_t now_ns) { now_ns_ = now_ns; }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

  void host(trace::NameId metric, trace::NameId entity, double value) {
    if (!std::isfinite(value)) return drop("a value that is not a finite number");
    sink_.add(trace::SystemEventRow{0, now_ns_, metric, entity, value});
    account_.keep();
  }
  void gpu(trace::NameId metric, trace::NameId source, std::int64_t device, double value) {
    if (!std::isfinite(value)) return drop("a value that is not a finite number");
    sink_.add(trace::GpuEventRow{0, now_ns_, device, metric, source, value});
    account_.keep();
  }
  // A reading that gave nothing: counted under its reason.
  void drop(std::string_view why) { account_.drop(why); }
  trace::NameId name(std::string_view text) { return sink_.name(text); }

 private:
  trace::Sink& sink_;
  trace::Account& account_;
  std::int64_t now_ns_ = 0;
};

}  // namespace aaco::collectors::probe
