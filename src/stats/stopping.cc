#include "stats/stopping.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/check.h"
#include "core/numbers.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

constexpr std::int64_t kFirstPrecisionCheck = 20;
constexpr std::int64_t kGrowthDivisor = 10;  // looked at again after a tenth more values

// Two-state Markov chain of "above the median or not": tau = (1 + rho) / (1 - rho), rho = 1 - 2 x share of changes of side.
double crossing_time(std::span<const std::int64_t> values, std::int64_t median) {
  std::int64_t crossings = 0;
  for (std::size_t i = 1; i < values.size(); ++i) crossings += (values[i] <= median) != (values[i - 1] <= median);
  const double share = static_cast<double>(crossings) / static_cast<double>(values.size() - 1);
  return share > 0 ? (1 - share) / share : static_cast<double>(values.size());
}

// Batch means of the same indicator: tau = b x var(batch means) / var(indicator), b = sqrt(n). It sees drift, which crossings do
// not.
double batch_time(std::span<const std::int64_t> values, std::int64_t median) {
  const auto size = static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size())));
  double sum = 0, squares = 0, batches = 0;
  for (std::size_t start = 0; start + size <= values.size(); start += size) {
    const auto batch = values.subspan(start, size);
    const auto below = std::count_if(batch.begin(), batch.end(), [&](std::int64_t value) { return value <= median; });
    const double share = static_cast<double>(below) / static_cast<double>(size);
    sum += share;
    squares += share * share;
    batches += 1;
  }
  const double mean = sum / batches;
  if (mean <= 0 || mean >= 1) return 1;
  const double variance = (squares - batches * mean * mean) / (batches - 1);
  return static_cast<double>(size) * variance / (mean * (1 - mean));
}

}  // namespace

StoppingRule::StoppingRule(const StoppingOptions& options) : options_(options) {
  AACO_CHECK(options.maximum_iterations > 0 && options.maximum_time_ns > 0);
  next_check_ = std::max(options.minimum_iterations, kFirstPrecisionCheck);
}

void StoppingRule::reserve() {
  if (options_.kind != StoppingOptions::Kind::precision) return;
  values_.assign(static_cast<std::size_t>(options_.maximum_iterations), 0);
  scratch_.assign(values_.size(), 0);
}

void StoppingRule::add(std::int64_t duration_ns) {
  if (options_.kind == StoppingOptions::Kind::precision) {
    if (values_.empty()) reserve();
    if (count_ < options_.maximum_iterations) values_[static_cast<std::size_t>(count_)] = duration_ns;
  }
  ++count_;
  elapsed_ns_ += duration_ns;
  if (done()) return;
  const bool enough = count_ >= options_.minimum_iterations;
  switch (options_.kind) {
    case StoppingOptions::Kind::iterations:
      if (enough && count_ >= options_.iterations) reason_ = StopReason::iterations;
      break;
    case StoppingOptions::Kind::time:
      if (enough && elapsed_ns_ >= options_.time_ns) reason_ = StopReason::time;
      break;
    case StoppingOptions::Kind::precision:
      if (count_ >= next_check_ || count_ == options_.maximum_iterations) check_precision();
      break;
  }
  if (done()) return;
  if (count_ >= options_.maximum_iterations) {
    reason_ = StopReason::iteration_limit;
  } else if (elapsed_ns_ >= options_.maximum_time_ns) {
    reason_ = StopReason::time_limit;
  }
}

double StoppingRule::correlation_time(std::int64_t median) const {
  const std::span<const std::int64_t> values(values_.data(), static_cast<std::size_t>(count_));
  return std::clamp(std::max(crossing_time(values, median), batch_time(values, median)), 1.0, static_cast<double>(count_));
}

void StoppingRule::check_precision() {
  next_check_ = count_ + std::max<std::int64_t>(count_ / kGrowthDivisor, 1);
  if (count_ < kFirstPrecisionCheck) return;
  const auto begin = scratch_.begin();
  const auto end = begin + count_;
  std::copy(values_.begin(), values_.begin() + count_, begin);
  const auto middle = begin + count_ / 2;
  std::nth_element(begin, middle, end);
  const std::int64_t median = *middle;
  if (median <= 0) return;
  const double n = static_cast<double>(count_);
  const double reach = kNormal95 * std::sqrt(n * correlation_time(median)) / 2 + 0.5;  // ranks, binomial's normal limit
  const auto low = static_cast<std::int64_t>(std::floor(std::max((n - 1) / 2 - reach, 0.0)));
  const auto high = static_cast<std::int64_t>(std::ceil(std::min((n - 1) / 2 + reach, n - 1)));
  std::nth_element(begin, begin + low, middle);
  std::nth_element(middle, begin + high, end);
  interval_ratio_ = static_cast<double>(*(begin + high) - *(begin + low)) / static_cast<double>(median);
  const bool inside = low > 0 && high < count_ - 1;  // else the interval is cut off at the extremes
  if (inside && *interval_ratio_ <= options_.precision_ratio) reason_ = StopReason::precision;
}

std::string StoppingRule::explain() const {
  const std::string so_far = core::format_count(static_cast<double>(count_)) + " iterations in " +
                             core::format_duration(static_cast<double>(elapsed_ns_));
  std::string precision;
  if (options_.kind == StoppingOptions::Kind::precision) {
    const std::string asked = core::format_percent(options_.precision_ratio);
    precision = interval_ratio_ ? "; the 95 % interval of the median is " + core::format_percent(*interval_ratio_) +
                                      " wide, requested: " + asked
                                : "; too few values for an interval of the median";
  }
  switch (reason_) {
    case StopReason::running: return "running: " + so_far + precision;
    case StopReason::iterations: return "all requested iterations done: " + so_far;
    case StopReason::time: return "requested time reached: " + so_far;
    case StopReason::precision: return "requested precision reached: " + so_far + precision;
    case StopReason::iteration_limit: return "stopped at the iteration limit: " + so_far + precision;
    case StopReason::time_limit: return "stopped at the time limit: " + so_far + precision;
  }
  return so_far;
}

}  // namespace aaco::stats
