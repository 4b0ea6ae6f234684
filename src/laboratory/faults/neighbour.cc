#include "laboratory/faults/neighbour.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "core/clock.h"
#include "core/cpu_set.h"

// What runs in the children makes system calls only and allocates by mmap.
namespace aaco::laboratory::faults {
namespace {

constexpr std::int64_t kTurnNs = 20'000'000;  // a neighbour works for a share of each turn
constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr double kInterruptsPerSecond = 50'000;
constexpr double kMovesPerSecond = 1'000;
constexpr std::int64_t kHoldNs = 20'000'000;  // threads that chose a CPU themselves are put back after at most this long

void wait_until(std::int64_t deadline_ns) { core::SystemClock().sleep_until(deadline_ns); }

// Works in pieces of well below a millisecond for a share of the time.
template <class Work>
[[noreturn]] void work_in_turns(double share, Work work) {
  for (std::int64_t turn = core::monotonic_ns();; turn = std::max(turn + kTurnNs, core::monotonic_ns() - kTurnNs)) {
    const auto until = turn + static_cast<std::int64_t>(share * static_cast<double>(kTurnNs));
    while (core::monotonic_ns() < until) work();
    if (share < 1) wait_until(turn + kTurnNs);
  }
}

[[noreturn]] void spin(double share) {
  volatile std::uint64_t state = 1;
  work_in_turns(share, [&] {
    for (int i = 0; i < 20'000; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  });
}

[[noreturn]] void multiply_matrices(double share) {
  constexpr std::size_t kSide = 64;
  static std::array<float, kSide * kSide> a, b, c;
  a.fill(0.5F);
  b.fill(0.25F);
  work_in_turns(share, [&] {
    for (std::size_t i = 0; i < kSide; ++i)
      for (std::size_t k = 0; k < kSide; ++k)
        for (std::size_t j = 0; j < kSide; ++j) c[i * kSide + j] += a[i * kSide + k] * b[k * kSide + j];
    a[0] = c[0] * 1e-6F;
  });
}

[[noreturn]] void call_the_kernel(double share) {
  work_in_turns(share, [] {
    for (int i = 0; i < 500; ++i) ::syscall(SYS_getppid);
  });
}

char* take_memory() {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  return static_cast<char*>(memory);
}

[[noreturn]] void move_memory(double share, std::string_view how) {
  char* const memory = take_memory();
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  constexpr std::size_t kHalf = kBytes / 2;
  std::size_t at = 0;
  std::uint64_t state = 1;
  volatile std::uint64_t sum = 0;
  work_in_turns(share, [&] {
    at = (at + kPiece) % kHalf;
    if (how == "copy") {
      std::memcpy(memory + at, memory + kHalf + at, kPiece);
    } else if (how == "write") {
      std::memset(memory + at, static_cast<int>(at), kPiece);
    } else {
      for (int i = 0; i < 2'000; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        sum = sum + static_cast<unsigned char>(memory[(state >> 16) % kBytes]);
      }
    }
  });
}

[[noreturn]] void tick(double share) {
  const int timer = ::timerfd_create(CLOCK_MONOTONIC, 0);
  const long period = std::lround(1e9 / (kInterruptsPerSecond * share));
  itimerspec spec{};
  spec.it_interval.tv_nsec = spec.it_value.tv_nsec = std::min(period, 999'999'999L);
  ::timerfd_settime(timer, 0, &spec, nullptr);
  for (std::uint64_t count = 0;;)
    if (::read(timer, &count, sizeof count) < 0) ::_exit(1);
}

// Two processes on two CPUs that wake each other over pipes: an interrupt from CPU to CPU each time.
[[noreturn]] void ping(double share, int other_cpu) {
  std::array<int, 2> there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) ::_exit(1);
  char byte = 0;
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    core::pin_to({other_cpu});
    while (::read(there[0], &byte, 1) == 1 && ::write(back[1], &byte, 1) == 1) {
    }
    ::_exit(0);
  }
  work_in_turns(share, [&] {
    for (int i = 0; i < 20; ++i)
      if (::write(there[1], &byte, 1) != 1 || ::read(back[0], &byte, 1) != 1) ::_exit(1);
  });
}

// Puts every thread of `target` on one of the CPUs, again and again: each time on the next one, all threads of a turn on CPUs in
// a row. Of one CPU that holds them there, also those that begin later or choose CPUs themselves.
[[noreturn]] void place_threads(pid_t target, std::int64_t period_ns, const std::vector<int>& cpus) {
  const std::string folder = "/proc/" + std::to_string(target) + "/task";
  std::size_t turn = 0;
  for (std::int64_t next = core::monotonic_ns();; next += period_ns) {
    DIR* const tasks = ::opendir(folder.c_str());
    if (tasks == nullptr) ::_exit(0);
    ++turn;
    std::size_t number = 0;
    while (const dirent* entry = ::readdir(tasks)) {
      const long id = std::strtol(entry->d_name, nullptr, 10);
      if (id <= 0) continue;
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpus[(turn + number++) % cpus.size()], &set);
      ::sched_setaffinity(static_cast<pid_t>(id), sizeof set, &set);
    }
    ::closedir(tasks);
    wait_until(next + period_ns);
  }
}

class Neighbours final : public Injection {
 public:
  // `restore`: threads of this process were moved about, and may run anywhere again afterwards.
  explicit Neighbours(bool restore) : cpus_(restore ? core::allowed_cpus() : std::vector<int>()) {}
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;
  ~Neighbours() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    if (!cpus_.empty()) core::pin_to(cpus_);
  }

