#include <algorithm>

#include "analytics/scheduling.h"

namespace aaco::analytics::scheduling {

IterationJoin::IterationJoin(std::vector<Span> iterations, std::int64_t process_id, std::int64_t caller_thread)
    : iterations_(std::move(iterations)), sums_(iterations_.size()), process_id_(process_id), caller_(caller_thread) {}

void IterationJoin::add(const trace::SchedEventRow& row, std::string_view kind) {
  if (row.process_id != process_id_) return;
  const std::int64_t end_ns = row.time_ns + std::max<std::int64_t>(row.duration_ns, 0);
  auto iteration =
      std::partition_point(iterations_.begin(), iterations_.end(), [&](const Span& span) { return span.end_ns <= row.time_ns; });
  const bool instant = kind == "page_fault" || kind == "migrate";
  for (; iteration != iterations_.end() && iteration->start_ns <= (instant ? row.time_ns : end_ns); ++iteration) {
    IterationSums& sums = sums_[static_cast<std::size_t>(iteration - iterations_.begin())];
    if (instant) {
      ++(kind == "page_fault" ? sums.page_faults : sums.migrations);
      return;
    }
    const std::int64_t shared = std::min(end_ns, iteration->end_ns) - std::max(row.time_ns, iteration->start_ns);
    if (shared <= 0) continue;
    if (kind == "run_queue") {
      sums.process_run_queue_ns += shared;
      if (row.thread_id == caller_) sums.caller_run_queue_ns += shared;
    } else if (kind == "off_cpu" && row.thread_id == caller_) {
      sums.caller_off_cpu_ns += shared;
    } else if (kind == "irq" || kind == "softirq") {
      sums.interrupt_ns += shared;
    }
  }
}

std::optional<TypicalCall> typical_call(std::span<const trace::IterationRow> iterations, const trace::NameTable& names) {
  constexpr std::size_t kFewest = 10;
  constexpr double kLow = 0.4, kHigh = 0.6;
  std::vector<const trace::IterationRow*> watched;
  for (const trace::IterationRow& row : iterations)
    if (row.caller_run_queue_ns && row.caller_off_cpu_ns && row.duration_ns > 0 && names.text(row.phase).starts_with("measure"))
      watched.push_back(&row);
  if (watched.size() < kFewest) return std::nullopt;
  std::sort(watched.begin(), watched.end(), [](const auto* x, const auto* y) { return x->duration_ns < y->duration_ns; });
  const auto at = [&](double share) { return static_cast<std::size_t>(share * static_cast<double>(watched.size() - 1)); };
  TypicalCall call;
  for (std::size_t i = at(kLow); i <= at(kHigh); ++i) {
    ++call.calls;
    call.wall_ns += static_cast<double>(watched[i]->duration_ns);
    call.wait_ns += static_cast<double>(*watched[i]->caller_run_queue_ns);
    call.blocked_ns += static_cast<double>(*watched[i]->caller_off_cpu_ns);
  }
  for (double* sum : {&call.wall_ns, &call.wait_ns, &call.blocked_ns}) *sum /= static_cast<double>(call.calls);
  return call;
}

trace::Metrics iteration_metrics(std::span<const trace::IterationRow> iterations) {
  double wall = 0, waiting = 0, off = 0, others = 0, faults = 0, interrupts = 0, moves = 0, count = 0;
  for (const trace::IterationRow& row : iterations) {
    if (!row.caller_run_queue_ns) continue;
    ++count;
    wall += static_cast<double>(row.duration_ns);
    waiting += static_cast<double>(*row.caller_run_queue_ns);
    off += static_cast<double>(row.caller_off_cpu_ns.value_or(0));
    others += static_cast<double>(row.process_run_queue_ns.value_or(0));
    faults += static_cast<double>(row.page_faults.value_or(0));
    interrupts += static_cast<double>(row.interrupt_ns.value_or(0));
    moves += static_cast<double>(row.migrations.value_or(0));
  }
  trace::Metrics out;
  if (count == 0 || wall <= 0) return out;
  const auto add = [&](std::string id, double value, std::string unit) {
    out.push_back({std::move(id), value, std::move(unit), {}, {}});
  };
  add("sched.caller_run_queue_ratio", waiting / wall, "ratio");
  add("sched.caller_off_cpu_ratio", off / wall, "ratio");
  add("sched.process_run_queue_per_iteration_ns", others / count, "ns");
  add("sched.page_faults_per_iteration_count", faults / count, "count");
  add("sched.interrupt_per_iteration_ns", interrupts / count, "ns");
  add("sched.migrations_per_iteration_count", moves / count, "count");
  return out;
}

}  // namespace aaco::analytics::scheduling
