#include "workflows/session/stop_count.h"

#include <atomic>

namespace aaco::workflows {
namespace {

std::atomic<std::int64_t> continued{0};  // a signal handler reaches nothing else
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

void on_continue(int /*number*/) { continued.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

StopCount::StopCount() {
  struct sigaction action {};
  action.sa_handler = &on_continue;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCONT, &action, &before_);
}

StopCount::~StopCount() { ::sigaction(SIGCONT, &before_, nullptr); }

std::int64_t StopCount::count() const { return continued.load(std::memory_order_relaxed); }

}  // namespace aaco::workflows
