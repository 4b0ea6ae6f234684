#include "stats/change_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace aaco::stats {
namespace {

// Chosen on generated series and on histories of benchmarks (docs/methodology.md), none of them annotated ones.
constexpr double kThreshold = 4, kThresholdPerLog = 3, kThresholdPerCorrelation = 8;  // of the gain: a + b log n + c rho^2
constexpr double kSlopePrice = 4;                                                     // a slope is rarer than a level
constexpr double kParabolaPrice = 8;                                                  // and curvature rarer still
constexpr double kPricesOfCorrelation[] = {4,
                                           8};  // rho above 0.85 and 0.95: noise that strongly correlated is rarer than a change
constexpr std::size_t kMinBefore = 3, kMinAfter = 3;
constexpr std::size_t kMinAfterBend = 12, kMinBeforeBend = 8;
constexpr std::size_t kDense =
    24;  // places this close to the end are all looked at, of earlier ones every eighth of the distance
constexpr std::size_t kYoung = 30;             // values after a change up to which its place and shape must be known
constexpr std::size_t kPlaceReach = 12;        // neighbouring places compared
constexpr std::size_t kPlaceMargin = 2;        // values that a place may be off
constexpr double kPlaceGain = 3;               // by which it beats the places outside the margin
constexpr double kShapeGain = 4;               // by which it beats the other shape
constexpr double kNearThreshold = 8;           // gain below the threshold from which neighbours are looked at
constexpr double kMemory = 12;                 // values of earlier noise
constexpr std::size_t kNoiseReach = 30;        // values on either side whose noise is compared with the segment's
constexpr double kNoiseExcess[] = {1.2, 1.3};  // how much larger it may be: on both sides, after the step
constexpr double kPriorValues = 4;             // weight of the segment's noise in the noise after a step
constexpr double kTallDeviations = 4.5;        // of the values around both levels: a step this high after few values ...
constexpr double kTallGain = 3;                // ... may have this much less gain
constexpr std::size_t kTallBefore = 18, kTallValues = 64;  // with at least so many values before it, and at most so many in all
constexpr double kMinNorm2 = 1e-9;
constexpr double kNever = std::numeric_limits<double>::infinity();

double price_of_correlation(double rho) {
  return rho > 0.95 ? kPricesOfCorrelation[1] : rho > 0.85 ? kPricesOfCorrelation[0] : 0;
}

struct Explanation {
  double cost = kNever;
  FoundShape shape = FoundShape::step;
  std::size_t place = 0;
  std::size_t rho = 0;  // index
};

struct Shapes {
  bool steps = true;
  std::size_t after_bend = kMinAfterBend, before_bend = kMinBeforeBend;
};
constexpr Shapes kBoth{};
constexpr Shapes kSteps{true, std::numeric_limits<std::size_t>::max(), 0};
constexpr Shapes kBends{false, 2, 2};

class Scan {
 public:
  Scan(const GrowingSegment& segment, const NoiseMemory& memory, double white_variance) : segment_(segment), memory_(memory) {
    const auto n = static_cast<double>(segment.size());
    freedom_ = memory.count + n - 3;
    for (std::size_t r = 0; r < kCorrelations.size(); ++r) {
      fits_[r] = fit_smooth(segment, kCorrelations[r], white_variance);
      const SmoothFit& fit = fits_[r];
      base_[r] = fit.log_precision + memory.log_precision[r] + price_of_correlation(kCorrelations[r]);
      slope_price_[r] = log_effective_count(n, kCorrelations[r]) + kSlopePrice;
      unchanged_ = std::min({unchanged_, cost(r, fit.level_rss, 0), cost(r, fit.line_rss, slope_price_[r]),
                             cost(r, fit.parabola_rss, 2 * slope_price_[r] + kParabolaPrice)});
    }
    // Residuals above these cannot come near the threshold.
    const double bound = unchanged_ - threshold(0) + kNearThreshold;
    for (std::size_t r = 0; r < kCorrelations.size(); ++r) worth_[r] = std::exp((bound - base_[r]) / freedom_);
  }

  [[nodiscard]] double threshold(std::size_t rho) const {
    return kThreshold + kThresholdPerLog * std::log(static_cast<double>(segment_.size())) +
           kThresholdPerCorrelation * kCorrelations[rho] * kCorrelations[rho];
  }
  [[nodiscard]] double gain(const Explanation& one) const { return unchanged_ - one.cost; }

  // Betters `best` by a change at `place`.
  void look(std::size_t place, const Shapes& shapes, Explanation& best) const {
    const auto after = segment_.size() - place;
    for (std::size_t r = 0; r < kCorrelations.size(); ++r) {
      const SmoothFit& fit = fits_[r];
      if (shapes.steps) {
        const Projections step = project_step(segment_, fit, place, kCorrelations[r]);
        offer(r, place, FoundShape::step, fit.level_rss, fit.floor, step.beside_level, step, best);
        offer(r, place, FoundShape::step_on_slope, fit.line_rss, fit.line_floor, step.beside_line, step, best);
      }
      if (after >= shapes.after_bend && place >= shapes.before_bend) {
        const Projections bend = project_bend(segment_, fit, place, kCorrelations[r]);
        offer(r, place, FoundShape::bend, fit.line_rss, fit.line_floor, bend.beside_line, bend, best);
      }
    }
  }

