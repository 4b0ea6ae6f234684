#pragma once

// Faults and interrupts: of the thread that runs.

INLINE void emit_fault(u32 error_code) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set)) return;
  struct WireEvent* event = begin_event(wire_fault);
  if (!event) return;
  event->thread = current.thread;
  event->process = current.process;
  event->state = error_code;
  end_event(event);
}

INLINE void emit_interrupt(u32 kind, u64 begin_ns, u32 number) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!begin_ns || !set || !current_is_member(&current, set)) return;
  struct WireEvent* event = begin_event(kind);
  if (!event) return;
  event->thread = current.thread;
  event->process = current.process;
  event->duration_ns = event->time_ns - begin_ns;
  event->time_ns = begin_ns;
  event->state = number;
  end_event(event);
}

INLINE u64 interrupt_begin(void) {
  struct current_thread current;
  struct WireControl* set = settings();
  return set && current_is_member(&current, set) ? bpf_ktime_get_ns() : 0;
}

INLINE void begin_hard(void) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth |= hard_bit;
  now->hard_begin_ns = interrupt_begin();
}
INLINE void end_hard(u32 number) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth &= ~hard_bit;
  emit_interrupt(wire_irq, now->hard_begin_ns, number);
}
INLINE void begin_soft(void) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth |= soft_bit;
  now->soft_begin_ns = interrupt_begin();
}
INLINE void end_soft(u32 number) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth &= ~soft_bit;
  emit_interrupt(wire_softirq, now->soft_begin_ns, number);
}
INLINE void begin_timer(void) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth |= timer_bit;
  now->timer_begin_ns = interrupt_begin();
}
INLINE void end_timer(u32 number) {
  struct interrupts* now = this_cpu_interrupts();
  if (!now) return;
  now->depth &= ~timer_bit;
  emit_interrupt(wire_irq, now->timer_begin_ns, number);
}

#define BOTH(name, event, action)                 \
  SEC("tp_btf/" event) int btf_##name(u64* ctx) { \
    action;                                       \
    return 0;                                     \
  }                                               \
  SEC("raw_tp/" event) int raw_##name(u64* ctx) { \
    action;                                       \
    return 0;                                     \
  }

BOTH(fault, "page_fault_user", emit_fault((u32)ctx[2]))
BOTH(irq_entry, "irq_handler_entry", begin_hard())
BOTH(irq_exit, "irq_handler_exit", end_hard((u32)ctx[0]))
BOTH(timer_entry, "local_timer_entry", begin_timer())
BOTH(timer_exit, "local_timer_exit", end_timer(WIRE_TIMER))
BOTH(softirq_entry, "softirq_entry", begin_soft())
BOTH(softirq_exit, "softirq_exit", end_soft((u32)ctx[0]))
