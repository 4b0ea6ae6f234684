#include <algorithm>

#include "analytics/scheduling.h"

namespace aaco::analytics::scheduling {

void Summary::add(const trace::SchedEventRow& row, const trace::NameTable& names) {
  const std::string_view kind = names.text(row.kind);
  const std::int64_t duration_ns = std::max<std::int64_t>(row.duration_ns, 0);
  if (kind != "run") {
    // A migration's detail is where it came from: of no use in a sum.
    Reason& reason = reasons_[{std::string(kind), kind == "migrate" ? std::string() : std::string(names.text(row.detail)),
                               std::string(names.text(row.call))}];
    ++reason.count;
    reason.total_ns += duration_ns;
    reason.longest_ns = std::max(reason.longest_ns, duration_ns);
    reason.bytes += row.bytes.value_or(0);
    add_woken(row, kind, reason);
  }
  if (kind == "run_queue") waits_.push_back(duration_ns);
  if (threads_.size() >= kMaxThreads && !threads_.contains(row.thread_id)) return;
  Thread& thread = threads_[row.thread_id];
  thread.process_id = row.process_id;
  if (const auto name = names.text(row.thread_name); !name.empty()) thread.name = name;
  if (kind == "run") thread.run_ns += duration_ns;
  if (kind == "run_queue") thread.run_queue_ns += duration_ns;
  if (kind == "off_cpu") thread.off_cpu_ns += duration_ns;
  if (kind == "migrate") ++thread.migrations;
  if (kind == "page_fault") ++thread.faults;
}

void Summary::add_woken(const trace::SchedEventRow& row, std::string_view kind, Reason& reason) {
  const auto last = last_sleeps_.find(row.thread_id);
  if (kind == "off_cpu") {
    if (last == last_sleeps_.end() && last_sleeps_.size() >= kMaxThreads) return;
    last_sleeps_[row.thread_id] = {row.time_ns + row.duration_ns, &reason};
  } else if (kind == "run_queue" && last != last_sleeps_.end() && last->second.end_ns == row.time_ns) {
    last->second.reason->woken_ns += std::max<std::int64_t>(row.duration_ns, 0);
  }
}

trace::Metrics Summary::metrics() const {
  constexpr std::size_t kMinForTail = 100;  // a hundredth of fewer is no value of the sample
  trace::Metrics out;
  if (waits_.empty()) return out;
  std::vector<std::int64_t> sorted = waits_;
  std::sort(sorted.begin(), sorted.end());
  const auto add = [&](std::string id, std::int64_t value) {
    out.push_back({std::move(id), static_cast<double>(value), "ns", {}, {}});
  };
  add("sched.run_queue_p50_ns", sorted[sorted.size() / 2]);
  if (sorted.size() >= kMinForTail) add("sched.run_queue_p99_ns", sorted[sorted.size() * 99 / 100]);
  add("sched.run_queue_max_ns", sorted.back());
  return out;
}

}  // namespace aaco::analytics::scheduling