  [[nodiscard]] Explanation best_between(std::size_t from, std::size_t to, const Shapes& shapes) const {
    Explanation best;
    for (std::size_t place = from; place <= to; ++place) look(place, shapes, best);
    return best;
  }

  [[nodiscard]] Explanation best(bool thorough) const;
  [[nodiscard]] bool place_known(const Explanation& one) const;
  [[nodiscard]] bool shape_known(const Explanation& one) const;
  [[nodiscard]] double gain_by_local_noise(const Explanation& one) const;
  [[nodiscard]] bool is_tall_step(const Explanation& one) const;

 private:
  [[nodiscard]] double cost(std::size_t r, double rss, double price) const {
    return freedom_ * std::log(rss + memory_.rss[r]) + base_[r] + price;
  }
  // Of the change beside the noise: steps by the information about their height, in units of the noise's deviation.
  [[nodiscard]] double price(std::size_t r, std::size_t place, FoundShape shape, const Projections& parts) const {
    const double rho = kCorrelations[r];
    if (shape == FoundShape::bend)
      return slope_price_[r] + log_effective_count(static_cast<double>(segment_.size() - 1 - place), rho);
    return std::log1p(parts.beside_level.norm2 / (1 - rho * rho)) + (shape == FoundShape::step_on_slope ? slope_price_[r] : 0);
  }
  void offer(std::size_t r, std::size_t place, FoundShape shape, double rss, double floor, const Projection& part,
             const Projections& parts, Explanation& best) const {
    if (part.norm2 < kMinNorm2) return;
    const double left = std::max(rss - part.explained(), floor);
    if (left + memory_.rss[r] >= worth_[r]) return;
    const double total = cost(r, left, price(r, place, shape, parts));
    if (total < best.cost) best = {total, shape, place, r};
  }

