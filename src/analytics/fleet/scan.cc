#include "analytics/fleet/scan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "stats/robust.h"

namespace aaco::analytics::fleet {
namespace {

constexpr std::size_t kShortestWindow = 3;   // bins: a spike in one bin is not a fault
constexpr std::size_t kMinBlocks = 8;        // for a spread
constexpr std::size_t kMinSeriesOfJob = 12;  // for a spread of a job's own
constexpr double kSpreadShare = 0.8;         // of blocks inside kSpreadQuantile standard deviations of a normal sample
constexpr double kSpreadQuantile = 1.2815515655446004;
constexpr int kMinEpisodes = 3;          // a restart is one, and two restarts within a day happen
constexpr double kWholly = 0.9;          // of a bin
constexpr double kMaxLogResidual = 0.7;  // one broken minute must not carry a window

double bounded(double residual, Scale scale) {
  return scale == Scale::ratio ? std::clamp(residual, -kMaxLogResidual, kMaxLogResidual) : residual;
}

std::vector<double> prefix_sums(const Series& series, Scale scale) {
  std::vector<double> sums{0};
  for (const Point& point : series.points) sums.push_back(sums.back() + bounded(point.residual, scale));
  return sums;
}

// Standard deviation about 0 of block means, at least what the tails say: deviations of good units are not normal.
double spread_of(std::span<const double> means) {
  std::vector<double> sizes;
  for (const double mean : means) sizes.push_back(std::fabs(mean));
  std::sort(sizes.begin(), sizes.end());
  const auto at = static_cast<std::size_t>(kSpreadShare * static_cast<double>(sizes.size() - 1));
  return std::max(1.4826 * stats::median(sizes), sizes[at] / kSpreadQuantile);
}

// Spreads of block means by window length, of one group of series.
class Spreads {
 public:
  // `centre` is what the means are taken about.
  void add(const std::vector<double>& sums, double centre) {
    for (std::size_t length = kShortestWindow; length < sums.size(); length *= 2)
      for (std::size_t at = 0; at + length < sums.size(); at += length)
        blocks_[length].push_back((sums[at + length] - sums[at]) / static_cast<double>(length) - centre);
    ++series_;
  }
  void finish() {
    for (const auto& [length, means] : blocks_)
      if (means.size() >= kMinBlocks) spreads_[length] = spread_of(means);
    blocks_.clear();
  }
  [[nodiscard]] std::size_t series() const { return series_; }
  // Of this length or the next shorter one, whose means vary more.
  [[nodiscard]] std::optional<double> of(std::size_t length) const {
    const auto above = spreads_.upper_bound(length);
    if (above == spreads_.begin()) return std::nullopt;
    return std::prev(above)->second;
  }

 private:
  std::map<std::size_t, std::vector<double>> blocks_;
  std::map<std::size_t, double> spreads_;
  std::size_t series_ = 0;
};

struct Window {
  std::size_t begin = 0, end = 0;
  double mean = 0, z = 0;
};

double centre_of(const Series& series, const Rule& rule) {
  if (!rule.own_spread) return 0;
  std::vector<double> residuals;
  for (const Point& point : series.points) residuals.push_back(point.residual);
  return stats::median(residuals);
}

double upper_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

class Scan {
 public:
  Scan(const Series& series, const std::vector<double>& sums, const Rule& rule) : series_(series), sums_(sums), rule_(rule) {}

  // Looks at windows of doubling lengths that overlap by half.
  void look(const Spreads& of_model, const Spreads& of_job) {
    const std::size_t count = series_.points.size();
    for (std::size_t length = kShortestWindow; length <= count; length = longer(length, count)) {
      const auto common = of_model.of(length);
      if (!common) continue;
      double spread = std::max(*common, rule_.noise_floor / std::sqrt(static_cast<double>(length)));
      if (of_job.series() >= kMinSeriesOfJob) spread = std::max(spread, of_job.of(length).value_or(0));
      for (std::size_t at = 0; at + length <= count; at += std::max<std::size_t>(1, length / 2)) judge(at, at + length, spread);
    }
  }

  [[nodiscard]] bool looked() const { return windows_ > 0; }
  [[nodiscard]] bool large_enough() const { return large_.has_value(); }
  [[nodiscard]] Window best() const { return large_ ? *large_ : any_; }
  [[nodiscard]] double p() const {
    const double sides = rule_.bad == Bad::both ? 2 : 1;
    return std::min(1.0, sides * static_cast<double>(windows_) * upper_tail(best().z));
  }

 private:
  // Every length doubles; the whole series is the last.
  static std::size_t longer(std::size_t length, std::size_t count) {
    if (length == count) return count + 1;
    return std::min(length * 2, count);
  }

