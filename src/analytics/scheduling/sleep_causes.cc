#include "analytics/sleep_causes.h"

#include <algorithm>
#include <string>

namespace aaco::analytics::scheduling {
namespace {

constexpr std::array<std::string_view, kSleepCauses> kNames = {"workers_computing",
                                                               "workers_waiting",
                                                               "io",
                                                               "page_faults",
                                                               "lock",
                                                               "timer",
                                                               "stopped",
                                                               "frozen",
                                                               "awaited_thread_asleep",
                                                               "peer",
                                                               "unknown"};
constexpr int kMaxDepth = 16;  // threads that wait for each other in a chain

constexpr std::array<std::string_view, 6> kDetails = {"sleep", "disk_sleep", "io", "stopped", "traced", "frozen"};
constexpr std::string_view kFutex = "futex";
constexpr std::array<std::string_view, 2> kTimers = {"nanosleep", "clock_nanosleep"};
constexpr std::array<std::string_view, 8> kEvents = {"poll",       "ppoll",       "select",       "pselect6",
                                                     "epoll_wait", "epoll_pwait", "epoll_pwait2", "rt_sigtimedwait"};
// Asleep (not in uninterruptible sleep) in these, a thread waits for the other end of a pipe or socket: storage is waited for
// uninterruptibly.
constexpr std::array<std::string_view, 20> kTransfers = {
    "read",   "write",   "readv",   "writev",   "recvfrom", "sendto", "recvmsg", "sendmsg", "recvmmsg",        "sendmmsg",
    "accept", "accept4", "connect", "sendfile", "splice",   "tee",    "msgrcv",  "msgsnd",  "mq_timedreceive", "mq_timedsend"};
constexpr std::array<std::string_view, 2> kChildren = {"wait4", "waitid"};
// Asynchronous I/O, and calls for files alone.
constexpr std::array<std::string_view, 8> kFiles = {"pread64", "pwrite64",  "preadv",       "pwritev",
                                                    "fsync",   "fdatasync", "io_getevents", "io_uring_enter"};
constexpr std::array<std::string_view, 2> kFileLocks = {"flock", "fcntl"};  // fcntl: a lock on a range (F_SETLKW)

template <class List>
bool in(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void add_to(std::array<double, kSleepCauses>& totals, SleepCause cause, std::int64_t ns) {
  totals.at(static_cast<std::size_t>(cause)) += static_cast<double>(std::max<std::int64_t>(0, ns));
}

SleepCause cause_of(SleepReason reason, bool woken_by_interrupt) {
  switch (reason) {
    case SleepReason::handoff: return woken_by_interrupt ? SleepCause::timer : SleepCause::lock;
    case SleepReason::file_lock: return SleepCause::lock;
    case SleepReason::peer: return SleepCause::peer;
    case SleepReason::event:
    case SleepReason::timer: return SleepCause::timer;
    case SleepReason::io: return SleepCause::io;
    case SleepReason::page_faults: return SleepCause::page_faults;
    case SleepReason::stopped: return SleepCause::stopped;
    case SleepReason::frozen: return SleepCause::frozen;
    case SleepReason::unknown: break;
  }
  return SleepCause::unknown;
}

}  // namespace

std::string_view to_string(SleepCause cause) { return kNames.at(static_cast<std::size_t>(cause)); }

std::string metric_of(SleepCause cause) { return "sched.sleep_" + std::string(to_string(cause)) + "_per_iteration_ns"; }

SleepReason sleep_reason(std::string_view detail, std::string_view call) {
  if (detail == "stopped" || detail == "traced") return SleepReason::stopped;
  if (detail == "frozen") return SleepReason::frozen;
  if (detail == "io" || detail == "disk_sleep") return call.empty() ? SleepReason::page_faults : SleepReason::io;
  if (detail != "sleep") return SleepReason::unknown;
  if (call == kFutex) return SleepReason::handoff;
  if (in(kTimers, call)) return SleepReason::timer;
  if (in(kEvents, call)) return SleepReason::event;
  if (in(kFileLocks, call)) return SleepReason::file_lock;
  if (in(kTransfers, call) || in(kChildren, call)) return SleepReason::peer;
  return in(kFiles, call) ? SleepReason::io : SleepReason::unknown;
}

std::span<const std::string_view> known_details() { return kDetails; }

std::vector<std::string_view> known_calls() {
  std::vector<std::string_view> calls;
  calls.push_back(kFutex);
  for (const std::string_view call : kTimers) calls.push_back(call);
  for (const std::string_view call : kEvents) calls.push_back(call);
  for (const std::string_view call : kTransfers) calls.push_back(call);
  for (const std::string_view call : kChildren) calls.push_back(call);
  for (const std::string_view call : kFiles) calls.push_back(call);
  for (const std::string_view call : kFileLocks) calls.push_back(call);
  return calls;
}

SleepCauses::SleepCauses(std::vector<Span> iterations, std::int64_t process_id, std::int64_t caller_thread)
    : iterations_(std::move(iterations)), process_id_(process_id), caller_(caller_thread) {}

void SleepCauses::add(const trace::SchedEventRow& row, std::string_view kind, SleepReason reason) {
  if (row.process_id != process_id_ || row.duration_ns <= 0 || rows_ >= kMaxRows || iterations_.empty()) return;
  if (row.time_ns >= iterations_.back().end_ns || row.time_ns + row.duration_ns <= iterations_.front().start_ns) return;
  Interval one{row.time_ns, row.time_ns + row.duration_ns, 0, State::run, SleepReason::unknown};
  if (kind == "off_cpu") {
    one.state = State::off;
    one.reason = reason;
    one.woken_by = static_cast<std::uint32_t>(row.other_thread_id.value_or(0));
  } else if (kind == "run_queue") {
    one.state = State::queue;
  } else if (kind != "run") {
    return;
  }
  threads_[row.thread_id].push_back(one);
  ++rows_;
  sorted_ = false;
}

void SleepCauses::sort() {
  if (sorted_) return;
  for (auto& [id, intervals] : threads_)
    std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  sorted_ = true;
}

void SleepCauses::divide_sleep(std::int64_t thread, const Interval& sleep, Span within, int depth, Totals& totals) const {
  const bool by_thread = sleep.woken_by != 0 && sleep.woken_by != thread && threads_.contains(sleep.woken_by);
  const bool may_follow = sleep.reason != SleepReason::timer && sleep.reason != SleepReason::stopped &&
                          sleep.reason != SleepReason::frozen && sleep.reason != SleepReason::page_faults;
  if (by_thread && may_follow && depth < kMaxDepth) return divide_thread(sleep.woken_by, within, depth + 1, totals);
  const SleepCause cause = cause_of(sleep.reason, sleep.woken_by == 0);
  const std::int64_t ns = within.end_ns - within.start_ns;
  if (depth == 0 || cause != SleepCause::timer) return add_to(totals.by_cause, cause, ns);
  add_to(totals.by_cause, SleepCause::awaited_thread_asleep, ns);
  totals.awaited[thread] += static_cast<double>(ns);
}

void SleepCauses::divide_thread(std::int64_t thread, Span within, int depth, Totals& totals) const {
  const std::vector<Interval>& intervals = threads_.at(thread);
  std::int64_t seen = 0;
  for (auto one = std::partition_point(intervals.begin(), intervals.end(),
                                       [&](const Interval& each) { return each.end_ns <= within.start_ns; });
       one != intervals.end() && one->start_ns < within.end_ns; ++one) {
    const Span part{std::max(one->start_ns, within.start_ns), std::min(one->end_ns, within.end_ns)};
    seen += part.end_ns - part.start_ns;
    if (one->state == State::off)
      divide_sleep(thread, *one, part, depth, totals);
    else
      add_to(totals.by_cause, one->state == State::run ? SleepCause::workers_computing : SleepCause::workers_waiting,
             part.end_ns - part.start_ns);
  }
  add_to(totals.by_cause, SleepCause::unknown, within.end_ns - within.start_ns - seen);
}

SleepCauses::Totals SleepCauses::divided() {
  sort();
  Totals totals;
  const auto caller = threads_.find(caller_);
  if (caller == threads_.end()) return totals;
  auto span = iterations_.begin();
  for (const Interval& one : caller->second) {
    if (one.state != State::off) continue;
    while (span != iterations_.end() && span->end_ns <= one.start_ns) ++span;
    for (auto inside = span; inside != iterations_.end() && inside->start_ns < one.end_ns; ++inside)
      divide_sleep(caller_, one, {std::max(one.start_ns, inside->start_ns), std::min(one.end_ns, inside->end_ns)}, 0, totals);
  }
  return totals;
}

trace::Metrics SleepCauses::metrics() {
  trace::Metrics out;
  if (iterations_.empty() || rows_ == 0) return out;
  const auto totals = totals_ns();
  for (std::size_t i = 0; i < kSleepCauses; ++i)
    out.push_back({metric_of(static_cast<SleepCause>(i)), totals.at(i) / static_cast<double>(iterations_.size()), "ns", {}, {}});
  return out;
}

}  // namespace aaco::analytics::scheduling
