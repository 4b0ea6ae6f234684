#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "collectors/ebpf/wire.h"
#include "trace/rows.h"
#include "trace/sink.h"

namespace aaco::collectors::ebpf {

// Texts of numbers that the kernel speaks in; empty where a number is not known.
std::string_view soft_interrupt_name(std::uint32_t vector);
std::string_view block_operation_name(std::uint32_t operation);
std::string_view fault_name(std::uint32_t error_code);
// Where TTM keeps a buffer: "system", "gtt", "vram", "driver's own"; "unknown" where the kernel does not say.
std::string_view gpu_domain_name(std::uint32_t domain);
// Of this machine's architecture: "futex", "epoll_wait"; a number without a name is "syscall 1234".
std::string call_name(std::int32_t call);
// Why a thread that left its CPU by itself does not run: sleep, disk_sleep, io, stopped, traced, frozen, idle. `in_call`: in a
// system call.
std::string_view off_cpu_reason(std::uint32_t state, bool in_call);

// Where a thread was when it left its CPU by itself.
struct OffCpuKey {
  std::string thread;
  std::uint32_t process = 0;
  std::int32_t user_stack = wire_no_stack, kernel_stack = wire_no_stack;
  std::string call;  // empty: none, or unknown
  auto operator<=>(const OffCpuKey&) const = default;
};

// Turns the kernel's events, in order of time, into intervals of each thread: running, waiting for a CPU, off its CPU. Recording
// happens in windows; what reaches over the border of one is cut there, so that the rows of a window say what happened in
// it. A thread that was first seen in the middle of something was in it since the window's beginning.
// Some kernels do not tell of every switch (seen with threads of a virtual machine's own agent, which never leave a CPU by any
// event), and a full ring loses some: a thread that leaves a CPU which it was not heard to take took it as long ago as the
// scheduler's own account says, and what it did before lasted until then. One that takes a CPU with no wakeup heard was off its
// CPU until the wait that the account has for it began.
class IntervalBuilder {
 public:
  // `thread_name` and `interrupt_name` are asked when a row is made.
  using ThreadName = std::function<std::string(std::uint32_t process, std::uint32_t thread)>;
  using InterruptName = std::function<std::string(std::uint32_t number)>;
  using OffCpu = std::function<void(const OffCpuKey&, std::int64_t duration_ns)>;
  IntervalBuilder(trace::Sink& sink, ThreadName thread_name, InterruptName interrupt_name, OffCpu off_cpu = {});

  void begin_window(std::int64_t time_ns);
  void add(const WireEvent& event);
  // Closes what is open.
  void end_window(std::int64_t time_ns);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  // Threads that are remembered: those that live, and for a second those that ended.
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }

 private:
  enum class State { unknown, running, queued, off };
  struct Thread {
    State state = State::unknown;
    std::int64_t since_ns = 0;
    std::int64_t cpu = -1;
    std::uint32_t process = 0;
    std::uint32_t other = 0;  // who took its CPU, or woke it
    trace::NameId detail, call;
    std::int32_t call_number = wire_call_none, user_stack = wire_no_stack, kernel_stack = wire_no_stack;  // of `off`
    // A time off the CPU that no wakeup ended: how much of it was a wait is known when the thread leaves its CPU.
    std::optional<std::int64_t> unwoken_since_ns;
    trace::NameId unwoken_detail, unwoken_call;
    std::uint64_t account_ns = 0;  // wait_ns of its last leaving, 0: not known
    std::int64_t waited_ns = 0;    // in rows since then
  };

  Thread& thread(std::uint32_t id, std::uint32_t process, std::int64_t time_ns);
  void enter(Thread& thread, State state, std::int64_t time_ns, trace::NameId detail);
  // The thread, off its CPU until now, runs from `time_ns` on: the time before is kept until its wait is known.
  void run_unwoken(Thread& thread, std::int64_t time_ns);
  // Makes the rows of the time so kept: off the CPU, then the wait that the account (0: not known) has beyond those heard.
  void tell_unwoken(std::uint32_t id, Thread& thread, std::uint64_t account_ns);
  // The thread of a switch leaves a CPU that it was not heard to take: it runs since its slice, or the CPU's last switch.
  void enter_unheard(std::uint32_t id, Thread& thread, const WireEvent& event);
  // The row of the state that ends now.
  void leave(std::uint32_t id, Thread& thread, std::int64_t time_ns, std::uint32_t woken_by = 0);
  void on_switch(const WireEvent& event);
  void on_wakeup(const WireEvent& event);
  void on_instant(const WireEvent& event);
  // A thread whose last switch was lost is forgotten too.
  void on_exit(const WireEvent& event);
  trace::SchedEventRow row_of(const WireEvent& event, trace::NameId kind);
  void emit(trace::SchedEventRow& row);
  void tell_off_cpu(std::uint32_t id, const Thread& thread, std::int64_t duration_ns);
  trace::NameId name(std::string_view text) { return sink_.name(text); }

  trace::Sink& sink_;
  ThreadName thread_name_;
  InterruptName interrupt_name_;
  OffCpu off_cpu_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint32_t, std::int64_t> last_switch_ns_;  // of each CPU, as far as heard
  std::deque<std::pair<std::int64_t, std::uint32_t>> ended_;        // when, which thread; oldest first
  std::int64_t window_begin_ns_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace aaco::collectors::ebpf
