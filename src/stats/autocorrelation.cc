#include "stats/autocorrelation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "stats/moments.h"

namespace aaco::stats {
namespace {

constexpr std::int64_t kLongestLag = 1024;  // beyond it the correlation is followed by batch means

std::vector<double> centred(std::span<const double> series) {
  const double mean = mean_of(series);
  std::vector<double> result(series.begin(), series.end());
  for (double& value : result) value -= mean;
  return result;
}

// Sum of products at a distance, not divided.
double lagged_product(std::span<const double> centred_series, std::int64_t lag) {
  const auto shifted = centred_series.subspan(static_cast<std::size_t>(lag));
  return std::inner_product(shifted.begin(), shifted.end(), centred_series.begin(), 0.0);
}

constexpr std::size_t kLagsAtOnce = 8;

// lagged_product() at this lag and the next ones, in one pass. Each sum keeps its own order, so the values are the same.
std::array<double, kLagsAtOnce> lagged_products(std::span<const double> centred_series, std::int64_t first_lag) {
  std::array<double, kLagsAtOnce> sums{};
  const auto first = static_cast<std::size_t>(first_lag);
  const std::size_t count = centred_series.size();
  const std::size_t common = count > first + kLagsAtOnce - 1 ? count - (first + kLagsAtOnce - 1) : 0;
  for (std::size_t i = 0; i < common; ++i) {
    const double* later = centred_series.data() + i + first;
    for (std::size_t k = 0; k < kLagsAtOnce; ++k) sums[k] += later[k] * centred_series[i];
  }
  for (std::size_t k = 0; k < kLagsAtOnce; ++k) {
    for (std::size_t i = common; i + first + k < count; ++i) sums[k] += centred_series[i + first + k] * centred_series[i];
  }
  return sums;
}

// What rounding leaves of a constant series is no variance.
bool is_constant(double sum_of_squares, std::span<const double> series) {
  const double largest =
      std::abs(*std::max_element(series.begin(), series.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  return sum_of_squares <= static_cast<double>(series.size()) * std::pow(largest * 1e-14, 2);
}

struct CorrelationTime {
  double tau = 1;
  bool ended = false;  // the sequence fell to zero within the longest lag
};

CorrelationTime initial_sequence(std::span<const double> centred_series, double variance_sum) {
  const auto count = static_cast<std::int64_t>(centred_series.size());
  const std::int64_t longest = std::min(count / 2, kLongestLag);
  CorrelationTime result{-1, longest < kLongestLag};
  double previous = 2;  // rho_0 + rho_1 is at most 2
  std::array<double, kLagsAtOnce> products{};
  for (std::int64_t lag = 0; lag + 1 < std::max<std::int64_t>(longest, 2); lag += 2) {
    const auto at = static_cast<std::size_t>(lag) % kLagsAtOnce;
    if (at == 0) products = lagged_products(centred_series, lag);
    const double pair = (products[at] + products[at + 1]) / variance_sum;
    if (pair <= 0) {
      result.ended = true;
      break;
    }
    previous = std::min(previous, pair);
    result.tau += 2 * previous;
  }
  return result;
}

std::vector<double> batch_means(std::span<const double> series, std::size_t size) {
  std::vector<double> means;
  for (std::size_t start = 0; start + size <= series.size(); start += size) {
    means.push_back(mean_of(series.subspan(start, size)));
  }
  return means;
}

}  // namespace

std::optional<double> autocorrelation(std::span<const double> series, std::int64_t lag) {
  if (lag < 0 || static_cast<std::int64_t>(series.size()) < lag + 3) return std::nullopt;
  const std::vector<double> values = centred(series);
  const double variance_sum = lagged_product(values, 0);
  if (is_constant(variance_sum, series)) return std::nullopt;
  return lagged_product(values, lag) / variance_sum;
}

double effective_sample_size(std::span<const double> series) {
  const auto count = static_cast<double>(series.size());
  if (series.size() < 4) return count;
  const std::vector<double> values = centred(series);
  const double variance_sum = lagged_product(values, 0);
  if (is_constant(variance_sum, series)) return count;
  const CorrelationTime time = initial_sequence(values, variance_sum);
  if (time.ended) return std::clamp(count / std::max(time.tau, 1.0), 1.0, count);
  // var(mean) = var(batch means) / ESS(batch means), and by definition var / ESS.
  const std::vector<double> means = batch_means(values, static_cast<std::size_t>(kLongestLag));
  const double batches = static_cast<double>(means.size());
  if (batches < 4) return std::clamp(count / std::max(time.tau, 1.0), 1.0, count);
  const std::vector<double> centred_means = centred(means);
  const double variance_of_mean = lagged_product(centred_means, 0) / (batches - 1) / effective_sample_size(means);
  return std::clamp(variance_sum / (count - 1) / variance_of_mean, 1.0, count);
}

}  // namespace aaco::stats
