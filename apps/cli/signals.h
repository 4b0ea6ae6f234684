#pragma once

#include "workflows/signal_relay.h"

namespace aaco::cli {

struct Context;

// The first SIGINT, SIGTERM or SIGHUP asks the program to stop (Context::stop), the second ends it at once. A Ctrl-C of the
// terminal is the child's alone while a child has the terminal.
void listen_for_stop(Context& context);

// For a verb with a child: further signals (SIGQUIT, SIGUSR1 ...) are caught as well, and all are passed on while the relay has a
// target.
workflows::SignalRelay& relay_signals();

}  // namespace aaco::cli
