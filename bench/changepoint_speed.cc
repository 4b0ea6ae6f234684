// How long the change points of a series take. Usage: changepoint_speed [VALUES]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "core/clock.h"
#include "core/random.h"
#include "stats/changepoint.h"
#include "stats/online_changes.h"

namespace {

using Series = std::vector<double>;

Series made(std::size_t count, std::size_t steps, double correlation) {
  aaco::core::Random random(7);
  Series series;
  double noise = 0;
  for (std::size_t i = 0; i < count; ++i) {
    noise = correlation * noise + random.normal();
    series.push_back(1000 + 50 * static_cast<double>(i * (steps + 1) / count % 2) + 5 * noise);
  }
  return series;
}

double median_ms(const std::function<std::size_t()>& work, std::size_t& found) {
  std::vector<double> times;
  for (int round = 0; round < 15; ++round) {
    const auto begin = aaco::core::monotonic_ns();
    found = work();
    times.push_back(static_cast<double>(aaco::core::monotonic_ns() - begin) / 1e6);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
  for (const std::size_t steps : {0U, 1U, 5U, 50U})
    for (const double correlation : {0.0, 0.5}) {
      const Series series = made(count, steps, correlation);
      std::size_t offline = 0, online = 0;
      const double segmented = median_ms([&] { return aaco::stats::find_changes(series).size(); }, offline);
      const double bayesian = median_ms(
          [&] {
            aaco::stats::OnlineChangeDetector detector;
            for (const double value : series) detector.add(value);
            return detector.changes().size();
          },
          online);
      fmt::print("{} values, {} steps, correlation {}: segmentation {:.2f} ms ({} found), Bayesian {:.2f} ms ({} found)\n", count,
                 steps, correlation, segmented, offline, bayesian, online);
    }
}
