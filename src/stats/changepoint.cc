#include "stats/changepoint.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/ranks.h"
#include "stats/robust.h"
#include "stats/two_sample.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kMaxValues = 4096;         // segmented one by one
constexpr std::size_t kBlocks[] = {1, 2, 4, 6};  // lengths over which correlation is looked for
constexpr std::size_t kFewestBlocks = 8;         // else the changes themselves pass for correlation

// Normal scores of the ranks (van der Waerden): the shape of the distribution goes, extreme values keep more weight than ranks
// give.
std::vector<double> normal_scores(std::span<const double> series) {
  std::vector<double> scores = mid_ranks(series);
  const double n = static_cast<double>(series.size());
  for (double& score : scores) score = normal_quantile((score - 0.5) / n);
  return scores;
}

std::vector<double> cumulative(std::span<const double> values) {
  std::vector<double> sums(values.size() + 1, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  return sums;
}

// Of the difference of neighbouring block means, times the block length over 2: the variance of a value if values are
// independent, more if they are correlated. By the median, so that the few differences across a change do not count; by the mean
// square where ties leave nothing.
double block_variance(std::span<const double> sums, std::size_t block) {
  std::vector<double> differences;
  const double length = static_cast<double>(block);
  for (std::size_t i = 0; i + 2 * block < sums.size(); ++i)
    differences.push_back(((sums[i + 2 * block] - sums[i + block]) - (sums[i + block] - sums[i])) / length);
  double squares = 0;
  for (double& difference : differences) {
    squares += difference * difference;
    difference = std::abs(difference);
  }
  constexpr double kNormalConsistency = 1.4826;
  const double robust = std::pow(kNormalConsistency * median(differences), 2);
  return length / 2 * (robust > 0 ? robust : squares / static_cast<double>(differences.size()));
}

double long_run_variance(std::span<const double> sums) {
  double largest = 0;
  for (const std::size_t block : kBlocks)
    if (block == 1 || sums.size() - 1 >= kFewestBlocks * block) largest = std::max(largest, block_variance(sums, block));
  return largest;
}

// Starts of the segments after the first, ascending. Minimises the sum of -S^2/n over segments plus the penalty of each.
std::vector<std::size_t> optimal_partition(std::span<const double> sums, double penalty, std::size_t least) {
  const std::size_t n = sums.size() - 1;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> best(n + 1, kNone);
  std::vector<std::size_t> previous(n + 1, 0), candidates{0};
  std::vector<double> cost_of;
  best[0] = -penalty;
  for (std::size_t end = least; end <= n; ++end) {
    cost_of.clear();
    for (const std::size_t start : candidates) {
      const double sum = sums[end] - sums[start];
      const double cost = best[start] - sum * sum / static_cast<double>(end - start);
      cost_of.push_back(cost);
      if (cost + penalty < best[end]) {
        best[end] = cost + penalty;
        previous[end] = start;
      }
    }
    // A start that already loses by the price of a change can never win again.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (cost_of[i] <= best[end]) candidates[kept++] = candidates[i];
    candidates.resize(kept);
    const std::size_t next = end + 1 - least;  // may start a segment that is long enough at the next end
    if (next >= least && best[next] < kNone) candidates.push_back(next);
  }
  std::vector<std::size_t> starts;
  for (std::size_t at = previous[n]; at > 0; at = previous[at]) starts.push_back(at);
  std::reverse(starts.begin(), starts.end());
  return starts;
}

std::vector<std::size_t> segment(std::span<const double> series, const ChangeOptions& options) {
  const auto least = static_cast<std::size_t>(options.minimum_segment);
  if (series.size() < 2 * least || series.size() < 4) return {};
  const std::vector<double> sums = cumulative(normal_scores(series));
  const double variance = long_run_variance(sums);
  if (variance <= 0) return {};  // constant
  return optimal_partition(sums, options.penalty_factor * variance * std::log(static_cast<double>(series.size())), least);
}

std::vector<double> block_medians(std::span<const double> series, std::size_t block) {
  std::vector<double> medians;
  for (std::size_t start = 0; start + block <= series.size(); start += block)
    medians.push_back(median(series.subspan(start, block)));
  return medians;
}

// The split of [from, to) with the largest gain in squares of scores.
std::size_t best_split(std::span<const double> series, std::size_t from, std::size_t to) {
  const std::vector<double> sums = cumulative(normal_scores(series.subspan(from, to - from)));
  const std::size_t n = to - from;
  std::size_t place = 1;
  double largest = -1;
  for (std::size_t i = 1; i < n; ++i) {
    const double k = static_cast<double>(i);
    const double rest = sums[n] - sums[i];
    const double gain = sums[i] * sums[i] / k + rest * rest / (static_cast<double>(n) - k);
    if (gain > largest) {
      largest = gain;
      place = i;
    }
  }
  return from + place;
}

std::vector<std::size_t> segment_long(std::span<const double> series, const ChangeOptions& options) {
  const std::size_t block = (series.size() + kMaxValues - 1) / kMaxValues;
  std::vector<std::size_t> starts = segment(block_medians(series, block), options);
  for (std::size_t& start : starts) {
    const std::size_t reach = 2 * block;
    const std::size_t place = start * block;
    start = best_split(series, place - reach, std::min(place + reach, series.size()));
  }
  return starts;
}

// Each place anew between its neighbours, by ranks of these two segments alone: over the whole series the upper values of one
// level and the lower ones of the next have nearly the same rank.
void refine(std::span<const double> series, std::vector<std::size_t>& bounds, std::size_t least) {
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
    const std::size_t place = best_split(series, bounds[i - 1], bounds[i + 1]);
    if (place >= bounds[i - 1] + least && place + least <= bounds[i + 1]) bounds[i] = place;
  }
}

