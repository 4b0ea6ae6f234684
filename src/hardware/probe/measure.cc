#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "core/clock.h"
#include "core/cpu_set.h"
#include "hardware/inventory/read.h"
#include "hardware/probe.h"
#include "hardware/probe/operations.h"

namespace aaco::hardware {
namespace {

constexpr int kRepetitions = 5, kAgain = 3;
constexpr std::int64_t kMegabyte = 1 << 20;
// Arrays several times the last cache, within what a machine can spare.
constexpr std::int64_t kCopyOverCache = 4, kMinCopy = 64 * kMegabyte, kMaxCopy = 2048 * kMegabyte;
constexpr std::int64_t kAvailableShare = 4;  // at most one part in four of what is available
constexpr std::int64_t kAlignment = 512;

// Threads that do the same at the same time, each on its own processor.
class Crew {
 public:
  explicit Crew(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  [[nodiscard]] int size() const { return static_cast<int>(cpus_.size()); }

  // Each thread runs `prepare(index)`, then all together `work(index)` kRepetitions times; for each, the time in ns from the
  // first that began to the last that ended. Each thread reads the clock itself: whoever waits for them may be late.
  std::vector<double> time(const std::function<void(int)>& prepare, const std::function<void(int)>& work) const {
    struct Span {
      std::int64_t begin = 0, end = 0;
    };
    std::vector<std::vector<Span>> spans(cpus_.size(), std::vector<Span>(kRepetitions));
    std::barrier start(size());
    std::vector<std::thread> threads;
    for (int index = 0; index < size(); ++index)
      threads.emplace_back([&, index] {
        (void)core::pin_to({cpus_[static_cast<std::size_t>(index)]});  // refused: the thread runs where the kernel puts it
        prepare(index);
        for (Span& span : spans[static_cast<std::size_t>(index)]) {
          start.arrive_and_wait();
          span.begin = core::monotonic_ns();
          work(index);
          span.end = core::monotonic_ns();
        }
      });
    for (std::thread& thread : threads) thread.join();
    std::vector<double> times;
    for (std::size_t i = 0; i < kRepetitions; ++i) {
      Span whole = spans.front()[i];
      for (const auto& one : spans) whole = {std::min(whole.begin, one[i].begin), std::max(whole.end, one[i].end)};
      times.push_back(static_cast<double>(whole.end - whole.begin));
    }
    return times;
  }

 private:
  std::vector<int> cpus_;
};

ProbeReading reading(std::string what, double amount, const std::vector<double>& times_ns) {
  const auto [least, most] = std::minmax_element(times_ns.begin(), times_ns.end());
  return {std::move(what), amount / *least * 1e9, 1 - *least / *most};
}

// How many rounds of `run` last about `time_ns` on one thread.
std::int64_t calibrate(const std::function<void(std::int64_t)>& run, std::int64_t time_ns) {
  std::int64_t rounds = 1;
  while (true) {
    const std::int64_t begin = core::monotonic_ns();
    run(rounds);
    const std::int64_t taken = core::monotonic_ns() - begin;
    constexpr std::int64_t kClear = 2'000'000;  // long beside the clock's own steps
    if (taken >= kClear) return std::max<std::int64_t>(1, rounds * time_ns / taken);
    rounds *= 4;
  }
}

struct Free {
  void operator()(std::byte* data) const { std::free(data); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

Buffer touched(std::int64_t bytes) {
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes))));
  if (buffer) std::memset(buffer.get(), 1, static_cast<std::size_t>(bytes));
  return buffer;
}

std::int64_t aligned(std::int64_t bytes) { return std::max<std::int64_t>(1, bytes / kAlignment) * kAlignment; }

std::int64_t copy_bytes(const ProbeOptions& options, const Inventory& machine) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  std::int64_t last = 0;
  for (const CpuCache& cache : machine.cpu.caches) last = std::max(last, cache.size_bytes);
  std::int64_t bytes = std::clamp(kCopyOverCache * last, kMinCopy, kMaxCopy);
  if (machine.memory.available_bytes) bytes = std::min(bytes, *machine.memory.available_bytes / kAvailableShare);
  return bytes;
}

