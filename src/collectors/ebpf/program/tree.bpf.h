#pragma once

// The process tree: kept also while nothing is recorded.

// A process of 0: the tracepoint does not tell; the thread itself will.
INLINE void add_thread(u32 thread, u32 process) {
  struct thread fresh = {.process = process};
  if (bpf_map_update_elem(&threads, &thread, &fresh, BPF_ANY)) count_untracked();
  if (!settings()) return;
  struct WireEvent* event = begin_event(wire_fork);
  if (!event) return;
  event->thread = thread;
  event->process = process;
  end_event(event);
}

INLINE void on_fork(u32 parent_process, u32 thread, u32 process) {
  u32* parent = bpf_map_lookup_elem(&processes, &parent_process);
  if (!parent) return;
  if (process == parent_process) {
    if (*parent == wire_tree_member) add_thread(thread, process);
    return;
  }
  u32 member = wire_tree_member;
  if (bpf_map_update_elem(&processes, &process, &member, BPF_ANY)) count_untracked();
  add_thread(thread, process);
}

#define ON_FORK(FIELD)                                                 \
  struct task_struct *parent = (void*)ctx[0], *child = (void*)ctx[1];  \
  on_fork(FIELD(parent, tgid), FIELD(child, pid), FIELD(child, tgid)); \
  return 0;

SEC("tp_btf/sched_process_fork")
int btf_fork(u64* ctx){ON_FORK(DIRECT)} SEC("raw_tp/sched_process_fork") int raw_fork(u64* ctx){ON_FORK(PROBED)}

// The reader takes a dead process out of the tree: the thread that ends it is still to leave its CPU.
INLINE void on_exit(u32 group_dead) {
  u64 both = bpf_get_current_pid_tgid();
  u32 thread = (u32)both, process = both >> 32;
  if (!is_member(process)) return;
  bpf_map_delete_elem(&threads, &thread);
  struct WireEvent* event = begin_event(wire_exit);
  if (!event) return;
  event->thread = thread;
  event->process = process;
  event->state = group_dead ? wire_state_group_dead : 0;
  char name[16] = {};
  bpf_get_current_comm(name, sizeof(name));
  __builtin_memcpy(&event->value, name, 8);
  __builtin_memcpy(&event->duration_ns, name + 8, 8);
  end_event(event);
}

SEC("tp_btf/sched_process_exit") int btf_exit(u64* ctx) {
  struct task_struct* task = (void*)ctx[0];
  on_exit(task->signal->live.counter == 0);
  return 0;
}
SEC("raw_tp/sched_process_exit") int raw_exit(u64* ctx) {
  struct task_struct* task = (void*)ctx[0];
  on_exit(BPF_CORE_READ(task, signal, live.counter) == 0);
  return 0;
}
