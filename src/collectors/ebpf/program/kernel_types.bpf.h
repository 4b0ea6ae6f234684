#pragma once

// The few members of the kernel's structures that the programs read. Their real offsets are found in the running kernel's BTF
// when a program is loaded, so that no header of any kernel is needed to build it.
typedef unsigned char u8;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic_counter {
  int counter;
};

struct signal_struct {
  struct atomic_counter live;
};

struct sched_entity {
  u64 sum_exec_runtime;
  u64 prev_sum_exec_runtime;  // when it was given its CPU
};

struct sched_info {
  u64 run_delay;
};

struct task_struct {
  int pid;
  int tgid;
  struct sched_entity se;
  struct sched_info sched_info;
  unsigned int __state;
  unsigned in_iowait : 1;
  struct signal_struct* signal;
};

// Before Linux 5.14.
struct task_struct___old {
  long state;
};

struct request {
  unsigned int cmd_flags;
  unsigned int __data_len;
};

struct pt_regs {
  unsigned long di, si, dx, ax;
  unsigned long orig_ax;
};

// Of the module ttm, where its BTF is there.
struct ttm_place {
  u32 mem_type;
};

struct ttm_resource {
  u32 mem_type;
};

#pragma clang attribute pop

enum bpf_func_id___probe { BPF_FUNC_task_pt_regs___probe = 175 };
