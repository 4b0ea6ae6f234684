#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/trace_time.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::trace_time {

inline constexpr const char *kShortGaps = "short gaps", *kOutsideWork = "outside device work";

struct Window {
  std::int64_t start_ns = 0, end_ns = 0;
  bool closed = false;  // work that starts after its end is in no window (analytics/step_periods.h); else it still is in this one
};
// Steps of each rank, in order of start.
using Windows = std::map<std::int32_t, std::vector<Window>>;

// From the start of one piece of work to the start of the next, or to the window's end.
struct Beat {
  trace::NameId name;  // of the work; copies have none, so that they lengthen the beat of the kernel before them
  std::int64_t period_ns = 0;
  std::int64_t work_ns = 0;  // of it, the work's own
};

// Where the devices' time went within the steps of a trace; without steps, from each device's first work to its last. Means over
// the devices and their steps.
struct StepTime {
  double window_count = 0;  // steps of every device
  double span_ns = 0;
  double compute_ns = 0;  // union of kernels that are not collectives
  double exposed_copy_ns = 0, exposed_collective_ns = 0;
  // By cause, the gaps too short to be asked for theirs as kShortGaps, and what lies before a device's first work or after its
  // last as kOutsideWork; all add up.
  std::map<std::string, double> idle_ns;
  std::map<std::string, std::vector<double>> idle_by_window;  // the same of each device and window, ns
  std::vector<double> span_by_window;                         // ns, of each device and window
  double variance_ns2 = 0;  // of the span, from the scatter of the gaps before kernels of one name and of kernels
  std::vector<Beat> beats;  // of all devices and windows, in order
};

// Work is added in any order; gaps in any order.
class StepTimer {
 public:
  struct Work {
    WorkKind kind = WorkKind::compute;
    trace::NameId name;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  explicit StepTimer(const Windows& windows) : windows_(windows) {}
  void add(std::int32_t rank, std::int64_t device, const Work& work);
  void add_gap(const trace::GapRow& row, const std::string& cause);
  // `kernel_variance_ns2`: of the sum of all kernels.
  StepTime finish(double kernel_variance_ns2);

 private:
  using DeviceKey = std::pair<std::int32_t, std::int64_t>;
  struct GapPart {
    std::int64_t start_ns = 0, end_ns = 0;
    std::string cause;
  };
  [[nodiscard]] std::vector<Window> windows_of(const DeviceKey& device, const std::vector<Work>& work) const;

  const Windows& windows_;
  std::map<DeviceKey, std::vector<Work>> work_;
  std::map<DeviceKey, std::vector<GapPart>> gaps_;
};

// Scatter of values of one kind around their own mean.
struct Scatter {
  double count = 0, mean = 0, squares = 0;
  void add(double value);
  [[nodiscard]] double of_sum() const { return count > 1 ? count * squares / (count - 1) : 0; }  // variance of the values' sum
};

// Standard deviation of the difference of the spans (of the kernels' own time) of two traces that launched the same kernels in
// the same order, from how evenly it falls on the beats of each kernel: what both scatter by alike does not count.
struct PairedDeviation {
  double span_ns = 0;        // of a window
  double kernel_sum_ns = 0;  // of all windows
};
// Empty where the order differs.
std::optional<PairedDeviation> paired_deviation(const StepTime& a, const trace::NameTable& names_a, const StepTime& b,
                                                const trace::NameTable& names_b);

}  // namespace aaco::analytics::trace_time
