#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "trace/sink.h"

namespace aaco::workflows {

// Steps whose ranges are the host's, timed by the device: where the host runs ahead, a range is only the time in which a step was
// dispatched. A device step ends with the last work that its range launched, and begins where the one before ended.
class DeviceSteps {
 public:
  static constexpr std::size_t kMaxSteps = 100'000;
  // The steps of a bundle that was flushed.
  core::Status read(const std::string& path, trace::NameTable& names);
  // Further steps are ignored.
  void add(const trace::IterationRow& step);
  // Work of a device; in any order, after the steps.
  void add(std::int32_t rank, std::int64_t launched_ns, std::int64_t start_ns, std::int64_t end_ns);
  // Time in which nothing was recorded (analytics/recording_holes.h): a step after it begins with its own first work.
  void add_hole(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns);

  // Of all ranks, in order of rank and time, if in one of them the work of most steps ends after their range and the median step
  // of the device differs from the range's by more than kDiffers. Empty otherwise, and where a step launched no work.
  static constexpr double kDiffers = 0.1;
  [[nodiscard]] std::vector<trace::IterationRow> finish(trace::NameId phase) const;
  // False: there are none.
  [[nodiscard]] bool store(trace::NameId phase, trace::Sink& sink) const;

 private:
  struct Step {
    std::int64_t start_ns = 0, end_ns = 0;  // of the host's range
    std::int64_t iteration = 0;
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;  // of its work
  };
  [[nodiscard]] bool hole_within(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns) const;

  std::map<std::int32_t, std::vector<Step>> steps_;                                   // by rank
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> holes_;  // by rank: start and end
  std::size_t count_ = 0;
};

// The phase of such steps in the iterations of a session.
inline constexpr const char* kDeviceStep = "device_step";

}  // namespace aaco::workflows
