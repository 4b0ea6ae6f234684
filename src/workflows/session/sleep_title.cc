#include "workflows/session/sleep_title.h"

#include "analytics/sleep_causes.h"

namespace aaco::workflows {

using analytics::scheduling::SleepReason;

namespace {
constexpr std::string_view kNotRecorded = "cause not recorded";
}

bool is_storage_sleep(std::string_view detail, std::string_view call) {
  const auto why = analytics::scheduling::sleep_reason(detail, call);
  return (why == SleepReason::io || why == SleepReason::page_faults) && detail != "sleep" && call != "vfork" &&
         (detail == "io" || !call.empty());
}

std::string sleep_title(std::string_view detail, std::string_view call) {
  if (is_storage_sleep(detail, call)) return "storage";
  if (detail == "traced") return "a tracer (strace, gdb)";
  if (call == "wait4" || call == "waitid" || call == "vfork") return "child processes";
  switch (analytics::scheduling::sleep_reason(detail, call)) {
    case SleepReason::handoff: return "lock or hand-over between threads";
    case SleepReason::timer: return "timer";
    case SleepReason::event: return "event";
    case SleepReason::file_lock: return "file lock";
    case SleepReason::peer: return "pipe or network";
    case SleepReason::io: return "I/O";
    case SleepReason::stopped: return "stopped";
    case SleepReason::frozen: return "frozen";
    case SleepReason::page_faults:
    case SleepReason::unknown: break;
  }
  return call.empty() ? std::string(kNotRecorded) : "in system call " + std::string(call);
}

}  // namespace aaco::workflows
