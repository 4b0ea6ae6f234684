#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/summary.h"

// The performance envelope of a device: the roofs actually reached by many runs, for comparison with those stated by its data
// sheet and measured by a calibration.
//
// The form is the roofline's (Williams, Waterman, Patterson, Roofline: An Insightful Visual Performance Model for Multicore
// Architectures, CACM 52(4), 2009): work of f operations and b bytes in time t is limited by f / t <= P and b / t <= B, one P a
// data type and one B a level of the memory. P and B are those that minimise the quantile's loss (Koenker and Bassett, Regression
// Quantiles, Econometrica 46(1), 1978) of log(max(f / t / P, b / t / B)) at `quantile`, every run's time counting as one: in that
// share of the time the runs worked beneath the envelope. A quantile, and not the highest point: a single time that was read
// wrongly would decide that one, and resampling cannot say how uncertain a highest point is (Bickel and Freedman, Some Asymptotic
// Theory for the Bootstrap, Annals of Statistics 9(6), 1981), while it can for a quantile. The same idea frees production
// frontiers of outliers (Aragon, Daouia, Thomas-Agnan, Econometric Theory 21(2), 2005).
namespace aaco::analytics::roofline {

// All executions of one kernel or node within one run.
struct EnvelopePoint {
  std::size_t run = 0;    // from 0
  std::size_t type = 0;   // index of its data type
  std::size_t level = 0;  // index of the memory level of its operands
  double flops = 0;       // of all of them; 0 for pure data movement
  double bytes = 0;
  double time_ns = 0;
};

struct EnvelopeOptions {
  double quantile = 0.95;  // 0.5 to 0.999
  int replicates = 1000;   // of the bootstrap over runs
  std::uint64_t seed = 1;
};

// With fewer runs not even a median has a distribution-free 95 % CI (Wilks, 1941).
inline constexpr std::size_t kMinEnvelopeRuns = 6;

// One roof of the envelope.
struct ReachedRoof {
  std::optional<double> per_second;     // flop/s or bytes/s; empty: see `reason`
  std::optional<stats::Interval> ci95;  // by resampling runs; present whenever per_second is
  std::string reason;
  double highest = 0;                // the best of any point: not robust to wrong times. 0: no point has such work
  std::size_t runs = 0, points = 0;  // limited by this roof only; without a fit, all with such work
  double effective_points = 0;       // effective sample size (Kish, 1965)
};

struct Envelope {
  std::vector<ReachedRoof> compute;  // by data type
  std::vector<ReachedRoof> memory;   // by level
  std::size_t runs = 0, points = 0;  // with work and time
  double above_ratio = 0;            // share of the time above the envelope, all runs weighted equally
  [[nodiscard]] bool fitted() const;
};

// `types` and `levels`: how many there are. Points without time or work count nowhere. A roof is fitted from kMinEnvelopeRuns
// runs and as many effective points as the quantile needs to be stated (stats::stated_count()). A roof that explains the work
// under it no better than the others do, chance aside (a Schwarz criterion of the loss, runs as its sample: Koenker, Ng, Portnoy,
// Biometrika 81(4), 1994), was not reached: all work lies under others.
Envelope fit_envelope(const std::vector<EnvelopePoint>& points, std::size_t types, std::size_t levels,
                      const EnvelopeOptions& options = {});

// A corner of the upper hull of achieved rate over intensity, both as logarithms.
struct HullCorner {
  double intensity = 0;  // flop/byte
  double flops_per_s = 0;
};
// The highest points of one data type whatever their level, joined; by intensity. It has no robustness: every corner is one
// point.
std::vector<HullCorner> upper_hull(const std::vector<EnvelopePoint>& points, std::size_t type);

}  // namespace aaco::analytics::roofline
