#include "cli/signals.h"

#include <signal.h>

#include <atomic>

#include "cli/context.h"

namespace aaco::cli {
namespace {

constexpr int kSwitchHooks = 8;  // after SIGRTMIN: ours, not the child's

// A handler has no arguments of ours: what it needs is here.
std::atomic<bool> stop_requested{false};
std::atomic<bool> terminal_lent{false};
workflows::SignalRelay relay;

void ask_to_stop(int number) {
  const bool again = stop_requested.exchange(true);
  if (!again || relay.holding) return;
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void handle(int number, siginfo_t* sender, void*) {
  if (number == SIGRTMIN + kSwitchHooks) {
    relay.hooks_off = !relay.hooks_off;
    return;
  }
  if (terminal_lent && sender->si_code == SI_KERNEL) return;  // the child got it from the terminal, too
  if (const int target = relay.target; target != 0) {
    relay.last_passed = number;
    ::kill(target, number);
    return;
  }
  relay.unclaimed = number;
  if (number != SIGUSR1 && number != SIGUSR2 && number != SIGALRM) ask_to_stop(number);
}

// What the caller has set to be ignored stays so (nohup).
void listen_to(int number) {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN && number == SIGHUP) return;
  action = {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(number, &action, nullptr);
}

}  // namespace

void listen_for_stop(Context& context) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) listen_to(number);
  ::signal(SIGPIPE, SIG_IGN);
  context.stop = &stop_requested;
  context.terminal_lent = &terminal_lent;
}

workflows::SignalRelay& relay_signals() {
  for (const int number : {SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN + kSwitchHooks}) listen_to(number);
  return relay;
}

}  // namespace aaco::cli
