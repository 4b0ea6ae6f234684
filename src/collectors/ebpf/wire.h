#pragma once

// What the kernel's side (program/observe.bpf.c) and this side say to each other. C as well as C++; every member has its natural
// alignment, so that both compilers lay it out alike.
#ifdef __cplusplus
#include <cstdint>
namespace aaco::collectors::ebpf {
using WireU16 = std::uint16_t;
using WireU32 = std::uint32_t;
using WireI32 = std::int32_t;
using WireU64 = std::uint64_t;
#else
typedef unsigned short WireU16;
typedef unsigned int WireU32;
typedef int WireI32;
typedef unsigned long long WireU64;
#endif

// NOLINTBEGIN(readability-identifier-naming): one spelling for both languages
enum WireKind {
  wire_switch,      // thread left the CPU, other_thread took it; a process of 0 is none of the tree; duration_ns: how long the
                    // scheduler says it had the CPU (stolen time not counted), 0: not known; wait_ns
  wire_wakeup,      // thread became ready; other_thread woke it, 0: an interrupt
  wire_migrate,     // thread goes to CPU `value`
  wire_fault,       // page fault of thread, `state` is the error code
  wire_irq,         // interrupt number `state` took duration_ns from thread; WIRE_TIMER: the CPU's own timer
  wire_softirq,     // soft interrupt `state`
  wire_block,       // block I/O of thread: `value` bytes, operation `state`, time_ns is its beginning
  wire_fork,        // thread began
  wire_exit,        // thread ends; its name lies in `value` and `duration_ns`
  wire_gpu_job,     // a job of thread ran on a GPU for duration_ns; `value` is how long it had queued
  wire_gpu_fence,   // a fence of thread was pending for duration_ns; with wire_state_waited: thread waited so long for one
  wire_gpu_buffer,  // thread made a buffer of `value` bytes; with wire_state_freed: it is freed
  wire_gpu_memory,  // TTM took duration_ns to find memory of the domain `state` for a buffer of `value` bytes (0: not known);
                    // with wire_state_freed: it was given back
  wire_kinds
};

// Bits of WireEvent::state of a switch, above the kernel's own task state.
enum {
  wire_state_mask = 0xffff,
  wire_state_preempted = 1 << 16,
  wire_state_iowait = 1 << 17,
  wire_state_new = 1 << 18,         // of a wakeup: its first
  wire_state_group_dead = 1 << 19,  // of an exit: the whole process ends
  wire_state_freed = 1 << 20,       // of a buffer or its memory
  wire_state_waited = 1 << 21,      // of a fence
};

#define WIRE_TIMER 0xffffffffu
enum { wire_tree_member = 1, wire_tree_parent = 2 };
enum { wire_call_none = -1, wire_max_processes = 16384, wire_max_threads = 65536, wire_max_requests = 4096 };
enum { wire_max_buffers = 65536, wire_domain_unknown = 0xffff };
enum { wire_no_stack = -1, wire_stack_depth = 127, wire_max_stacks = 16384 };

struct WireEvent {
  WireU64 time_ns;  // CLOCK_MONOTONIC
  WireU64 duration_ns;
  WireU64 value;    // of a switch: process of other_thread
  WireU64 wait_ns;  // of a switch: how long thread has waited for a CPU in its life, by the scheduler's account; 0: not known
  WireU32 thread;
  WireU32 process;
  WireU32 other_thread;
  WireI32 call;  // of a switch: system call the thread is in, or wire_call_none
  WireU16 kind;
  WireU16 cpu;
  WireU32 state;
  WireI32 user_stack;  // of a switch by which thread leaves its CPU by itself: keys of the map `stacks`, or wire_no_stack
  WireI32 kernel_stack;
};

// What this side tells the kernel's while it works.
struct WireControl {
  WireU32 enabled;      // 0: programs return at once
  WireU32 skip_thread;  // the thread that empties the rings is not part of what is measured
};

// Counts of one CPU.
struct WireCounts {
  WireU64 seen[wire_kinds];
  WireU64 lost[wire_kinds];  // the ring was full
  WireU64 untracked;         // processes and requests for which a map had no place
  WireU64 stacks_lost;       // stacks for which the map had no place
};

// Where the fields of a tracepoint lie (its `format` file says so; they move between kernels), and what this kernel has.
struct WireLayout {
  WireU32 switch_prev_pid, switch_prev_state, switch_next_pid;
  WireU32 waking_pid, wakeup_pid, wakeup_new_pid;
  WireU32 migrate_pid, migrate_cpu;
  WireU32 fork_child_pid;
  WireU32 fault_error;
  WireU32 irq_number, softirq_vector;
  WireU32 issue_device, issue_sector, issue_sectors, issue_operation;
  WireU32 complete_device, complete_sector;
  WireU32 gpu_queue_fence, gpu_queue_number, gpu_run_fence, gpu_run_number, gpu_done_fence, gpu_done_number;
  WireU32 fence_context, fence_number;  // of all events of dma_fence: they are of one class
  WireU32 switch_has_state;             // the BTF form of sched_switch passes prev's state
  WireU32 with_stacks;                  // of threads that leave their CPU by themselves
  WireU32 issue_has_queue;              // the BTF form of block_rq_issue passes the queue first (before Linux 5.11)
};
// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
static_assert(sizeof(WireEvent) == 64);
}  // namespace aaco::collectors::ebpf
#endif
