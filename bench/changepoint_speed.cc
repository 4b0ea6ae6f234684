// How long the change points of a series take, by the clock and in CPU time of the thread (what a shared machine leaves alone).
// Usage: changepoint_speed [VALUES]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
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

double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Medians of 15 rounds.
struct Cost {
  double clock_ms = 0, cpu_ms = 0;
};
Cost cost_of(const std::function<std::size_t()>& work, std::size_t& found) {
  std::vector<double> clock, cpu;
  for (int round = 0; round < 15; ++round) {
    const auto begin = aaco::core::monotonic_ns();
    const double cpu_begin = cpu_ms();
    found = work();
    cpu.push_back(cpu_ms() - cpu_begin);
    clock.push_back(static_cast<double>(aaco::core::monotonic_ns() - begin) / 1e6);
  }
  return {middle(clock), middle(cpu)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
  for (const std::size_t steps : {0U, 1U, 5U, 50U})
    for (const double correlation : {0.0, 0.5}) {
      const Series series = made(count, steps, correlation);
      std::size_t offline = 0, online = 0;
      const Cost segmented = cost_of([&] { return aaco::stats::find_changes(series).size(); }, offline);
      const Cost bayesian = cost_of(
          [&] {
            aaco::stats::OnlineChangeDetector detector;
            for (const double value : series) detector.add(value);
            return detector.changes().size();
          },
          online);
      fmt::print(
          "{} values, {} steps, correlation {}: segmentation {:.2f} ms CPU ({:.2f} wall, {} found), Bayesian {:.2f} ms "
          "CPU ({:.2f}, {} found)\n",
          count, steps, correlation, segmented.cpu_ms, segmented.clock_ms, offline, bayesian.cpu_ms, bayesian.clock_ms, online);
    }
}