  core::Status start(int cpu, const std::function<void()>& work) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return core::fail_errno(errno, "starting the neighbour process");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      ::setsid();  // not of the run's process tree: accounts count it among other processes
      for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
      if (cpu >= 0) core::pin_to({cpu});
      work();
      ::_exit(0);
    }
    children_.push_back(child);
    return {};
  }

 private:
  std::vector<int> cpus_;
  std::vector<pid_t> children_;
};

std::function<void()> computing(const Fault& fault) {
  const double share = fault.intensity;
  if (fault.generator == "matrix") return [share] { multiply_matrices(share); };
  if (fault.generator == "system_calls") return [share] { call_the_kernel(share); };
  return [share] { spin(share); };
}

}  // namespace

core::Result<std::unique_ptr<Injection>> start_neighbours(const Fault& fault) {
  const std::vector<int> cpus = core::allowed_cpus();
  const std::string& id = fault.kind->id;
  const bool needs_others =
      id == "cpu_hog_other_core" || id == "memory_bandwidth_hog" || id == "migration_storm" || id == "affinity_one_core";
  if (cpus.empty() || (needs_others && cpus.size() < 2))
    return core::fail(core::ErrorCode::unsupported, id + " needs two CPUs, but this process has one",
                      "allow the process more CPUs");
  const int own = ::sched_getcpu();
  auto neighbours = std::make_unique<Neighbours>(id == "migration_storm" || id == "affinity_one_core");
  const double share = fault.intensity;
  if (id == "cpu_hog_same_core") {
    AACO_TRY(neighbours->start(own, computing(fault)));
  } else if (id == "cpu_hog_other_core" || id == "cpu_hog_every_core") {
    for (const int cpu : cpus)
      if (cpu != own || id == "cpu_hog_every_core") AACO_TRY(neighbours->start(cpu, computing(fault)));
  } else if (id == "memory_bandwidth_hog") {
    AACO_TRY(neighbours->start(cpus.back(), [&] { move_memory(share, fault.generator); }));
  } else if (id == "interrupt_storm") {
    for (std::size_t i = 0; i < cpus.size(); ++i)
      AACO_TRY(neighbours->start(cpus[i],
                                 [&] { fault.generator == "pipe" ? ping(share, cpus[(i + 1) % cpus.size()]) : tick(share); }));
  } else {
    const pid_t target = ::getpid();
    const bool hold = id == "affinity_one_core";
    const std::int64_t period_ns = hold ? kHoldNs : static_cast<std::int64_t>(1e9 / (kMovesPerSecond * share));
    const std::vector<int> targets = hold ? std::vector<int>{cpus.front()} : cpus;
    AACO_TRY(neighbours->start(-1, [&] { place_threads(target, period_ns, targets); }));
    if (hold && !core::pin_to(targets)) return core::fail_errno(errno, "setting the CPU affinity");
  }
  return std::unique_ptr<Injection>(std::move(neighbours));
}

}  // namespace aaco::laboratory::faults
