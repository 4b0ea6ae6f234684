#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/fleet.h"
#include "trace/sink.h"

namespace aaco::agent {

// Who a row is about: hardware, and the job that works there.
struct UnitFacts {
  std::string hardware, job;
  std::optional<std::int32_t> rank;
};

// The sink of the collectors: telemetry of one minute -> the rows of that minute (docs/formats/fleet.md). Memory depends on the
// number of devices and metrics only, not on the number of samples.
class MinuteBook final : public trace::EveryRowTo<MinuteBook> {
 public:
  using EveryRowTo::add;
  void add(const trace::SystemEventRow& row) override;
  void add(const trace::GpuEventRow& row) override;
  template <class Row>
  void take(const Row&) {}
  trace::NameId name(std::string_view text) override;
  [[nodiscard]] core::Status status() const override { return {}; }

  // A counter of a device that is read outside the collectors, at its present value.
  void count(std::int32_t device, std::size_t column, double counter);
  // A value of the host: the mean over the minute is stored.
  void host(std::size_t column, double value);
  // Memory error counts of the driver include those of the links between devices: they are subtracted.
  void count_link_errors(std::int32_t device, double corrected, double uncorrected);

  [[nodiscard]] bool empty() const { return samples_ == 0; }
  // The rows of the minute, sorted by device and group, of units and groups with at least one value. Counters go on.
  std::vector<trace::FleetMinute> close(std::int64_t minute_unix_ns, const std::string& node, const UnitFacts& host,
                                        const std::map<std::int32_t, UnitFacts>& devices);

 private:
  enum class How : std::uint8_t { ignored, mean, counter, throttled };
  struct Route {
    How how = How::ignored;
    std::size_t column = 0;
  };
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    trace::NameId source;  // of the first value: a device may be read in several ways, which are not mixed
    void add(double value) {
      sum += value;
      ++count;
    }
    [[nodiscard]] std::optional<double> value() const {
      return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
    }
  };
  struct Counter {
    std::optional<double> last;
    std::optional<double> grown;  // in this minute
    trace::NameId source;
    void read(double value);
  };
  struct Unit {
    std::map<std::size_t, Mean> means;               // by column
    std::map<std::size_t, Counter> counters;         // by column
    std::map<std::uint32_t, Mean> throttle_reasons;  // by metric
    std::optional<double> corrected_by_links, uncorrected_by_links;
  };
  static Route route_of(std::string_view metric);
  static void fill(const Unit& unit, trace::FleetGroup group, trace::FleetMinute& row);
  static bool has_values(const trace::FleetMinute& row);

  trace::NameTable names_;
  std::vector<Route> routes_;           // by NameId
  std::map<std::int32_t, Unit> units_;  // -1: the host
  std::map<std::int32_t, std::pair<Counter, Counter>> link_errors_;
  std::int64_t samples_ = 0;
};

}  // namespace aaco::agent
