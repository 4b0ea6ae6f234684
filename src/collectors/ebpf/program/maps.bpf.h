#pragma once

// What the programs share: the rings, the process tree, and what is remembered between two events.
struct ring {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, u32);
  __array(values, struct ring);
} rings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct WireControl);
} control SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct WireCounts);
} counts SEC(".maps");

// Thread-group ids of the tree. Value: wire_tree_member, or wire_tree_parent for a process whose children belong and it does not.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_processes);
  __type(key, u32);
  __type(value, u32);
} processes SEC(".maps");

struct thread {
  u32 process;  // 0: not known yet (tracepoints do not say)
  u32 waker;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_threads);
  __type(key, u32);
  __type(value, struct thread);
} threads SEC(".maps");

struct interrupts {
  u64 hard_begin_ns, soft_begin_ns, timer_begin_ns;  // 0: the thread it hit is none of the tree
  u32 depth;                                         // bits of those that run now
};
enum { hard_bit = 1, soft_bit = 2, timer_bit = 4 };

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct interrupts);
} interrupts SEC(".maps");

struct request_start {
  u64 begin_ns;
  u64 bytes;
  u32 thread, process, operation;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_requests);
  __type(key, u64);
  __type(value, struct request_start);
} requests SEC(".maps");

// Addresses of user and kernel stacks, innermost first, by a hash of them.
struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, wire_max_stacks);
  __uint(key_size, sizeof(u32));
  __uint(value_size, wire_stack_depth * sizeof(u64));
} stacks SEC(".maps");

const volatile struct WireLayout layout = {};
