// What the eBPF plane costs an event, and whether it keeps up: two threads on CPU 0 hand a byte to and fro through pipes (two
// wakeups and two switches a round), the reader of the rings has the other CPUs. Needs root.
//
//   ebpf_cost [seconds]
//
// First blocks with and without the plane alternate (ABBA): the difference of the threads' CPU time a round over the events of a
// round is the cost of an event, so that what else runs on the machine weighs little. Then 100,000 events a second are made for
// as long, of which none may be lost.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "collectors/scheduler_watch.h"
#include "core/clock.h"

namespace {

using namespace aaco;

constexpr std::int64_t kBlockNs = 100'000'000;
constexpr double kRate = 100'000;  // events a second
constexpr double kEventsARound = 4;

void pin(bool first) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = first ? 0 : 1; cpu < (first ? 1 : cpus); ++cpu) CPU_SET(static_cast<unsigned>(cpu), &set);
  bench::check(::sched_setaffinity(0, sizeof(set), &set) == 0, "at least two CPUs are required");
}

std::int64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Counts sums for a mean with its 95 % interval.
struct Mean {
  double sum = 0, squares = 0, count = 0;
  void add(double value) { sum += value, squares += value * value, ++count; }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double half_width() const {
    return 1.96 * std::sqrt(std::max(0.0, squares / count - mean() * mean()) / (count - 1));
  }
};

// The two threads: this one asks, the other answers, both on CPU 0.
class PingPong {
 public:
  PingPong() {
    bench::check(::pipe(ask_.data()) == 0 && ::pipe(answer_.data()) == 0, "cannot create pipes");
    other_ = std::thread([this] {
      pin(true);
      char byte = 0;
      while (::read(ask_[0], &byte, 1) == 1 && byte != 'q') {
        other_cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
        if (::write(answer_[1], &byte, 1) != 1) return;
      }
    });
  }
  ~PingPong() {
    const char quit = 'q';
    bench::check(::write(ask_[1], &quit, 1) == 1, "broken pipe");
    other_.join();
    for (const int file : {ask_[0], ask_[1], answer_[0], answer_[1]}) ::close(file);
  }
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;

  void round() {
    char byte = 'x';
    bench::check(::write(ask_[1], &byte, 1) == 1 && ::read(answer_[0], &byte, 1) == 1, "broken pipe");
  }
  // Of both threads so far.
  [[nodiscard]] std::int64_t cpu_ns() const { return thread_cpu_ns() + other_cpu_ns_.load(std::memory_order_relaxed); }

 private:
  std::array<int, 2> ask_{}, answer_{};
  std::atomic<std::int64_t> other_cpu_ns_{0};
  std::thread other_;
};

// CPU time a round over one block.
double block_ns(PingPong& pair) {
  const std::int64_t end = core::monotonic_ns() + kBlockNs, before = pair.cpu_ns();
  double rounds = 0;
  for (; core::monotonic_ns() < end; ++rounds) pair.round();
  return static_cast<double>(pair.cpu_ns() - before) / rounds;
}

void measure_cost(collectors::SchedulerWatch& watch, double seconds) {
  PingPong pair;
  const int groups = std::max(3, static_cast<int>(seconds * 1e9 / static_cast<double>(4 * kBlockNs)));
  Mean cost, without, with;
  const auto block = [&](bool on) {
    if (on) watch.resume();
    const double ns = block_ns(pair);
    if (on) watch.pause();
    (on ? with : without).add(ns);
    return ns;
  };
  (void)block(true), (void)block(false);
  with = {}, without = {};
  for (int i = 0; i < groups; ++i) {
    const double a = block(true), b = block(false), c = block(false), d = block(true);
    cost.add((a + d - b - c) / 2 / kEventsARound);
  }
  fmt::print("per round: {:.0f} ns without eBPF, {:.0f} ns with eBPF\n", without.mean(), with.mean());
  fmt::print("cost per event: {:.3f} µs (95 % CI ±{:.3f}), {} block groups\n", cost.mean() * 1e-3, cost.half_width() * 1e-3,
             groups);
}

void keep_up(collectors::SchedulerWatch& watch, double seconds) {
  PingPong pair;
  watch.resume();
  const std::int64_t begin = core::monotonic_ns();
  const auto end = begin + static_cast<std::int64_t>(seconds * 1e9);
  double rounds = 0;
  for (std::int64_t now = begin; now < end; now = core::monotonic_ns())
    if (rounds * kEventsARound < static_cast<double>(now - begin) * 1e-9 * kRate) pair.round(), ++rounds;
  const double took = static_cast<double>(core::monotonic_ns() - begin) * 1e-9;
  watch.pause();
  fmt::print("generated {:.0f} events/s for {:.1f} s\n", rounds * kEventsARound / took, took);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  pin(false);  // the reader's thread inherits it
  collectors::WatchOptions options;
  options.process_id = ::getpid();
  auto watch = collectors::SchedulerWatch::open(options);
  if (!watch) {
    fmt::print(stderr, "{}\n", watch.error().text());
    return 3;
  }
  pin(true);
  measure_cost(**watch, seconds);
  keep_up(**watch, seconds);
  trace::MemorySink sink;
  (*watch)->finish(sink);
  const trace::Account account = (*watch)->account();
  const auto lost = account.dropped.find("kernel ring buffer full");
  fmt::print("{} events read, {} kept, {} lost in ring buffers, {} rows\n", account.read, account.kept,
             lost == account.dropped.end() ? 0 : lost->second, sink.rows<trace::SchedEventRow>().size());
}