  void judge(std::size_t begin, std::size_t end, double spread) {
    ++windows_;
    const double mean = (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
    const double bad = rule_.bad == Bad::both ? std::fabs(mean) : mean;
    const Window window{begin, end, mean, bad / spread};
    if (window.z > any_.z) any_ = window;
    if (bad < rule_.smallest || (large_ && window.z <= large_->z)) return;
    std::vector<double> residuals;
    for (std::size_t i = begin; i < end; ++i) residuals.push_back(series_.points[i].residual * (mean < 0 ? -1 : 1));
    if (stats::median(residuals) >= 0.5 * rule_.smallest || (rule_.in_bursts && episodes_in(residuals) >= kMinEpisodes))
      large_ = window;
  }

  // Most bins are affected, and enough of them; two that are affected wholly are enough of a ratio.
  [[nodiscard]] bool is_steady(const std::vector<double>& residuals) const {
    if (stats::median(residuals) < 0.5 * rule_.smallest) return false;
    const auto at_least = [&](double size) {
      return std::count_if(residuals.begin(), residuals.end(), [size](double residual) { return residual >= size; });
    };
    return at_least(0.5 * rule_.smallest) >= rule_.min_bins || (rule_.in_bursts && at_least(kWholly) >= 2);
  }

  // Runs of bins with an effect that matters.
  [[nodiscard]] int episodes_in(const std::vector<double>& residuals) const {
    int count = 0;
    bool inside = false;
    for (const double residual : residuals) {
      const bool now = residual >= rule_.smallest;
      count += now && !inside ? 1 : 0;
      inside = now;
    }
    return count;
  }

  const Series& series_;
  const std::vector<double>& sums_;
  const Rule& rule_;
  Window any_;
  std::optional<Window> large_;
  std::size_t windows_ = 0;
};

// The stretch that the window is part of: the largest sum of what exceeds half the window's mean.
std::pair<std::size_t, std::size_t> stretch(const Series& series, const Window& window, Scale scale) {
  const double sign = window.mean < 0 ? -1 : 1;
  double sum = 0;
  double best = 0;
  std::size_t start = 0;
  std::pair<std::size_t, std::size_t> found{window.begin, window.end};
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      start = i;
    }
    sum += sign * bounded(series.points[i].residual, scale) - std::fabs(window.mean) / 2;
    if (sum > best) {
      best = sum;
      found = {start, i + 1};
    }
  }
  return found;
}

Evidence evidence_of(const SeriesSet& set, const Series& series, std::pair<std::size_t, std::size_t> bounds, const Rule& rule) {
  const auto [begin, end] = bounds;
  Evidence out;
  out.metric = rule.metric;
  out.relative = rule.scale == Scale::ratio;
  double residual = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Point& point = series.points[i];
    out.value += point.value;
    out.peer_value += point.peer_value;
    out.peers = std::max(out.peers, point.peers);
    residual += bounded(point.residual, rule.scale) * (rule.bad == Bad::low ? -1 : 1);
  }
  const auto count = static_cast<double>(end - begin);
  out.value /= count;
  out.peer_value /= count;
  out.bins = static_cast<std::int32_t>(end - begin);
  if (rule.scale == Scale::ratio) out.effect = std::expm1(residual / count);
  if (rule.scale == Scale::difference) out.effect = out.value - out.peer_value;
  if (rule.scale == Scale::count) out.effect = (out.value - out.peer_value) * 3600e9 / static_cast<double>(set.bin_ns);
  out.since_unix_ns = set.first_unix_ns + series.points[begin].bin * set.bin_ns;
  out.until_unix_ns = set.first_unix_ns + (series.points[end - 1].bin + 1) * set.bin_ns;
  return out;
}

}  // namespace

void scan_series(const SeriesSet& set, const Rule& rule, Tests& tests) {
  std::map<std::string, Spreads> of_model;
  std::map<std::pair<std::string, std::string>, Spreads> of_job;
  std::vector<std::vector<double>> sums;
  for (const Series& series : set.series) {
    sums.push_back(prefix_sums(series, rule.scale));
    const double centre = centre_of(series, rule);
    of_model[series.unit.hardware].add(sums.back(), centre);
    of_job[{series.unit.hardware, series.job}].add(sums.back(), centre);
  }
  for (auto& [hardware, spreads] : of_model) spreads.finish();
  for (auto& [key, spreads] : of_job) spreads.finish();
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    const Series& series = set.series[i];
    Scan scan(series, sums[i], rule);
    scan.look(of_model.at(series.unit.hardware), of_job.at({series.unit.hardware, series.job}));
    if (!scan.looked()) continue;
    Test test{series.unit, series.job, &rule, scan.large_enough(), 0, false, {}};
    const auto bounds = stretch(series, scan.best(), rule.scale);
    test.large_enough = test.large_enough && bounds.second - bounds.first >= kShortestWindow;  // not a spike
    if (test.large_enough) {
      test.evidence = evidence_of(set, series, bounds, rule);
      test.severity = std::fabs(scan.best().mean) / rule.smallest;
      test.lasting = test.evidence.until_unix_ns >= set.first_unix_ns + set.bins * set.bin_ns;
    }
    test.evidence.p = scan.p();
    tests.tests.push_back(std::move(test));
  }
  tests.units_without_peers += set.without_peers;
}

}  // namespace aaco::analytics::fleet
