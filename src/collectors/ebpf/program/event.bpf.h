#pragma once

// How a program asks whether an event is wanted, and writes it.
#define INLINE static __always_inline

INLINE struct WireControl* settings(void) {
  u32 zero = 0;
  struct WireControl* found = bpf_map_lookup_elem(&control, &zero);
  return found && found->enabled ? found : 0;
}

INLINE struct WireCounts* this_cpu_counts(void) {
  u32 zero = 0;
  return bpf_map_lookup_elem(&counts, &zero);
}

INLINE void count_untracked(void) {
  struct WireCounts* all = this_cpu_counts();
  if (all) all->untracked++;
}

INLINE int is_member(u32 process) {
  u32* found = bpf_map_lookup_elem(&processes, &process);
  return found && *found == wire_tree_member;
}

INLINE struct interrupts* this_cpu_interrupts(void) {
  u32 zero = 0;
  return bpf_map_lookup_elem(&interrupts, &zero);
}

// An interrupt runs on this CPU, so that the current thread is not the one that acts.
INLINE int in_interrupt(void) {
  struct interrupts* now = this_cpu_interrupts();
  return now && now->depth;
}

// A record of this CPU's ring, cleared but for time, kind and CPU; none, and counted, where the ring is full.
INLINE struct WireEvent* begin_event(u32 kind) {
  struct WireCounts* all = this_cpu_counts();
  if (!all || kind >= wire_kinds) return 0;
  all->seen[kind]++;
  u32 cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&rings, &cpu);
  struct WireEvent* event = ring ? bpf_ringbuf_reserve(ring, sizeof(*event), 0) : 0;
  if (!event) {
    all->lost[kind]++;
    return 0;
  }
  event->time_ns = bpf_ktime_get_ns();
  event->duration_ns = 0;
  event->value = 0;
  event->wait_ns = 0;
  event->other_thread = 0;
  event->call = wire_call_none;
  event->kind = kind;
  event->cpu = cpu;
  event->state = 0;
  event->user_stack = event->kernel_stack = wire_no_stack;
  return event;
}

// Nobody is woken for a record: the reader comes by itself.
INLINE void end_event(struct WireEvent* event) { bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP); }

struct current_thread {
  u32 thread, process;
};

INLINE int current_is_member(struct current_thread* current, const struct WireControl* set) {
  u64 both = bpf_get_current_pid_tgid();
  current->thread = (u32)both;
  current->process = both >> 32;
  return current->thread != set->skip_thread && is_member(current->process);
}