// How much the change pays by the scores of its two segments alone, in prices of a change; below 1 it is one only among distant
// levels.
double local_worth(std::span<const double> both, std::size_t place, double price) {
  const std::vector<double> sums = cumulative(normal_scores(both));
  const double n = static_cast<double>(both.size()), k = static_cast<double>(place);
  const double sum = sums[place], rest = sums.back() - sum;
  const double variance = long_run_variance(sums);
  return variance > 0 ? (sum * sum / k + rest * rest / (n - k)) / (variance * price) : 0;
}

// Takes out the changes that their own neighbourhood does not bear out, the weakest first.
void prune(std::span<const double> series, std::vector<std::size_t>& bounds, double price) {
  for (;;) {
    std::size_t weakest = 0;
    double least = 1;
    for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
      const auto both = series.subspan(bounds[i - 1], bounds[i + 1] - bounds[i - 1]);
      const double worth = local_worth(both, bounds[i] - bounds[i - 1], price);
      if (worth < least) {
        least = worth;
        weakest = i;
      }
    }
    if (weakest == 0) return;
    bounds.erase(bounds.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
}

SampleView worth(std::span<const double> values) { return {values, effective_sample_size(values)}; }

}  // namespace

std::vector<ChangePoint> find_changes(std::span<const double> series, const ChangeOptions& options) {
  AACO_CHECK(options.minimum_segment >= 2 && options.penalty_factor > 0);
  AACO_CHECK(std::all_of(series.begin(), series.end(), [](double value) { return std::isfinite(value); }));
  std::vector<std::size_t> bounds = series.size() > kMaxValues ? segment_long(series, options) : segment(series, options);
  bounds.insert(bounds.begin(), 0);
  bounds.push_back(series.size());
  refine(series, bounds, static_cast<std::size_t>(options.minimum_segment));
  prune(series, bounds, options.penalty_factor * std::log(static_cast<double>(series.size())));
  std::vector<ChangePoint> changes;
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
    const auto before = series.subspan(bounds[i - 1], bounds[i] - bounds[i - 1]);
    const auto after = series.subspan(bounds[i], bounds[i + 1] - bounds[i]);
    ChangePoint change{static_cast<std::int64_t>(bounds[i]), median(before), median(after), 1};
    if (const auto test = rank_test(worth(before), worth(after))) change.p_value = test->p_value;
    changes.push_back(change);
  }
  return changes;
}

}  // namespace aaco::stats
