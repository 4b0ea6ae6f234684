#pragma once

#include <cstddef>
#include <cstdint>

#include "analytics/tracediff.h"

// The calls of one kernel, or of one of its grids: counted on each side, and what changed between the sides.
namespace aaco::analytics::tracediff {

struct Tally {
  double calls = 0;
  double sum_ns = 0;
  double mean_ns = 0, call_squares = 0;  // of the calls, by Welford
  double step_ns = 0;                    // of the step under way
  double step_sum = 0, squares = 0;      // of the steps' times, for the deviation
  void add(std::int64_t duration_ns);
  void end_step();
};

struct StepCounts {
  std::size_t a = 0, b = 0;
};

struct Limits {
  double threshold_ratio = 0, between_ratio = 0;  // of compare()
};

// `one` has a call at least.
KernelSide side_of(const Tally& one, std::size_t steps);

// All but the verdict, from the two sides.
void fill(CallChange& row, const StepCounts& steps, const Limits& limits);

// The parts, the ratio and the test of a kernel with several grids: a different mix of grids is one of count.
void fill_from_grids(KernelChange& row, const StepCounts& steps, const Limits& limits);

void judge(CallChange& row, double p_holm, double threshold_ratio);

// After judge() of the kernel and its grids. Whether the whole hides what changed.
bool changed_by_grid(const KernelChange& row, const StepCounts& steps, const Limits& limits);

}  // namespace aaco::analytics::tracediff
