#pragma once

// Switches, wakeups, migrations.

struct switched {
  u32 prev, prev_process, next, next_process;
  u32 state;
  s32 call;
  u64 slice_ns, wait_ns;
  s32 user_stack, kernel_stack;
};

// The key of a stack of the current thread; a map without a place for it is counted. A stack that cannot be walked is none.
INLINE s32 stack_of(void* ctx, u64 flags) {
  enum { exists = -17, no_memory = -12 };
  long key = bpf_get_stackid(ctx, &stacks, flags);
  if (key == exists || key == no_memory) {
    struct WireCounts* all = this_cpu_counts();
    if (all) all->stacks_lost++;
  }
  return key < 0 ? wire_no_stack : (s32)key;
}

// A thread that leaves its CPU by itself says where. The kernel's stack begins above the tracepoint.
INLINE void note_stacks(void* ctx, struct switched* what) {
  what->user_stack = what->kernel_stack = wire_no_stack;
  if (!layout.with_stacks || !what->prev_process || !(what->state & wire_state_mask) || (what->state & wire_state_preempted))
    return;
  what->user_stack = stack_of(ctx, BPF_F_USER_STACK);
  what->kernel_stack = stack_of(ctx, 0);
}

// The processes are 0 for threads that do not belong.
INLINE void emit_switch(const struct switched* what) {
  struct WireEvent* event = begin_event(wire_switch);
  if (!event) return;
  event->thread = what->prev;
  event->process = what->prev_process;
  event->other_thread = what->next;
  event->value = what->next_process;
  event->state = what->state;
  event->call = what->call;
  event->duration_ns = what->slice_ns;
  event->wait_ns = what->wait_ns;
  event->user_stack = what->user_stack;
  event->kernel_stack = what->kernel_stack;
  end_event(event);
}

// The system call that the current thread is in, by the registers it entered the kernel with.
INLINE s32 current_call(void) {
  if (!bpf_core_enum_value_exists(enum bpf_func_id___probe, BPF_FUNC_task_pt_regs___probe)) return wire_call_none;
  struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs((void*)bpf_get_current_task_btf());
  if (!bpf_core_field_exists(registers->orig_ax)) return wire_call_none;
  long call = registers->orig_ax;
  return call < 0 || call > 0xffff ? wire_call_none : (s32)call;
}

INLINE u32 state_of(struct task_struct* task) {
  if (bpf_core_field_exists(task->__state)) return BPF_CORE_READ(task, __state);
  return (u32)BPF_CORE_READ((struct task_struct___old*)task, state);
}

// `FIELD(task, member)` reads a member of a structure in the way of its kind of program.
#define DIRECT(object, member) ((object)->member)
#define PROBED(object, member) BPF_CORE_READ(object, member)

#define ON_SWITCH(FIELD)                                                                                       \
  struct WireControl* set = settings();                                                                        \
  if (!set) return 0;                                                                                          \
  struct task_struct *prev = (void*)ctx[1], *next = (void*)ctx[2];                                             \
  struct switched what = {.prev = FIELD(prev, pid), .next = FIELD(next, pid)};                                 \
  u32 prev_process = FIELD(prev, tgid), next_process = FIELD(next, tgid);                                      \
  if (what.prev && what.prev != set->skip_thread && is_member(prev_process)) what.prev_process = prev_process; \
  if (what.next && what.next != set->skip_thread && is_member(next_process)) what.next_process = next_process; \
  if (!what.prev_process && !what.next_process) return 0;                                                      \
  if (what.prev_process) {                                                                                     \
    what.state = (layout.switch_has_state ? (u32)ctx[3] : state_of(prev)) & wire_state_mask;                   \
    if (ctx[0] & 1) what.state |= wire_state_preempted;                                                        \
    if (BPF_CORE_READ_BITFIELD_PROBED(prev, in_iowait)) what.state |= wire_state_iowait;                       \
    what.call = current_call();                                                                                \
    if (bpf_core_field_exists(prev->se.prev_sum_exec_runtime))                                                 \
      what.slice_ns = FIELD(prev, se.sum_exec_runtime) - FIELD(prev, se.prev_sum_exec_runtime);                \
    if (bpf_core_field_exists(prev->sched_info.run_delay)) what.wait_ns = FIELD(prev, sched_info.run_delay);   \
  }                                                                                                            \
  note_stacks(ctx, &what);                                                                                     \
  emit_switch(&what);                                                                                          \
  return 0;

SEC("tp_btf/sched_switch")
int btf_switch(u64* ctx){ON_SWITCH(DIRECT)} SEC("raw_tp/sched_switch") int raw_switch(u64* ctx){ON_SWITCH(PROBED)}

INLINE void note_waker(u32 thread, u32 process) {
  u32 waker = in_interrupt() ? 0 : (u32)bpf_get_current_pid_tgid();
  struct thread* known = bpf_map_lookup_elem(&threads, &thread);
  if (known) {
    known->waker = waker;
    return;
  }
  struct thread fresh = {.process = process, .waker = waker};
  if (bpf_map_update_elem(&threads, &thread, &fresh, BPF_ANY)) count_untracked();
}

INLINE void emit_wakeup(u32 thread, u32 process, u32 is_new) {
  struct thread* known = bpf_map_lookup_elem(&threads, &thread);
  struct WireEvent* event = begin_event(wire_wakeup);
  if (!event) return;
  event->thread = thread;
  event->process = process;
  event->state = is_new ? wire_state_new : 0;
  if (is_new)
    event->other_thread = (u32)bpf_get_current_pid_tgid();
  else if (known) {
    event->other_thread = known->waker;
    known->waker = 0;
  }
  end_event(event);
}

#define WITH_TASK(FIELD, action)                                \
  struct WireControl* set = settings();                         \
  if (!set) return 0;                                           \
  struct task_struct* task = (void*)ctx[0];                     \
  u32 thread = FIELD(task, pid), process = FIELD(task, tgid);   \
  if (thread != set->skip_thread && is_member(process)) action; \
  return 0;

SEC("tp_btf/sched_waking")
int btf_waking(u64* ctx){WITH_TASK(DIRECT, note_waker(thread, process))} SEC("raw_tp/sched_waking") int raw_waking(u64* ctx){
    WITH_TASK(PROBED, note_waker(thread, process))} SEC("tp_btf/sched_wakeup") int btf_wakeup(u64* ctx){
    WITH_TASK(DIRECT, emit_wakeup(thread, process, 0))} SEC("raw_tp/sched_wakeup") int raw_wakeup(u64* ctx){
    WITH_TASK(PROBED, emit_wakeup(thread, process, 0))} SEC("tp_btf/sched_wakeup_new") int btf_wakeup_new(u64* ctx){
    WITH_TASK(DIRECT, emit_wakeup(thread, process, 1))} SEC("raw_tp/sched_wakeup_new") int raw_wakeup_new(u64* ctx){
    WITH_TASK(PROBED, emit_wakeup(thread, process, 1))}

INLINE void emit_migrate(u32 thread, u32 process, u32 cpu) {
  struct WireEvent* event = begin_event(wire_migrate);
  if (!event) return;
  event->thread = thread;
  event->process = process;
  event->value = cpu;
  end_event(event);
}

SEC("tp_btf/sched_migrate_task")
int btf_migrate(u64* ctx){
    WITH_TASK(DIRECT, emit_migrate(thread, process, (u32)ctx[1]))} SEC("raw_tp/sched_migrate_task") int raw_migrate(u64* ctx) {
  WITH_TASK(PROBED, emit_migrate(thread, process, (u32)ctx[1]))
}