core::Status measure_memory(const Crew& crew, const ProbeOptions& options, const Inventory& machine, ProbeMeasurements& out) {
  const std::int64_t share = aligned(copy_bytes(options, machine) / 2 / crew.size());
  std::vector<Buffer> from(static_cast<std::size_t>(crew.size())), to(static_cast<std::size_t>(crew.size()));
  std::atomic<bool> missing{false};
  const auto prepare = [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    from[at] = touched(share);
    to[at] = touched(share);
    if (!from[at] || !to[at]) missing = true;
  };
  std::atomic<std::uint64_t> sink{0};
  const auto copied = crew.time(prepare, [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    if (!missing) std::memcpy(to[at].get(), from[at].get(), static_cast<std::size_t>(share));
  });
  if (missing)
    return core::fail(core::ErrorCode::exhausted,
                      "not enough memory for the two " + std::to_string(share * crew.size() / kMegabyte) +
                          " MiB arrays of the bandwidth measurement",
                      "free some memory or use a smaller --memory");
  const auto read =
      crew.time([](int) {}, [&](int index) { sink ^= probe::read_all(from[static_cast<std::size_t>(index)].get(), share, 1); });
  const double bytes = static_cast<double>(share) * crew.size();
  out.copy = reading("copy", 2 * bytes, copied);  // read and written, as STREAM counts
  out.read = reading("read", bytes, read);
  return {};
}

// Bytes a thread may keep in an instance of the cache, with room for what else lies there.
std::int64_t working_set(const CpuCache& cache, int threads) {
  const auto sharers = static_cast<std::int64_t>(std::max<std::size_t>(1, core::parse_cpu_list(cache.shared_cpus).size()));
  return aligned(cache.size_bytes / 2 / std::min<std::int64_t>(sharers, threads));
}

void measure_caches(const Crew& crew, const ProbeOptions& options, const Inventory& machine, ProbeMeasurements& out) {
  for (const CpuCache& cache : machine.cpu.caches) {
    if (cache.type == "Instruction") continue;
    const std::int64_t share = working_set(cache, crew.size());
    if (share * crew.size() > copy_bytes(options, machine)) continue;  // larger than what may be taken: it stays unmeasured
    std::vector<Buffer> data(static_cast<std::size_t>(crew.size()));
    const Buffer trial = touched(share);
    if (!trial) continue;
    const std::int64_t times = calibrate([&](std::int64_t n) { probe::read_all(trial.get(), share, n); }, options.time_ns / 4);
    std::atomic<std::uint64_t> sink{0};
    const auto taken = crew.time([&](int index) { data[static_cast<std::size_t>(index)] = touched(share); },
                                 [&](int index) {
                                   const Buffer& own = data[static_cast<std::size_t>(index)];
                                   if (own) sink ^= probe::read_all(own.get(), share, times);
                                 });
    const double bytes = static_cast<double>(share) * static_cast<double>(times) * crew.size();
    out.caches.push_back(reading("l" + std::to_string(cache.level), bytes, taken));
  }
}

ProbeReading measure_operation(const Crew& crew, const ProbeOptions& options, const probe::OperationLoop& loop) {
  const std::int64_t rounds = calibrate(loop.run, options.time_ns / kRepetitions);
  const auto times = crew.time([](int) {}, [&](int) { loop.run(rounds); });
  return reading(loop.dtype, static_cast<double>(loop.per_round) * static_cast<double>(rounds) * crew.size(), times);
}

}  // namespace

core::Result<ProbeMeasurements> measure_processor(const ProbeOptions& options, const Inventory& machine) {
  std::vector<int> cpus = options.cpus.empty() ? core::allowed_cpus() : options.cpus;
  if (cpus.empty()) return core::fail(core::ErrorCode::unsupported, "the kernel does not report which CPUs this process may use");
  const Crew crew(std::move(cpus));
  ProbeMeasurements out;
  out.threads = crew.size();
  const probe::VectorUnit unit = probe::widest_unit();
  out.vector_unit = unit.name;
  out.simd_bits = unit.bits;
  for (const probe::OperationLoop& loop : unit.loops) out.operations.push_back(measure_operation(crew, options, loop));
  // Other work slowed what reads slower than a wider type does: it is measured again, and the best counts.
  for (int again = 0; again < kAgain; ++again)
    for (std::size_t i = 0; i < unit.loops.size(); ++i) {
      if (faster_wider_type(out, out.operations[i]) == nullptr) continue;
      ProbeReading more = measure_operation(crew, options, unit.loops[i]);
      more.spread_ratio = std::max(more.spread_ratio, out.operations[i].spread_ratio);
      if (more.per_second > out.operations[i].per_second) out.operations[i] = std::move(more);
    }
  if (probe::chain_clocks(1) > 0) {
    const std::int64_t rounds = calibrate(probe::run_chain, options.time_ns / kRepetitions);
    const auto times = crew.time([](int) {}, [&](int) { probe::run_chain(rounds); });
    out.clock_hz = reading("clock", static_cast<double>(probe::chain_clocks(rounds)), times).per_second;
  }
  AACO_TRY(measure_memory(crew, options, machine, out));
  measure_caches(crew, options, machine, out);
  return out;
}

}  // namespace aaco::hardware
