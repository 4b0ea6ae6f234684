#include "serving/client/own_state.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/clock.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "serving/client.h"

namespace aaco::serving {
namespace {

std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

OwnState::OwnState()
    : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)),
      window_start_ns_(core::monotonic_ns()),
      cpu_ns_(thread_cpu_ns()),
      run_queue_ns_(read_run_queue_ns()) {}

std::optional<std::int64_t> OwnState::read_run_queue_ns() const {
  std::array<char, 128> text{};
  const ssize_t size = schedstat_.valid() ? ::pread(schedstat_.get(), text.data(), text.size(), 0) : -1;
  if (size <= 0) return std::nullopt;
  const auto words = core::split_words({text.data(), static_cast<std::size_t>(size)});
  return words.size() < 2 ? std::nullopt : core::parse_i64(words[1]);  // CPU time, time on the run queue, slices
}

std::optional<ClientSample> OwnState::tick(std::int64_t due_ns, std::int64_t now_ns, std::int64_t open_requests) {
  lag_ns_ = std::max(lag_ns_, now_ns - due_ns);
  if (now_ns - window_start_ns_ < kSampleWindowNs) return std::nullopt;
  const std::int64_t cpu_ns = thread_cpu_ns();
  const auto run_queue_ns = read_run_queue_ns();
  ClientSample sample{.time_ns = now_ns,
                      .window_ns = now_ns - window_start_ns_,
                      .loop_lag_ns = lag_ns_,
                      .cpu_ns = cpu_ns - cpu_ns_,
                      .waits = {},
                      .run_queue_ns = {},
                      .open_requests = open_requests};
  if (run_queue_ns && run_queue_ns_) sample.run_queue_ns = *run_queue_ns - *run_queue_ns_;
  window_start_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  run_queue_ns_ = run_queue_ns;
  lag_ns_ = 0;
  return sample;
}

std::int64_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return static_cast<std::int64_t>(raised.rlim_cur);
  }
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace aaco::serving
