#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/worker_process.h"
#include "hardware/fingerprint.h"
#include "runner/loop.h"
#include "trace/rows.h"
#include "workflows/ab_request.h"

namespace aaco::workflows {

// What a measuring process says of a side when it is ready.
struct AbLoaded {
  core::Json described;
  std::vector<runner::TimedCall> warmup;
  [[nodiscard]] std::vector<hardware::Fact> facts(const AbSide& side) const;
  [[nodiscard]] double warm_median_ns() const;  // of the second half of warm-up
};

// Calls in a row, and what the kernel accounts to them.
struct AbBlock {
  std::vector<runner::TimedCall> calls;
  trace::LoopBlockRow account;
};

// The measuring processes of one round. They end with this.
class AbProcesses {
 public:
  // Starts and warms both sides, `b_first`: B before A.
  static core::Result<AbProcesses> start(const AbRequest& request, bool together, bool b_first, const Services& services);
  // Calls of a side (0: A, 1: B) in a row.
  core::Result<AbBlock> run(int side, std::int64_t calls);
  [[nodiscard]] const AbLoaded& loaded(int side) const { return loaded_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] std::int64_t rss_peak_bytes(int side) const { return rss_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] bool together() const { return processes_.size() == 1; }

 private:
  AbProcesses() = default;
  core::Status launch(const AbRequest& request, const std::vector<int>& sides, const Services& services);

  std::vector<core::WorkerProcess> processes_;
  struct Place {
    std::size_t process = 0, number = 0;
  };
  std::array<Place, 2> places_;
  std::array<AbLoaded, 2> loaded_;
  std::array<std::int64_t, 2> rss_{};
};

}  // namespace aaco::workflows
