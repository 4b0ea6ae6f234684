#pragma once

#include <atomic>

namespace aaco::workflows {

// Between the program's signal handler and a child that is observed: while it has a target, each signal is passed to the child as
// it is, and the child decides what comes of it. All members are lock-free, for the handler reads and writes them.
struct SignalRelay {
  std::atomic<int> target{0};          // as kill() takes it: a process, a group (negative), or nobody (0)
  std::atomic<bool> holding{false};    // no signal ends the program: a session is being recorded or written
  std::atomic<int> last_passed{0};     // the number of the last signal that was passed on
  std::atomic<bool> hooks_off{false};  // each SIGRTMIN+8 changes it (record --hooks)
  std::atomic<int> unclaimed{0};       // the last signal that arrived without a target
};

}  // namespace aaco::workflows
