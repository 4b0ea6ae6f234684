#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Two traces kernel by kernel: what is new, gone, slower, more often.
namespace aaco::analytics::tracediff {

using Grid = std::array<std::uint32_t, 3>;  // as the trace counts it: workgroups or work items; zeros: unknown
std::string to_string(const Grid& grid);    // "264x1x1"

struct KernelCall {
  std::string_view name;
  std::int64_t duration_ns = 0;
  Grid grid{};
};
// The kernels of one step in order of start. A trace without steps is one step.
using Step = std::vector<KernelCall>;

// `by_grid`: the whole does not tell: only some of the kernel's grids changed, in both directions, or in how often each is
// called.
enum class Change : std::uint8_t { same, appeared, gone, slower, faster, more_often, less_often, by_grid };
std::string_view to_string(Change change);

// Of the mean time per call of one kernel. `unknown`: too few calls.
enum class CallVerdict : std::uint8_t { unknown, not_significant, slower, faster };
std::string_view to_string(CallVerdict verdict);
inline constexpr double kCallLevel = 0.05;

// One side of a kernel's row: per step, and per call.
struct KernelSide {
  double calls_per_step = 0;
  double mean_ns = 0;                       // per call; 0 if not called
  double per_step_ns = 0;                   // calls_per_step * mean_ns
  std::optional<double> call_deviation_ns;  // standard deviation of a call; empty with one call
  double calls = 0;                         // of all steps
  std::optional<double> deviation_ns;       // standard deviation of per_step_ns between steps; empty with one step
};

// What changed between the calls of two sides.
struct CallChange {
  KernelSide a, b;
  double delta_ns = 0;               // of a step: b - a
  double count_part_ns = 0;          // part due to a different call count (at the mean of both times)
  double time_part_ns = 0;           // part due to a different time per call; both parts add up to delta_ns
  std::optional<double> call_ratio;  // change of the time per call; of several grids, as if both sides called each equally often
  Change change = Change::same;
  // Of the time per call (Welch; of several grids, of their sum), with equal traces assumed to differ by `between_ratio`. Empty
  // with fewer than two calls on a side.
  std::optional<double> p_value, p_holm;  // p_holm: adjusted for the number of kernels and grids
  CallVerdict verdict = CallVerdict::unknown;
};

struct GridChange : CallChange {
  Grid grid{};
};

struct KernelChange : CallChange {
  std::string name;
  // Of a kernel called with several grids, at least one of them on both sides: the largest |delta_ns| first. Else empty.
  std::vector<GridChange> grids;
};

// A position in the step where one side has kernels that the other lacks.
struct OrderChange {
  std::size_t a_begin = 0, a_end = 0;  // kernels of a's step that are gone here
  std::size_t b_begin = 0, b_end = 0;  // kernels of b's step that came instead
};

struct TraceDifference {
  std::vector<KernelChange> kernels;  // largest |delta_ns| first; of those that changed by grid, the sum of their grids' counts
  double delta_ns = 0;                // kernel time of a step: b - a, the sum over the kernels
  std::vector<OrderChange> order;     // between the two median steps, in order
  bool order_complete = true;         // false: the steps were too long and different to align beyond their common ends
};

// Changes in the time per call below `threshold_ratio` of a's, or within twice the standard error between steps, are ignored.
// `between_ratio`: standard deviation of equal traces, of the mean.
TraceDifference compare(const std::vector<Step>& a, const std::vector<Step>& b, double threshold_ratio = 0.02,
                        double between_ratio = 0);

}  // namespace aaco::analytics::tracediff