  const GrowingSegment& segment_;
  const NoiseMemory& memory_;
  double freedom_ = 0;
  double unchanged_ = kNever;
  PerCorrelation<SmoothFit> fits_;
  PerCorrelation<double> base_{}, slope_price_{}, worth_{};
};

Explanation Scan::best(bool thorough) const {
  const std::size_t n = segment_.size();
  Explanation best;
  std::size_t reach = 0;  // to the next place looked at
  for (std::size_t after = kMinAfter; after + kMinBefore <= n && (thorough || after <= kDense);) {
    look(n - after, kBoth, best);
    const std::size_t next = after < kDense ? 1 : after / 8;
    if (best.place == n - after) reach = next;
    after += next;
  }
  if (best.place == 0 || reach <= 1) return best;
  const std::size_t low = best.place > kMinBefore + reach ? best.place - reach : kMinBefore;
  return best_between(low, std::min(best.place + reach, n - kMinAfter), kBoth);
}

bool Scan::place_known(const Explanation& one) const {
  const std::size_t low = std::max(kMinBefore, one.place - std::min(one.place, kPlaceReach));
  const std::size_t high = std::min(segment_.size() - kMinAfter, one.place + kPlaceReach);
  for (std::size_t place = low; place <= high; ++place) {
    if (place + kPlaceMargin >= one.place && place <= one.place + kPlaceMargin) continue;
    if (best_between(place, place, kBoth).cost < one.cost + kPlaceGain) return false;
  }
  return true;
}

// A ramp that began a few values ago looks like a step, and a step amid few values like a bend.
bool Scan::shape_known(const Explanation& one) const {
  const std::size_t n = segment_.size();
  if (one.shape == FoundShape::bend) {
    const std::size_t low = std::max(kMinBefore, one.place - std::min<std::size_t>(one.place, 4));
    return best_between(low, n - kMinAfter, kSteps).cost >= one.cost + kShapeGain;
  }
  const std::size_t back = 2 * (n - one.place) + 4;
  const std::size_t low = std::max(kMinBefore, one.place - std::min(one.place, back));
  return best_between(low, n - 2, kBends).cost >= one.cost + kShapeGain;
}

// The gain where the noise around the change is larger than that of the segment, and no gain where the values after a step do not
// agree about it: at most a quarter of them may be nearer to the old level.
double Scan::gain_by_local_noise(const Explanation& one) const {
  const double rho = kCorrelations[one.rho];
  const SmoothFit& fit = fits_[one.rho];
  const bool bend = one.shape == FoundShape::bend;
  const Projections parts = bend ? project_bend(segment_, fit, one.place, rho) : project_step(segment_, fit, one.place, rho);
  const Projection& part = one.shape == FoundShape::step ? parts.beside_level : parts.beside_line;
  const double height = part.along / part.norm2;
  const double slope = one.shape == FoundShape::step ? 0 : (fit.z_line - parts.component_line * height) / fit.line_norm;
  const double level = (fit.z_one - parts.component_one * height - fit.line_one * slope) / fit.one_norm;
  const std::size_t n = segment_.size(), after = n - one.place;
  std::vector<double> residuals(n);
  for (std::size_t k = one.place - std::min(one.place, kNoiseReach + 1); k < n; ++k) {
    const double change = k < one.place ? 0 : bend ? height * static_cast<double>(k - one.place) : height;
    residuals[k] = segment_[k] - level - slope * static_cast<double>(k) - change;
  }
  if (!bend && after <= kPlaceReach) {
    std::size_t doubtful = 0;
    for (std::size_t k = one.place; k < n; ++k) doubtful += residuals[k] / height < -0.5 ? 1 : 0;
    if (doubtful > after / 4) return 0;
  }
  const auto innovations = [&](std::size_t from, std::size_t to, double centre) {
    double sum = 0;
    for (std::size_t k = from; k < to; ++k) {
      const double one_step = (residuals[k] - centre) - rho * (residuals[k - 1] - centre);
      sum += one_step * one_step;
    }
    return sum;
  };
  const double rss = one.shape == FoundShape::step ? fit.level_rss : fit.line_rss;
  const double floor = one.shape == FoundShape::step ? fit.floor : fit.line_floor;
  const double usual = (std::max(rss - part.explained(), floor) + memory_.rss[one.rho]) / freedom_;
  const std::size_t from = std::max<std::size_t>(1, one.place - std::min(one.place, kNoiseReach));
  const std::size_t to = std::min(n, one.place + kNoiseReach);
  const double around = innovations(from, to, 0) / std::max(1.0, static_cast<double>(to - from) - 2);
  double excess = std::max(1.0, around / (kNoiseExcess[0] * usual));
  if (!bend) {
    const std::size_t last = std::min(after, 2 * kNoiseReach);
    double centre = 0;
    for (std::size_t k = n - last; k < n; ++k) centre += residuals[k] / static_cast<double>(last);
    const double later =
        (innovations(n - last + 1, n, centre) + kPriorValues * usual) / (static_cast<double>(last - 1) + kPriorValues);
    excess = std::max(excess, later / (kNoiseExcess[1] * usual));
  }
  const double paid = price(one.rho, one.place, one.shape, parts);
  return (gain(one) + paid) / excess - paid;
}

// Few values say little about the noise, so that a high step has a small gain: its height decides.
bool Scan::is_tall_step(const Explanation& one) const {
  const std::size_t n = segment_.size();
  if (one.shape != FoundShape::step || n > kTallValues || one.place < kTallBefore) return false;
  double before = 0, after = 0, squares = 0;
  for (std::size_t k = 0; k < n; ++k)
    (k < one.place ? before : after) += segment_[k] / static_cast<double>(k < one.place ? one.place : n - one.place);
  for (std::size_t k = 0; k < n; ++k) squares += std::pow(segment_[k] - (k < one.place ? before : after), 2);
  return std::abs(after - before) >= kTallDeviations * std::sqrt(squares / static_cast<double>(n - 2));
}

}  // namespace

void NoiseMemory::absorb(const GrowingSegment& segment, double white_variance) {
  const auto n = static_cast<double>(segment.size());
  const double freedom = count + std::max(1.0, n - 3);
  for (std::size_t r = 0; r < kCorrelations.size(); ++r) {
    const SmoothFit fit = fit_smooth(segment, kCorrelations[r], white_variance);
    const double price = log_effective_count(n, kCorrelations[r]);
    const bool line =
        freedom * std::log(fit.line_rss + rss[r]) + price + kSlopePrice < freedom * std::log(fit.level_rss + rss[r]);
    rss[r] += line ? fit.line_rss : fit.level_rss;
    log_precision[r] += fit.log_precision + (line ? price : 0);
  }
  count += n - 1.5;  // a level, at times a slope
  if (count <= kMemory) return;
  for (std::size_t r = 0; r < kCorrelations.size(); ++r) {
    rss[r] *= kMemory / count;
    log_precision[r] *= kMemory / count;
  }
  count = kMemory;
}

std::optional<FoundChange> scan_for_change(const GrowingSegment& segment, const NoiseMemory& memory, double white_variance,
                                           bool thorough) {
  if (segment.size() < kMinBefore + kMinAfter || white_variance <= 0) return std::nullopt;
  const Scan scan(segment, memory, white_variance);
  const Explanation best = scan.best(thorough);
  if (best.place == 0) return std::nullopt;
  const double threshold = scan.threshold(best.rho) - (scan.is_tall_step(best) ? kTallGain : 0);
  if (scan.gain(best) <= threshold) return std::nullopt;
  if (segment.size() - best.place < kYoung && !(scan.place_known(best) && scan.shape_known(best))) return std::nullopt;
  const double gain = scan.gain_by_local_noise(best);
  if (gain <= threshold) return std::nullopt;
  return FoundChange{best.place, best.shape, gain};
}

}  // namespace aaco::stats
