// What telemetry costs on this machine: CPU time of one sample of each collector, and of the sampling loop as a whole at 100 Hz,
// as a share of one CPU. The process under observation runs two busy threads, as an inference does.
//
//   collector_cost [seconds]

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "collectors/sampling_loop.h"
#include "core/clock.h"
#include "trace/sink.h"

namespace {

using namespace aaco;

std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

struct Mean {
  double sum = 0, squares = 0;
  std::int64_t count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  // Half of the 95 % interval.
  [[nodiscard]] double half_width() const {
    const double n = static_cast<double>(count);
    return 1.96 * std::sqrt(std::max(0.0, squares / n - mean() * mean()) / n);
  }
};

// Samples at 100 Hz from this thread and takes the CPU time of each sample.
void measure(collectors::Collector& collector, double seconds) {
  const core::SystemClock clock;
  trace::MemorySink sink;
  Mean cost;
  std::int64_t deadline = core::monotonic_ns();
  for (int i = 0; i < static_cast<int>(seconds * 100); ++i) {
    clock.sleep_until(deadline += 10'000'000);
    const std::int64_t before = thread_cpu_ns();
    collector.sample(sink);
    cost.add(static_cast<double>(thread_cpu_ns() - before) * 1e-3);
  }
  const auto rows = sink.rows<trace::SystemEventRow>().size() + sink.rows<trace::GpuEventRow>().size();
  fmt::print("{:8} {:7.1f} µs per sample ±{:.1f}, {:6.0f} rows/s, {:.3f} % of a CPU at 100 Hz\n", collector.info().name,
             cost.mean(), cost.half_width(), static_cast<double>(rows) / seconds, cost.mean() / 100);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i)
    workers.emplace_back([&stop] {
      volatile double x = 1;
      while (!stop) x = x * 1.0000001;
    });
  const collectors::Target target{.process_id = getpid()};
  for (auto& collector : collectors::builtin_collectors()) {
    if (const auto opened = collector->open({}, target))
      measure(*collector, seconds);
    else
      fmt::print("{:8} {}\n", collector->info().name, opened.error().message);
  }
  collectors::SamplingLoop loop(collectors::builtin_collectors(), {core::Nanoseconds(10'000'000), {}, target});
  if (const auto started = loop.start(); !started) {
    fmt::print(stderr, "{}\n", started.error().text());
    return 3;
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  trace::MemorySink sink;
  loop.stop(sink);
  stop = true;
  for (std::thread& worker : workers) worker.join();
  const auto account = loop.sampling();
  fmt::print("loop     {:7.1f} µs per sample including wake-up; {} samples, {} missed deadlines, {:.3f} % of a CPU\n",
             static_cast<double>(account.cpu_time.count()) * 1e-3 / static_cast<double>(account.samples), account.samples,
             account.missed_deadlines,
             100.0 * static_cast<double>(account.cpu_time.count()) / static_cast<double>(account.wall_time.count()));
}
