#include "analytics/run_path.h"

#include <algorithm>

#include "analytics/sleep_causes.h"

namespace aaco::analytics::scheduling {
namespace {

constexpr int kLongestChain = 32;  // processes and threads that wait for each other in a chain

// Waits that another thread ends: what that one did meanwhile is what took the time.
bool ends_by_another(const RunPath::Sleep& why) {
  const auto& [detail, call] = why;
  return call == "wait4" || call == "waitid" || call == "vfork" || sleep_reason(detail, call) == SleepReason::handoff;
}

}  // namespace

double RunPath::Totals::sum_ns() const {
  double sum = runnable.ns;
  for (const auto& [thread, part] : running) sum += part.ns;
  for (const auto& [why, part] : asleep) sum += part.ns;
  return sum;
}

void RunPath::add(const trace::SchedEventRow& row, std::string_view kind, std::string_view detail, std::string_view call) {
  const bool off = kind == "off_cpu";
  if (row.duration_ns <= 0 || (!off && kind != "run" && kind != "run_queue")) return;
  if (rows_ >= kMaxRows) {
    whole_ = false;
    return;
  }
  ++rows_;
  Interval one{row.time_ns, row.time_ns + row.duration_ns, 0, 0, State::running};
  if (off) {
    one.state = State::asleep;
    one.woken_by = static_cast<std::uint32_t>(row.other_thread_id.value_or(0));
    const auto [found, fresh] = index_.try_emplace(Sleep(detail, call), static_cast<std::uint32_t>(reasons_.size()));
    if (fresh) reasons_.push_back(found->first);
    one.why = found->second;
  } else if (kind == "run_queue") {
    one.state = State::runnable;
  }
  threads_[row.thread_id].push_back(one);
}

void RunPath::take(std::int64_t thread, const Interval& one, std::int64_t ns, Totals& totals) const {
  if (ns <= 0) return;
  Part& part = one.state == State::running    ? totals.running[thread]
               : one.state == State::runnable ? totals.runnable
                                              : totals.asleep[reasons_[one.why]];
  part.ns += static_cast<double>(ns);
  ++part.count;
  if (!one.woken) return;
  Part& after = totals.woken[reasons_[one.why]];
  after.ns += static_cast<double>(ns);
  ++after.count;
}

void RunPath::sort() {
  for (auto& [thread, intervals] : threads_) {
    std::sort(intervals.begin(), intervals.end(), [](const Interval& x, const Interval& y) {
      return std::pair(x.start_ns, x.end_ns) < std::pair(y.start_ns, y.end_ns);
    });
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      const Interval& before = intervals[i - 1];
      Interval& one = intervals[i];
      one.woken = one.state == State::runnable && before.state == State::asleep && before.end_ns == one.start_ns;
      if (one.woken) one.why = before.why;
    }
  }
}

// `waits`: the sleep that `within` is of, which keeps the time that `thread` has no event for. Null: nothing keeps it.
void RunPath::divide(std::int64_t thread, Span within, int depth, const Interval* waits, Totals& totals) const {
  const auto found = threads_.find(thread);
  std::int64_t at = within.start_ns;
  if (found != threads_.end()) {
    auto one = std::partition_point(found->second.begin(), found->second.end(),
                                    [&](const Interval& each) { return each.end_ns <= within.start_ns; });
    for (; one != found->second.end() && one->start_ns < within.end_ns; ++one) {
      const Span piece{std::max(one->start_ns, at), std::min(one->end_ns, within.end_ns)};
      if (piece.end_ns <= piece.start_ns) continue;
      if (waits != nullptr) take(thread, *waits, piece.start_ns - at, totals);
      at = piece.end_ns;
      const bool follow = one->state == State::asleep && depth < kLongestChain && one->woken_by != 0 && one->woken_by != thread &&
                          ends_by_another(reasons_[one->why]) && threads_.contains(one->woken_by);
      if (follow)
        divide(one->woken_by, piece, depth + 1, &*one, totals);
      else
        take(thread, *one, piece.end_ns - piece.start_ns, totals);
    }
  }
  if (waits != nullptr) take(thread, *waits, within.end_ns - at, totals);
}

RunPath::Totals RunPath::totals(std::int64_t thread_id) {
  Totals totals;
  sort();
  const auto found = threads_.find(thread_id);
  if (found == threads_.end()) return totals;
  std::int64_t end = 0;
  for (const Interval& one : found->second) end = std::max(end, one.end_ns);
  divide(thread_id, {found->second.front().start_ns, end}, 0, nullptr, totals);
  return totals;
}

}  // namespace aaco::analytics::scheduling
