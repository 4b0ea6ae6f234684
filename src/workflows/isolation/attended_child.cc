#include "workflows/isolation/attended_child.h"

#include <unistd.h>

#include <csignal>

#include "core/clock.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kGraceNs = 5'000'000'000;  // between passing a stop on and killing

// Whether standard input is a terminal that this process may read: then the child may too, and must stand in the same group.
bool has_terminal() { return ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

}  // namespace

core::Result<AttendedChild> AttendedChild::start(const std::vector<std::string>& command, const Services& services,
                                                 SignalRelay* relay, const Variables& variables) {
  const bool shares_terminal = services.terminal_lent != nullptr && has_terminal();
  core::Command words{.arguments = command, .set_environment = variables, .output = core::Command::Output::inherit};
  if (shares_terminal) {
    words.group = core::Command::Group::callers;
    services.terminal_lent->store(true);
  }
  auto child = core::Child::start(words);
  if (!child) {
    if (shares_terminal) services.terminal_lent->store(false);
    return tl::unexpected<core::Error>(std::move(child.error()));
  }
  if (relay != nullptr) {
    const auto pid = static_cast<int>(child->pid());
    relay->target = shares_terminal ? pid : -pid;
    if (const int missed = relay->unclaimed.exchange(0); missed != 0) child->signal(missed);
  }
  return AttendedChild(std::move(*child), shares_terminal ? services.terminal_lent : nullptr, relay);
}

AttendedChild::AttendedChild(AttendedChild&& other) noexcept
    : child_(std::move(other.child_)), lent_(std::exchange(other.lent_, nullptr)), relay_(std::exchange(other.relay_, nullptr)) {}

AttendedChild::~AttendedChild() {
  if (lent_ != nullptr) lent_->store(false);
  if (relay_ != nullptr) relay_->target = 0;
}

AttendedChild::Ended AttendedChild::wait(std::optional<core::Nanoseconds> duration, const Services& services,
                                         const std::function<void()>& meanwhile) {
  const std::int64_t begin = core::monotonic_ns();
  std::int64_t asked_at = 0;
  const core::SystemClock clock;
  Ended ended;
  for (;;) {
    if (const auto code = child_.poll()) {
      ended.exit_code = *code;
      break;
    }
    const std::int64_t now = core::monotonic_ns();
    const bool over = duration && now - begin >= duration->count();
    const bool stopped = relay_ == nullptr && services.stopping();
    if (asked_at == 0 && (stopped || over)) {
      ended.interrupted = stopped;
      child_.signal(ended.interrupted ? SIGINT : SIGTERM);
      asked_at = now;
    } else if (asked_at != 0 && now - asked_at > kGraceNs) {
      child_.signal(SIGKILL);
      ended.exit_code = child_.wait();
      break;
    }
    meanwhile();
    clock.sleep_until(now + kAttendingPeriodNs);
  }
  ended.usage = child_.usage();
  if (lent_ != nullptr) std::exchange(lent_, nullptr)->store(false);
  if (SignalRelay* const relay = std::exchange(relay_, nullptr)) {
    relay->target = 0;
    const int passed = relay->last_passed;
    ended.interrupted = passed != 0 && ended.exit_code == 128 + passed;
  }
  return ended;
}

}  // namespace aaco::workflows
