#pragma once

#include <csignal>
#include <initializer_list>

namespace aaco::cli {

// For verbs that have nothing to put in order: they write one file, at their end and as a whole, so that the first Ctrl-C,
// SIGTERM or SIGHUP may end them wherever they are.
inline void stop_at_once() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup it stays so
}

}  // namespace aaco::cli
