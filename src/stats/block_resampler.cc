#include "stats/block_resampler.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "stats/moments.h"

namespace aaco::stats {
namespace {

// Resamples before the band is narrowed to the ranks they gave, widened by their range on both sides: about six standard
// deviations. A resample that leaves the band is counted in full.
constexpr int kPilotResamples = 30;

}  // namespace

BlockResampler::BlockResampler(std::span<const double> series, std::optional<double> quantile) : quantile_(quantile) {
  const std::size_t n = series.size();
  sorted_.assign(series.begin(), series.end());
  if (!quantile_) {
    centre_ = mean_of(series);
    sums_.resize(n + 1);
    for (std::size_t i = 0; i < n; ++i) sums_[i + 1] = sums_[i] + (series[i] - centre_);
    return;
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) { return series[x] < series[y]; });
  rank_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    sorted_[i] = series[order[i]];
    rank_[order[i]] = static_cast<std::uint32_t>(i);
  }
  everything_ = band_over(0, n);
}

double BlockResampler::draw(std::int64_t block, core::Random& random) {
  draw_starts(block, random);
  return quantile_ ? quantile() : mean();
}

void BlockResampler::draw_starts(std::int64_t block, core::Random& random) {
  const std::size_t n = sorted_.size();
  block_ = static_cast<std::size_t>(block);
  starts_.resize((n + block_ - 1) / block_);
  for (std::size_t& start : starts_) start = random.below(n);
}

template <typename Visit>
void BlockResampler::for_each_piece(Visit&& visit) const {
  const std::size_t n = sorted_.size();
  std::size_t left = n;
  for (const std::size_t start : starts_) {
    const std::size_t length = std::min(block_, left);
    left -= length;
    const std::size_t end = start + length;
    visit(start, std::min(end, n));
    if (end > n) visit(std::size_t{0}, end - n);
  }
}

double BlockResampler::mean() const {
  double sum = 0;
  for_each_piece([&](std::size_t begin, std::size_t end) { sum += sums_[end] - sums_[begin]; });
  return centre_ + sum / static_cast<double>(sorted_.size());
}

double BlockResampler::quantile() {
  if (seen_ >= kPilotResamples) {
    if (const std::optional<Found> found = quantile_within(narrow_)) return found->value;
  }
  const std::optional<Found> found = quantile_within(everything_);
  if (seen_ < kPilotResamples) learn(found->rank);
  return found->value;
}

std::optional<BlockResampler::Found> BlockResampler::quantile_within(const Band& band) {
  counts_.assign(band.high - band.low, 0);
  std::size_t seen = 0;
  for_each_piece([&](std::size_t begin, std::size_t end) {
    seen += band.below_before[end] - band.below_before[begin];
    for (std::uint32_t i = band.inside_before[begin]; i < band.inside_before[end]; ++i) ++counts_[band.inside[i] - band.low];
  });
  const double place = *quantile_ * static_cast<double>(sorted_.size() - 1);
  const auto wanted = static_cast<std::size_t>(place) + 1;  // values up to and including the lower order statistic
  if (seen >= wanted) return std::nullopt;
  std::size_t i = 0;
  for (; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) break;
  }
  if (i == counts_.size()) return std::nullopt;
  std::size_t next = i;
  if (seen == wanted) {  // the following order statistic is another value
    ++next;
    while (next < counts_.size() && counts_[next] == 0) ++next;
    if (next == counts_.size()) {
      if (band.high < sorted_.size()) return std::nullopt;
      next = i;
    }
  }
  const double lower = sorted_[band.low + i];
  return Found{lower + (place - static_cast<double>(wanted - 1)) * (sorted_[band.low + next] - lower), band.low + i};
}

BlockResampler::Band BlockResampler::band_over(std::size_t low, std::size_t high) const {
  Band band{low, high, std::vector<std::uint32_t>(rank_.size() + 1), std::vector<std::uint32_t>(rank_.size() + 1), {}};
  for (std::size_t i = 0; i < rank_.size(); ++i) {
    const bool inside = rank_[i] >= low && rank_[i] < high;
    if (inside) band.inside.push_back(rank_[i]);
    band.below_before[i + 1] = band.below_before[i] + (rank_[i] < low ? 1 : 0);
    band.inside_before[i + 1] = band.inside_before[i] + (inside ? 1 : 0);
  }
  return band;
}

void BlockResampler::learn(std::size_t rank) {
  lowest_ = seen_ == 0 ? rank : std::min(lowest_, rank);
  highest_ = std::max(highest_, rank);
  if (++seen_ < kPilotResamples) return;
  const std::size_t reach = highest_ - lowest_ + 1;
  narrow_ = band_over(lowest_ - std::min(lowest_, reach), std::min(sorted_.size(), highest_ + reach + 1));
}

}  // namespace aaco::stats
