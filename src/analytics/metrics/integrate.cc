#include <algorithm>
#include <cmath>

#include "analytics/telemetry.h"
#include "stats/robust.h"

namespace aaco::analytics::metrics {
namespace {

constexpr double kPauseSteps = 5;  // a step this many times the typical one is a pause of the sampler

double longest_step(std::span<const Sample> samples) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < samples.size(); ++i)
    steps.push_back(static_cast<double>(samples[i].time_ns - samples[i - 1].time_ns));
  return kPauseSteps * stats::median(steps);
}

struct Sum {
  double value = 0;  // units x ns
  double bound = 0;
  double covered_ns = 0;
};

// One step, cut to the window; the value inside runs linearly.
void add_step(const Sample& from, const Sample& to, const Window& window, Sum& sum) {
  const std::int64_t start = std::max(from.time_ns, window.start_ns);
  const std::int64_t end = std::min(to.time_ns, window.end_ns);
  if (end <= start) return;
  const double length = static_cast<double>(to.time_ns - from.time_ns);
  const auto at = [&](std::int64_t time) {
    return from.value + (to.value - from.value) * static_cast<double>(time - from.time_ns) / length;
  };
  const double covered = static_cast<double>(end - start);
  sum.value += (at(start) + at(end)) / 2 * covered;
  sum.bound += std::abs(to.value - from.value) / 2 * covered;
  sum.covered_ns += covered;
}

double typical_change(std::span<const Sample> samples) {
  double sum = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) sum += std::abs(samples[i].value - samples[i - 1].value);
  return sum / static_cast<double>(samples.size() - 1);
}

void add_window(std::span<const Sample> samples, const Window& window, double longest_ns, Sum& sum) {
  auto to = std::upper_bound(samples.begin(), samples.end(), window.start_ns,
                             [](std::int64_t time, const Sample& sample) { return time < sample.time_ns; });
  if (to == samples.begin()) ++to;
  for (; to != samples.end(); ++to) {
    const Sample& from = *std::prev(to);
    if (from.time_ns >= window.end_ns) break;
    if (static_cast<double>(to->time_ns - from.time_ns) <= longest_ns) add_step(from, *to, window, sum);
  }
}

}  // namespace

std::optional<Integral> integrate(std::span<const Sample> samples, std::span<const Window> windows, double accuracy_ratio) {
  if (samples.size() < 2) return std::nullopt;
  const double longest_ns = longest_step(samples);
  Sum sum;
  double whole_ns = 0;
  for (const Window& window : windows) {
    add_window(samples, window, longest_ns, sum);
    whole_ns += static_cast<double>(window.end_ns - window.start_ns);
  }
  if (whole_ns <= 0) return std::nullopt;
  const double covered = sum.covered_ns / whole_ns;
  if (covered < kMinCoveredRatio) return std::nullopt;
  const double value = sum.value / covered * 1e-9;
  const double unseen = (whole_ns - sum.covered_ns) * typical_change(samples);
  return Integral{value, (sum.bound + unseen) * 1e-9 + accuracy_ratio * std::abs(value), covered};
}

std::optional<Integral> integrate_counter(std::span<const Sample> readings, std::span<const Window> windows,
                                          double accuracy_ratio) {
  std::vector<Sample> rates;  // of each step, at its middle
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Sample& from = readings[i - 1];
    const Sample& to = readings[i];
    if (to.value < from.value) return std::nullopt;
    const std::int64_t length = to.time_ns - from.time_ns;
    if (length > 0) rates.push_back({from.time_ns + length / 2, (to.value - from.value) / (static_cast<double>(length) * 1e-9)});
  }
  return integrate(rates, windows, accuracy_ratio);
}

}  // namespace aaco::analytics::metrics
