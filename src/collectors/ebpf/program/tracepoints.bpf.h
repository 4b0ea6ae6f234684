#pragma once

// Programs that need no BTF: fields by the layout that the loader read from tracefs.

INLINE u64 field(const void* ctx, u32 offset, u32 size) {
  u64 value = 0;
  bpf_probe_read_kernel(&value, size > 8 ? 8 : size, (const char*)ctx + offset);
  return value;
}

// The process of a thread of the tree, 0 where it is none. A thread whose process is not known yet says it when it runs.
INLINE u32 process_of(u32 thread, const struct WireControl* set) {
  struct thread* known = bpf_map_lookup_elem(&threads, &thread);
  if (!known || thread == set->skip_thread) return 0;
  u64 both = bpf_get_current_pid_tgid();
  if (!known->process && (u32)both == thread) known->process = both >> 32;
  return known->process ? known->process : thread;
}

SEC("tracepoint/sched/sched_switch") int tp_switch(void* ctx) {
  struct WireControl* set = settings();
  if (!set) return 0;
  struct switched what = {.prev = field(ctx, layout.switch_prev_pid, 4), .next = field(ctx, layout.switch_next_pid, 4)};
  what.prev_process = process_of(what.prev, set);
  what.next_process = process_of(what.next, set);
  if (!what.prev_process && !what.next_process) return 0;
  u64 state = field(ctx, layout.switch_prev_state, 8);
  // The bit above the last state that is reported says: preempted.
  what.state = state & 0x100 ? wire_state_preempted : state & 0xff;
  what.call = wire_call_none;
  note_stacks(ctx, &what);
  emit_switch(&what);
  return 0;
}

#define TP_TASK(offset, action)                                                 \
  struct WireControl* set = settings();                                         \
  if (!set) return 0;                                                           \
  u32 thread = field(ctx, layout.offset, 4), process = process_of(thread, set); \
  if (process) action;                                                          \
  return 0;

SEC("tracepoint/sched/sched_waking")
int tp_waking(void* ctx){
    TP_TASK(waking_pid, note_waker(thread, process))} SEC("tracepoint/sched/sched_wakeup") int tp_wakeup(void* ctx){
    TP_TASK(wakeup_pid, emit_wakeup(thread, process, 0))} SEC("tracepoint/sched/sched_wakeup_new") int tp_wakeup_new(void* ctx){
    TP_TASK(wakeup_new_pid,
            emit_wakeup(thread, process, 1))} SEC("tracepoint/sched/sched_migrate_task") int tp_migrate(void* ctx){
    TP_TASK(migrate_pid, emit_migrate(thread, process, field(ctx, layout.migrate_cpu, 4)))}

// A thread of the same process or a process of its own: it is not said, and the first that is neither known to `threads`
// nor a process is taken as a process, which the threads' own ids mend as they run.
SEC("tracepoint/sched/sched_process_fork") int tp_fork(void* ctx) {
  u32 parent = bpf_get_current_pid_tgid() >> 32, child = field(ctx, layout.fork_child_pid, 4);
  u32 member = wire_tree_member;
  if (!bpf_map_lookup_elem(&processes, &parent)) return 0;
  if (bpf_map_update_elem(&processes, &child, &member, BPF_ANY)) count_untracked();
  add_thread(child, 0);
  return 0;
}

SEC("tracepoint/sched/sched_process_exit") int tp_exit(void* ctx) {
  u64 both = bpf_get_current_pid_tgid();
  u32 thread = (u32)both;
  on_exit(thread == both >> 32);
  if (thread != both >> 32) bpf_map_delete_elem(&processes, &thread);
  return 0;
}

SEC("tracepoint/exceptions/page_fault_user") int tp_fault(void* ctx) {
  emit_fault(field(ctx, layout.fault_error, 4));
  return 0;
}
SEC("tracepoint/irq/irq_handler_entry") int tp_irq_entry(void* ctx) {
  begin_hard();
  return 0;
}
SEC("tracepoint/irq/irq_handler_exit") int tp_irq_exit(void* ctx) {
  end_hard(field(ctx, layout.irq_number, 4));
  return 0;
}
SEC("tracepoint/irq_vectors/local_timer_entry") int tp_timer_entry(void* ctx) {
  begin_timer();
  return 0;
}
SEC("tracepoint/irq_vectors/local_timer_exit") int tp_timer_exit(void* ctx) {
  end_timer(WIRE_TIMER);
  return 0;
}
SEC("tracepoint/irq/softirq_entry") int tp_softirq_entry(void* ctx) {
  begin_soft();
  return 0;
}
SEC("tracepoint/irq/softirq_exit") int tp_softirq_exit(void* ctx) {
  end_soft(field(ctx, layout.softirq_vector, 4));
  return 0;
}

INLINE u64 request_key(u64 device, u64 sector) { return device << 48 ^ sector; }

// The operation is told by its first letter (R, W, F, D), which is given as REQ_OP_* has it.
INLINE u32 operation_of(u32 letter) {
  return letter == 'R' ? 0 : letter == 'W' ? 1 : letter == 'F' ? 2 : letter == 'D' ? 3 : 255;
}

SEC("tracepoint/block/block_rq_issue") int tp_issue(void* ctx) {
  begin_request(request_key(field(ctx, layout.issue_device, 4), field(ctx, layout.issue_sector, 8)),
                field(ctx, layout.issue_sectors, 4) * 512, operation_of(field(ctx, layout.issue_operation, 1)));
  return 0;
}
SEC("tracepoint/block/block_rq_complete") int tp_complete(void* ctx) {
  end_request(request_key(field(ctx, layout.complete_device, 4), field(ctx, layout.complete_sector, 8)));
  return 0;
}
