#pragma once

#include <cstdint>
#include <optional>

#include "core/handles.h"
#include "serving/record.h"

namespace aaco::serving {

// Watches the thread of the event loop: its timers' delay, its CPU time, its waits for a CPU.
class OwnState {
 public:
  OwnState();
  // A timer due at `due_ns` was handled at `now_ns`. A sample at the end of each window of kSampleWindowNs.
  std::optional<ClientSample> tick(std::int64_t due_ns, std::int64_t now_ns, std::int64_t open_requests);

  static constexpr std::int64_t kTickNs = 5'000'000;
  static constexpr std::int64_t kSampleWindowNs = 20'000'000;

 private:
  [[nodiscard]] std::optional<std::int64_t> read_run_queue_ns() const;

  core::FileDescriptor schedstat_;  // of this thread; the kernel may not keep it
  std::int64_t window_start_ns_ = 0, cpu_ns_ = 0, lag_ns_ = 0;
  std::optional<std::int64_t> run_queue_ns_;
};

}  // namespace aaco::serving
