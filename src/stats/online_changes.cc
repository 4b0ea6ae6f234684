#include "stats/online_changes.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "stats/robust.h"

namespace aaco::stats {
namespace {

constexpr double kMinProbability = 1e-6;
constexpr std::size_t kMaxRuns = 64;  // kept, the likeliest: a value costs no more, however long the series
constexpr double kPriorShape = 1;     // a variance from hardly any knowledge

// Of the first values: the scatter of neighbours, so that a change among them does not widen it.
double neighbour_deviation(const std::vector<double>& values) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  constexpr double kNormalConsistency = 1.4826;
  const double robust = kNormalConsistency * median(differences) / std::sqrt(2.0);
  if (robust > 0) return robust;
  const double largest = *std::max_element(differences.begin(), differences.end());
  return largest > 0 ? largest : std::max(std::abs(values.front()) * 1e-3, 1e-12);  // constant: a thousandth counts as noise
}

}  // namespace

OnlineChangeDetector::OnlineChangeDetector(const OnlineChangeOptions& options) : options_(options) {
  AACO_CHECK(options.expected_run > 1 && options.learning_count >= 3 && options.prior_spread > 0);
}

OnlineChangeDetector::Run OnlineChangeDetector::fresh(std::int64_t start) const {
  return {start, 0, 0, 0, 1 / (options_.prior_spread * options_.prior_spread), kPriorShape, kPriorShape};
}

void OnlineChangeDetector::add(double value) {
  AACO_CHECK(std::isfinite(value));
  if (count_ < options_.learning_count) {
    learned_.push_back(value);
    ++count_;
    if (count_ == options_.learning_count) learn();
    return;
  }
  ++count_;
  advance((value - centre_) / scale_);
}

void OnlineChangeDetector::learn() {
  centre_ = median(learned_);
  scale_ = neighbour_deviation(learned_);
  Run first = fresh(0);
  first.probability = 1;
  runs_.push_back(first);
  const std::int64_t learned = count_;
  count_ = 0;
  for (const double value : learned_) {
    ++count_;
    advance((value - centre_) / scale_);
  }
  AACO_CHECK(count_ == learned);
}

double OnlineChangeDetector::log_constant(std::int64_t length) {
  while (static_cast<std::int64_t>(log_constants_.size()) <= length) {
    const double shape = kPriorShape + 0.5 * static_cast<double>(log_constants_.size());
    log_constants_.push_back(std::lgamma(shape + 0.5) - std::lgamma(shape) - 0.5 * std::log(2 * shape));
  }
  return log_constants_[static_cast<std::size_t>(length)];
}

// The log density of the value under the run (Student's t with 2 shape degrees of freedom), which then learns from it.
double OnlineChangeDetector::absorb(Run& run, double value, std::int64_t length) {
  const double variance = run.rate * (run.weight + 1) / (run.shape * run.weight);
  const double distance = value - run.mean;
  const double log_density = log_constant(length) - 0.5 * std::log(variance) -
                             (run.shape + 0.5) * std::log1p(distance * distance / (2 * run.shape * variance));
  run.rate += run.weight * distance * distance / (2 * (run.weight + 1));
  run.mean += distance / (run.weight + 1);
  run.weight += 1;
  run.shape += 0.5;
  return log_density;
}

void OnlineChangeDetector::start_run(std::int64_t now) {
  const double hazard = 1 / options_.expected_run;
  const auto best = std::max_element(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.path < b.path; });
  previous_.push_back(best->start);
  if (now == 0) return;
  Run started = fresh(now);
  started.probability = hazard;  // times the probability of all runs, which is 1
  started.path = best->path + std::log(hazard);
  for (Run& run : runs_) {
    run.probability *= 1 - hazard;
    run.path += std::log1p(-hazard);
  }
  runs_.push_back(started);
}

void OnlineChangeDetector::advance(double value) {
  const std::int64_t now = count_ - 1;
  start_run(now);
  double sum = 0;
  for (Run& run : runs_) {
    const double log_density = absorb(run, value, now - run.start);
    run.probability *= std::exp(log_density);
    run.path += log_density;
    sum += run.probability;
  }
  AACO_CHECK(sum > 0);
  for (Run& run : runs_) run.probability /= sum;
  forget_unlikely();
}

void OnlineChangeDetector::forget_unlikely() {
  std::erase_if(runs_, [](const Run& run) { return run.probability < kMinProbability; });
  if (runs_.size() <= kMaxRuns) return;
  const auto least = std::min_element(runs_.begin(), std::prev(runs_.end()),  // the newest has had no chance yet
                                      [](const Run& a, const Run& b) { return a.probability < b.probability; });
  runs_.erase(least);
}

std::int64_t OnlineChangeDetector::run_length() const {
  if (runs_.empty()) return 0;
  const auto best =
      std::max_element(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.probability < b.probability; });
  return count_ - best->start;
}

double OnlineChangeDetector::change_probability(std::int64_t values) const {
  double sum = 0;
  for (const Run& run : runs_)
    if (run.start > 0 && run.start >= count_ - values) sum += run.probability;
  return sum;
}

std::vector<std::int64_t> OnlineChangeDetector::changes() const {
  std::vector<std::int64_t> places;
  if (runs_.empty()) return places;
  const auto best = std::max_element(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.path < b.path; });
  for (std::int64_t start = best->start; start > 0; start = previous_[static_cast<std::size_t>(start)]) places.push_back(start);
  std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace aaco::stats
