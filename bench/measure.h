#pragma once

#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace aaco::bench {

inline double peak_mib(int who) {
  rusage use = {};
  ::getrusage(who, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

inline void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "check failed: {}\n", what);
  std::exit(1);
}

// CPU time of all threads of this process so far, seconds.
inline double cpu_seconds() {
  rusage use = {};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// `cpu`: CPU seconds it took, which tell the cost where the machine is shared.
inline void print(const char* what, double bytes, std::int64_t events, double seconds, double cpu) {
  fmt::print("{:<30} {:6.0f} MB/s {:6.0f} MB/CPU-s {:9.0f} events/s {:6.1f} s  peak {:4.0f} MiB\n", what, bytes / 1e6 / seconds,
             bytes / 1e6 / cpu, static_cast<double>(events) / seconds, seconds, peak_mib(RUSAGE_SELF));
  std::fflush(stdout);
}

}  // namespace aaco::bench
