#include "collectors/ebpf/interval_builder.h"

#include <sys/syscall.h>

#include <algorithm>
#include <vector>

namespace aaco::collectors::ebpf {
namespace {

constexpr std::uint32_t kDead = 0x10 | 0x20 | 0x80;  // EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD of the kernel's task states

constexpr std::int64_t kForgetAfterNs = 1'000'000'000;  // the last switch of a thread follows its end within microseconds

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

IntervalBuilder::IntervalBuilder(trace::Sink& sink, ThreadName thread_name, InterruptName interrupt_name, OffCpu off_cpu)
    : sink_(sink),
      thread_name_(std::move(thread_name)),
      interrupt_name_(std::move(interrupt_name)),
      off_cpu_(std::move(off_cpu)) {}

void IntervalBuilder::begin_window(std::int64_t time_ns) {
  window_begin_ns_ = time_ns;
  for (auto& [id, thread] : threads_) enter(thread, State::unknown, time_ns, {});
}

void IntervalBuilder::end_window(std::int64_t time_ns) {
  std::vector<std::uint32_t> ids;  // in order, so that equal input gives equal rows
  for (const auto& [id, thread] : threads_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const std::uint32_t id : ids) {
    Thread& thread = threads_.at(id);
    tell_unwoken(id, thread, 0);
    if (thread.state != State::unknown) leave(id, thread, time_ns);
    enter(thread, State::unknown, time_ns, {});
    thread.account_ns = 0;
  }
}

IntervalBuilder::Thread& IntervalBuilder::thread(std::uint32_t id, std::uint32_t process, std::int64_t) {
  const auto [place, fresh] = threads_.try_emplace(id);
  if (fresh) place->second.since_ns = window_begin_ns_;
  if (process != 0) place->second.process = process;
  return place->second;
}

void IntervalBuilder::enter(Thread& thread, State state, std::int64_t time_ns, trace::NameId detail) {
  thread.state = state;
  thread.since_ns = time_ns;
  thread.detail = detail;
  thread.call = {};
  thread.other = 0;
  if (state != State::unknown)
    return;  // a wait without a wakeup is told when the thread runs already: its stack stays until then
  thread.call_number = wire_call_none;
  thread.user_stack = thread.kernel_stack = wire_no_stack;
}

void IntervalBuilder::emit(trace::SchedEventRow& row) {
  row.thread_name = name(thread_name_(static_cast<std::uint32_t>(row.process_id), static_cast<std::uint32_t>(row.thread_id)));
  sink_.add(row);
  ++rows_;
}

// Only of a leaving that was heard: what was off since before the window has no stack.
void IntervalBuilder::tell_off_cpu(std::uint32_t id, const Thread& thread, std::int64_t duration_ns) {
  if (!off_cpu_ || (thread.user_stack < 0 && thread.kernel_stack < 0)) return;
  off_cpu_({thread_name_(thread.process, id), thread.process, thread.user_stack, thread.kernel_stack,
            thread.call_number != wire_call_none ? call_name(thread.call_number) : std::string()},
           duration_ns);
}

void IntervalBuilder::leave(std::uint32_t id, Thread& thread, std::int64_t time_ns, std::uint32_t woken_by) {
  if (time_ns <= thread.since_ns) return;
  trace::SchedEventRow row;
  row.time_ns = thread.since_ns;
  row.duration_ns = time_ns - thread.since_ns;
  row.process_id = thread.process;
  row.thread_id = id;
  row.cpu = thread.cpu;
  row.detail = thread.detail;
  row.call = thread.call;
  switch (thread.state) {
    case State::running: row.kind = name("run"); break;
    case State::queued:
      row.kind = name("run_queue");
      thread.waited_ns += row.duration_ns;
      break;
    default: row.kind = name("off_cpu"); tell_off_cpu(id, thread, row.duration_ns);
  }
  const std::uint32_t other = woken_by != 0 ? woken_by : thread.other;
  if (other != 0) row.other_thread_id = other;
  emit(row);
}

void IntervalBuilder::run_unwoken(Thread& thread, std::int64_t time_ns) {
  thread.unwoken_since_ns = thread.since_ns;
  thread.unwoken_detail = thread.detail;
  thread.unwoken_call = thread.call;
  enter(thread, State::running, time_ns, {});
}

void IntervalBuilder::tell_unwoken(std::uint32_t id, Thread& thread, std::uint64_t account_ns) {
  if (!thread.unwoken_since_ns) return;
  const Thread now = thread;
  std::int64_t missing_ns = 0;
  if (account_ns > thread.account_ns && thread.account_ns > 0)
    missing_ns = std::max<std::int64_t>(0, signed_of(account_ns - thread.account_ns) - thread.waited_ns);
  const std::int64_t woken_ns = std::max(*thread.unwoken_since_ns, now.since_ns - missing_ns);
  enter(thread, State::off, *thread.unwoken_since_ns, thread.unwoken_detail);
  thread.call = thread.unwoken_call;
  leave(id, thread, woken_ns);
  enter(thread, State::queued, woken_ns, name("woken"));
  leave(id, thread, now.since_ns);
  const std::int64_t waited_ns = thread.waited_ns;
  thread = now;
  thread.waited_ns = waited_ns;
  thread.unwoken_since_ns.reset();
}

void IntervalBuilder::enter_unheard(std::uint32_t id, Thread& thread, const WireEvent& event) {
  const std::int64_t time_ns = signed_of(event.time_ns);
  std::int64_t begin_ns = thread.since_ns;
  if (const auto last = last_switch_ns_.find(event.cpu); last != last_switch_ns_.end())
    begin_ns = std::max(begin_ns, last->second);
  if (event.duration_ns > 0 && event.duration_ns < event.time_ns)
    begin_ns = std::max(begin_ns, time_ns - signed_of(event.duration_ns));
  begin_ns = std::min(begin_ns, time_ns);
  if (thread.state == State::off) return run_unwoken(thread, begin_ns);
  if (thread.state != State::unknown) leave(id, thread, begin_ns);
  enter(thread, State::running, begin_ns, {});
}

void IntervalBuilder::on_switch(const WireEvent& event) {
  const std::int64_t time_ns = signed_of(event.time_ns);
  if (event.process != 0) {
    Thread& prev = thread(event.thread, event.process, time_ns);
    if (prev.state != State::running) enter_unheard(event.thread, prev, event);
    tell_unwoken(event.thread, prev, event.wait_ns);
    prev.cpu = event.cpu;
    leave(event.thread, prev, time_ns);
    prev.account_ns = event.wait_ns;
    prev.waited_ns = 0;
    const std::uint32_t state = event.state & wire_state_mask;
    const bool preempted = (event.state & wire_state_preempted) != 0;
    if (!preempted && (state & kDead) != 0) {
      threads_.erase(event.thread);
    } else if (preempted || state == 0) {
      // The kernel passes a thread over at the end of a system call or an interrupt without saying that it preempts.
      enter(prev, State::queued, time_ns, name(event.call == SYS_sched_yield && !preempted ? "yielded" : "preempted"));
      prev.other = event.other_thread;
    } else {
      enter(prev, State::off, time_ns, name(off_cpu_reason(event.state, event.call != wire_call_none)));
      if (event.call != wire_call_none) prev.call = name(call_name(event.call));
      prev.call_number = event.call;
      prev.user_stack = event.user_stack;
      prev.kernel_stack = event.kernel_stack;
    }
  }
  if (event.value != 0) {
    Thread& next = thread(event.other_thread, static_cast<std::uint32_t>(event.value), time_ns);
    // Whatever takes a CPU was ready for it: since the window began, where no wakeup has been seen.
    if (next.state == State::unknown) next.state = State::queued;
    next.cpu = event.cpu;
    if (next.state == State::off) {
      run_unwoken(next, time_ns);
    } else if (next.state != State::running) {
      leave(event.other_thread, next, time_ns);
      enter(next, State::running, time_ns, {});
    }
  }
  last_switch_ns_[event.cpu] = time_ns;
}

void IntervalBuilder::on_wakeup(const WireEvent& event) {
  const std::int64_t time_ns = signed_of(event.time_ns);
  Thread& woken = thread(event.thread, event.process, time_ns);
  if ((event.state & wire_state_new) != 0) {
    enter(woken, State::queued, time_ns, name("new"));
  } else if (woken.state == State::off || woken.state == State::unknown) {
    woken.state = State::off;
    leave(event.thread, woken, time_ns, event.other_thread);
    enter(woken, State::queued, time_ns, name("woken"));
  } else {
    return;  // woken before it had left its CPU: nothing changes for it
  }
  woken.other = event.other_thread;
}

trace::SchedEventRow IntervalBuilder::row_of(const WireEvent& event, trace::NameId kind) {
  trace::SchedEventRow row;
  row.time_ns = signed_of(event.time_ns);
  row.kind = kind;
  row.cpu = event.cpu;
  row.process_id = event.process;
  row.thread_id = event.thread;
  return row;
}

void IntervalBuilder::on_instant(const WireEvent& event) {
  trace::SchedEventRow row = row_of(event, {});
  row.duration_ns = std::max<std::int64_t>(0, signed_of(event.duration_ns));
  switch (event.kind) {
    case wire_fault:
      row.kind = name("page_fault");
      row.detail = name(fault_name(event.state));
      break;
    case wire_irq:
      row.kind = name("irq");
      row.detail = name(event.state == WIRE_TIMER ? "local_timer" : interrupt_name_(event.state));
      break;
    case wire_softirq:
      row.kind = name("softirq");
      row.detail = name(soft_interrupt_name(event.state));
      break;
    case wire_block:
      row.kind = name("block_io");
      row.detail = name(block_operation_name(event.state));
      row.bytes = signed_of(event.value);
      break;
    case wire_gpu_job:
      row.kind = name("gpu_job");
      row.detail = name("running");
      if (event.value > 0 && event.value < event.time_ns) {
        trace::SchedEventRow queued = row;
        queued.detail = name("queued");
        queued.duration_ns = signed_of(event.value);
        queued.time_ns -= queued.duration_ns;
        emit(queued);
      }
      break;
    case wire_gpu_fence:
      row.kind = name("gpu_fence");
      row.detail = name((event.state & wire_state_waited) != 0 ? "waited" : "pending");
      break;
    case wire_gpu_buffer:
      row.kind = name("gpu_buffer");
      row.detail = name((event.state & wire_state_freed) != 0 ? "freed" : "created");
      row.bytes = signed_of(event.value);
      break;
    case wire_gpu_memory:
      row.kind = name("gpu_memory");
      row.detail = name(((event.state & wire_state_freed) != 0 ? "freed: " : "allocated: ") +
                        std::string(gpu_domain_name(event.state & wire_state_mask)));
      if (event.value > 0) row.bytes = signed_of(event.value);
      break;
    default: return;
  }
  emit(row);
}

void IntervalBuilder::on_exit(const WireEvent& event) {
  const std::int64_t time_ns = signed_of(event.time_ns);
  ended_.emplace_back(time_ns, event.thread);
  while (!ended_.empty() && ended_.front().first + kForgetAfterNs <= time_ns) {
    const auto [when, id] = ended_.front();
    ended_.pop_front();
    // Its id may be another thread's by now.
    if (const auto found = threads_.find(id); found != threads_.end() && found->second.since_ns <= when) threads_.erase(found);
  }
}

void IntervalBuilder::add(const WireEvent& event) {
  switch (event.kind) {
    case wire_switch: return on_switch(event);
    case wire_wakeup: return on_wakeup(event);
    case wire_migrate: {
      Thread& moved = thread(event.thread, event.process, signed_of(event.time_ns));
      trace::SchedEventRow row = row_of(event, name("migrate"));
      if (moved.cpu >= 0) row.detail = name("cpu" + std::to_string(moved.cpu));
      row.cpu = moved.cpu = signed_of(event.value);
      return emit(row);
    }
    case wire_fork: return;  // the switches and the first wakeup tell what is on the CPU
    case wire_exit: return on_exit(event);
    default: return on_instant(event);
  }
}

}  // namespace aaco::collectors::ebpf
