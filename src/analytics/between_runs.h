#pragma once

#include <span>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// How far equal sessions of one machine may differ, estimated where only one session per side was measured.
namespace aaco::analytics::regression {

// What one session shows of its own stability.
struct RunScatter {
  double drift_ratio = 0;    // standard deviation of the wall time per call between parts of the session, as a share
  double waiting_ratio = 0;  // share of the wall time in which the caller waited for a CPU, was stopped, or its CPU was stolen
};

// From the blocks of the measured phase, in order. Both are 0 where the blocks do not tell.
RunScatter run_scatter(std::span<const trace::LoopBlockRow> blocks, const trace::NameTable& names);

// Standard deviation between equal sessions, as a share: kAssumedBetweenRuns, or `machine_ratio` (what stored sessions of this
// machine differ by; 0: none) where that is larger; on top of it the drift within the sessions, and that load which made a
// session wait may be absent in the next: ln(1 / (1 - waiting)). Independent terms, so their squares add up.
double assumed_between_runs(std::span<const RunScatter> sessions, double machine_ratio = 0);

// Pooled deviation of neighbouring sessions within groups of equal sessions: sqrt(sum d^2 / (2 * pairs)) of logs, as a share.
// 0 where fewer than `fewest_pairs` pairs are there.
double pooled_neighbour_deviation(std::span<const std::vector<double>> groups_of_medians, std::size_t fewest_pairs);

}  // namespace aaco::analytics::regression
