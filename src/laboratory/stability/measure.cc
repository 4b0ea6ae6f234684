#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <numeric>
#include <string>

#include "collectors/block_account.h"
#include "core/clock.h"
#include "core/handles.h"
#include "laboratory/stability.h"

namespace aaco::laboratory::stability {
namespace {

using analytics::noise::StabilitySample;

constexpr std::int64_t kSpinNs = 1'000'000;                  // aimed at
constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;  // beyond the caches of one core's share
constexpr std::int64_t kSettleNs = 50'000'000;               // at the beginning of a process, not counted
constexpr std::size_t kLoops = 2;

std::uint64_t spin(std::int64_t steps) {
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < steps; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state;
}

std::uint64_t pass(const std::uint64_t* memory) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kMemoryBytes / sizeof(std::uint64_t); i += 8) sum += memory[i];  // a word of each cache line
  return sum;
}

struct Call {
  std::uint64_t loop = 0;
  double duration_ns = 0;
};

// The child: never returns.
[[noreturn]] void work(int out, std::int64_t steps, std::int64_t slice_ns) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  void* const memory = ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  auto* const words = static_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < kMemoryBytes / sizeof(std::uint64_t); ++i) words[i] = i;
  std::array<Call, 4096> calls;
  std::size_t count = 0;
  volatile std::uint64_t sink = 0;
  const std::int64_t begin = core::monotonic_ns();
  for (std::uint64_t loop = 0; count < calls.size(); loop = 1 - loop) {
    const std::int64_t start = core::monotonic_ns();
    if (start - begin >= slice_ns) break;
    sink = sink + (loop == 0 ? spin(steps) : pass(words));
    const std::int64_t end = core::monotonic_ns();
    if (start - begin >= kSettleNs) calls[count++] = {loop, static_cast<double>(end - start)};
  }
  const auto* bytes = reinterpret_cast<const char*>(calls.data());
  for (std::size_t left = count * sizeof(Call); left > 0;) {
    const ssize_t written = ::write(out, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    bytes += written;
    left -= static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

std::int64_t calibrate() {
  constexpr std::int64_t kTrial = 100'000;
  std::int64_t fastest = INT64_MAX;
  volatile std::uint64_t sink = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t start = core::monotonic_ns();
    sink = sink + spin(kTrial);
    fastest = std::min(fastest, core::monotonic_ns() - start);
  }
  return std::max<std::int64_t>(1, kTrial * kSpinNs / std::max<std::int64_t>(1, fastest));
}

core::Status run_process(std::int64_t steps, StabilitySample& sample, collectors::BlockAccount& account) {
  int ends[2];
  if (::pipe(ends) != 0) return core::fail_errno(errno, "creating a pipe to the worker");
  core::FileDescriptor in(ends[0]), out(ends[1]);
  account.begin();
  const std::int64_t start = core::monotonic_ns();
  const pid_t child = ::fork();
  if (child < 0) return core::fail_errno(errno, "starting a worker");
  if (child == 0) work(out.get(), steps, sample.slice_ns);
  out.reset();
  std::string bytes;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(in.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  struct rusage usage {};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  trace::LoopBlockRow row;
  account.end(row);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes.size() % sizeof(Call) != 0)
    return core::fail(core::ErrorCode::io, "a worker exited early", "check that 64 MiB of memory are available");
  row.start_ns = start;
  row.end_ns = core::monotonic_ns();
  row.call_count = static_cast<std::int64_t>(bytes.size() / sizeof(Call));
  const auto ns = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
  };
  row.process_cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
  sample.slices.push_back(row);
  for (auto& loop : sample.loops) loop.processes.emplace_back();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Call)) {
    Call call;
    std::memcpy(&call, bytes.data() + at, sizeof call);
    sample.loops[call.loop % kLoops].processes.back().push_back(call.duration_ns);
  }
  return {};
}

}  // namespace

core::Result<StabilitySample> measure(const Options& options, const std::atomic<bool>& stop,
                                      const std::function<void(std::string_view)>& progress) {
  StabilitySample sample;
  sample.loops = {{"spin", {}}, {"memory", {}}};
  sample.slice_ns = options.duration.count() / std::max(1, options.processes);
  if (sample.slice_ns < 300'000'000)
    return core::fail(core::ErrorCode::invalid_argument, "each process needs at least 300 ms for a verdict",
                      "use --duration " + std::to_string((options.processes * 3 + 9) / 10) + "s or more");
  const std::int64_t steps = calibrate();
  const auto account = collectors::BlockAccount::open({}, ::getpid(), 0);
  for (int number = 0; number < options.processes && !stop; ++number) {
    progress("worker " + std::to_string(number + 1) + " of " + std::to_string(options.processes));
    AACO_TRY(run_process(steps, sample, *account));
  }
  return sample;
}

}  // namespace aaco::laboratory::stability
