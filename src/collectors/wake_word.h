#pragma once

#include <atomic>
#include <cstdint>

namespace aaco::collectors {

// A number that one thread changes and another waits on (a futex): the wait ends at a change or at an absolute deadline on
// the monotonic clock, and costs one system call. Values only ever grow, so a change is never missed.
class WakeWord {
 public:
  [[nodiscard]] std::uint32_t load() const { return value_.load(std::memory_order_acquire); }
  void store_and_wake(std::uint32_t value);
  // Returns immediately if the value is no longer `seen`; may return early.
  void wait_change(std::uint32_t seen) const;
  void wait_change_until(std::uint32_t seen, std::int64_t deadline_ns) const;

 private:
  std::atomic<std::uint32_t> value_{0};
};

}  // namespace aaco::collectors
