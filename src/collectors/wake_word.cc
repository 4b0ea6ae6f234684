#include "collectors/wake_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace aaco::collectors {
namespace {

// FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC; no time means for ever.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, const timespec* deadline) {
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

void WakeWord::store_and_wake(std::uint32_t value) {
  value_.store(value, std::memory_order_release);
  syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void WakeWord::wait_change(std::uint32_t seen) const {
  while (load() == seen) futex_wait(value_, seen, nullptr);
}

void WakeWord::wait_change_until(std::uint32_t seen, std::int64_t deadline_ns) const {
  const timespec deadline{deadline_ns / 1'000'000'000, deadline_ns % 1'000'000'000};
  if (load() == seen) futex_wait(value_, seen, &deadline);
}

}  // namespace aaco::collectors
