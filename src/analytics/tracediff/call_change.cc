#include "analytics/tracediff/call_change.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"

namespace aaco::analytics::tracediff {
namespace {

// Twice the standard error of the difference of the two steps' times; 0 where it is not known.
double noise_of(const CallChange& row, const StepCounts& steps) {
  double variance = 0;
  if (row.a.deviation_ns) variance += *row.a.deviation_ns * *row.a.deviation_ns / static_cast<double>(steps.a);
  if (row.b.deviation_ns) variance += *row.b.deviation_ns * *row.b.deviation_ns / static_cast<double>(steps.b);
  return 2 * std::sqrt(variance);
}

Change change_of(const CallChange& row, double noise_ns, double threshold_ratio) {
  if (row.a.calls_per_step == 0) return Change::appeared;
  if (row.b.calls_per_step == 0) return Change::gone;
  const double calls = row.b.calls_per_step / row.a.calls_per_step - 1;
  const bool count_leads = std::abs(row.count_part_ns) >= std::abs(row.time_part_ns);
  if (std::abs(calls) > threshold_ratio && count_leads) return calls > 0 ? Change::more_often : Change::less_often;
  const bool matters = std::abs(row.time_part_ns) > threshold_ratio * row.a.per_step_ns && std::abs(row.time_part_ns) > noise_ns;
  if (matters) return row.time_part_ns > 0 ? Change::slower : Change::faster;
  return Change::same;
}

bool on_both(const CallChange& row) { return row.a.calls_per_step > 0 && row.b.calls_per_step > 0; }

bool is_testable(const CallChange& row) { return row.a.call_deviation_ns && row.b.call_deviation_ns; }

double mean_calls(const CallChange& row) { return (row.a.calls_per_step + row.b.calls_per_step) / 2; }

// Of the difference of the mean times per call, without what equal traces differ by.
double variance_of(const CallChange& row) {
  double variance = 0;
  for (const KernelSide* side : {&row.a, &row.b}) variance += *side->call_deviation_ns * *side->call_deviation_ns / side->calls;
  return variance;
}

// For equal times; normal, since the calls are many or the deviation between traces leads. `a_ns`, `b_ns`: the times compared.
double p_of(double a_ns, double b_ns, double variance, double between_ratio) {
  const double between = between_ratio * between_ratio * (a_ns * a_ns + b_ns * b_ns);
  const double change = std::abs(b_ns - a_ns);
  if (!(variance + between > 0)) return change > 0 ? 0.0 : 1.0;
  return 2 * stats::normal_cdf(-change / std::sqrt(variance + between));
}

bool is_decided(CallVerdict verdict) { return verdict == CallVerdict::slower || verdict == CallVerdict::faster; }

}  // namespace

void Tally::add(std::int64_t duration_ns) {
  const auto ns = static_cast<double>(duration_ns);
  ++calls;
  sum_ns += ns;
  const double off = ns - mean_ns;
  mean_ns += off / calls;
  call_squares += off * (ns - mean_ns);
  step_ns += ns;
}

void Tally::end_step() {
  step_sum += step_ns;
  squares += step_ns * step_ns;
  step_ns = 0;
}

KernelSide side_of(const Tally& one, std::size_t steps) {
  KernelSide side;
  if (steps == 0) return side;
  const auto count = static_cast<double>(steps);
  side.calls_per_step = one.calls / count;
  side.mean_ns = one.sum_ns / one.calls;
  side.per_step_ns = one.sum_ns / count;
  side.calls = one.calls;
  if (one.calls > 1) side.call_deviation_ns = std::sqrt(std::max(0.0, one.call_squares / (one.calls - 1)));
  if (steps > 1) {
    const double mean = one.step_sum / count;
    side.deviation_ns = std::sqrt(std::max(0.0, (one.squares - count * mean * mean) / (count - 1)));
  }
  return side;
}

void fill(CallChange& row, const StepCounts& steps, const Limits& limits) {
  row.delta_ns = row.b.per_step_ns - row.a.per_step_ns;
  // A side without calls has no time a call: the whole difference is one of count.
  row.time_part_ns = on_both(row) ? (row.b.mean_ns - row.a.mean_ns) * mean_calls(row) : 0;
  row.count_part_ns = row.delta_ns - row.time_part_ns;
  if (on_both(row) && row.a.mean_ns > 0) row.call_ratio = row.b.mean_ns / row.a.mean_ns - 1;
  row.change = change_of(row, noise_of(row, steps), limits.threshold_ratio);
  if (is_testable(row)) row.p_value = p_of(row.a.mean_ns, row.b.mean_ns, variance_of(row), limits.between_ratio);
}

void fill_from_grids(KernelChange& row, const StepCounts& steps, const Limits& limits) {
  double time_part = 0, shared_a = 0;
  double tested_a = 0, tested_b = 0, variance = 0;
  for (const GridChange& grid : row.grids) {
    if (!on_both(grid)) continue;
    const double calls = mean_calls(grid);
    time_part += grid.time_part_ns;
    shared_a += calls * grid.a.mean_ns;
    if (!is_testable(grid)) continue;
    tested_a += calls * grid.a.mean_ns;
    tested_b += calls * grid.b.mean_ns;
    variance += calls * calls * variance_of(grid);
  }
  row.time_part_ns = time_part;
  row.count_part_ns = row.delta_ns - time_part;
  if (shared_a > 0) row.call_ratio = time_part / shared_a;
  row.change = change_of(row, noise_of(row, steps), limits.threshold_ratio);
  if (tested_a > 0) row.p_value = p_of(tested_a, tested_b, variance, limits.between_ratio);
}

void judge(CallChange& row, double p_holm, double threshold_ratio) {
  row.p_holm = p_holm;
  const double change = row.call_ratio.value_or(0);
  const bool moved = p_holm <= kCallLevel && std::abs(change) > threshold_ratio;
  row.verdict = !moved ? CallVerdict::not_significant : change > 0 ? CallVerdict::slower : CallVerdict::faster;
}

bool changed_by_grid(const KernelChange& row, const StepCounts& steps, const Limits& limits) {
  if (row.change != Change::same) return false;
  const bool one_changed =
      std::any_of(row.grids.begin(), row.grids.end(), [](const GridChange& grid) { return is_decided(grid.verdict); });
  const double counts = std::abs(row.count_part_ns);
  const bool other_mix =
      !row.grids.empty() && counts > limits.threshold_ratio * row.a.per_step_ns && counts > noise_of(row, steps);
  return one_changed || other_mix;
}

}  // namespace aaco::analytics::tracediff
