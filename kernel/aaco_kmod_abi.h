/* SPDX-License-Identifier: MIT OR (GPL-2.0-only WITH Linux-syscall-note) */
/*
 * What AACO's kernel module and its readers share. Structures are the same for 32-bit and 64-bit
 * callers. Fields named `reserved` must be 0. A call that does not exist in this version fails with
 * ENOTTY; a change of a structure changes its ioctl number, so that an old reader never gets half
 * of a new structure.
 */
#ifndef AACO_KMOD_ABI_H
#define AACO_KMOD_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define AACO_KMOD_DEVICE "/dev/aaco"
#define AACO_KMOD_ABI_VERSION 1

/* aaco_kmod_info.features */
#define AACO_KMOD_TSC_CONSTANT 1u /* the TSC ticks at one rate, in idle states too */
#define AACO_KMOD_DRM_MEMORY 2u	  /* AACO_KMOD_GPU_MEMORY works */

struct aaco_kmod_info {
	__u32 abi_version;
	__u32 features;
	__u64 tsc_hz; /* as the kernel calibrated it, 0: unknown */
	__u32 ring_records;
	__u32 record_bytes;
	__u32 max_regions; /* open at one time, per open file */
	__u32 reserved;
};

/* One instant on each clock: monotonic_ns and raw_ns lie between the two TSC readings, taken with
 * interrupts off. */
struct aaco_kmod_clock {
	__u64 tsc_before;
	__u64 tsc_after;
	__s64 monotonic_ns;
	__s64 raw_ns; /* CLOCK_MONOTONIC_RAW */
	__u32 cpu;
	__u32 reserved;
};

/* Events since the region began. */
struct aaco_kmod_counts {
	__u64 device_irqs;
	__u64 timer_irqs; /* local APIC timer */
	__u64 ipis;	  /* reschedule, function call, TLB shootdown */
	__u64 softirqs;
};

#define AACO_KMOD_MOVED 1u /* the thread was on another CPU at the end */

struct aaco_kmod_record {
	__u64 sequence; /* from 1; 0 while the kernel writes the record */
	__u64 tag;	/* the caller's */
	__u64 begin_tsc;
	__u64 end_tsc;
	__s64 begin_ns; /* CLOCK_MONOTONIC */
	__s64 end_ns;
	__u32 begin_cpu;
	__u32 end_cpu;
	__u32 thread; /* the caller's id of the thread */
	__u32 flags;  /* AACO_KMOD_MOVED */
	/* of the thread */
	__u64 voluntary_switches;
	__u64 involuntary_switches;
	__u64 migrations;
	struct aaco_kmod_counts cpu;	 /* of begin_cpu */
	struct aaco_kmod_counts machine; /* of all CPUs */
};

struct aaco_kmod_region {
	__u64 tag;  /* in */
	__u32 slot; /* out */
	__u32 reserved;
};

struct aaco_kmod_region_end {
	__u32 slot; /* in: of a region that this thread began */
	__u32 reserved;
	struct aaco_kmod_record record; /* out */
};

#define AACO_KMOD_ALL_FDS 0xffffffffu

/*
 * The fdinfo texts of a process' open DRM files ("drm-memory-vram:\t1024 KiB"), each preceded by a
 * line "drm-minor:\tN" and ended by an empty line. A call looks at a bounded number of descriptors:
 * repeat it with the returned next_fd until that is AACO_KMOD_ALL_FDS. Allowed for processes of the
 * caller's user and with CAP_SYS_PTRACE.
 */
struct aaco_kmod_gpu_memory {
	__s32 pid;	  /* in */
	__u32 next_fd;	  /* in: the first descriptor to look at; out */
	__u64 text;	  /* in: address of the buffer, at least AACO_KMOD_MIN_TEXT bytes */
	__u32 text_bytes; /* in: room; out: bytes written */
	__u32 files;	  /* out: texts written */
	__u32 cut;	  /* out: texts that did not fit into a page and were left out */
	__u32 reserved;
};
#define AACO_KMOD_MIN_TEXT 32768

#define AACO_KMOD_INFO _IOR(0xac, 0, struct aaco_kmod_info)
#define AACO_KMOD_CLOCK _IOR(0xac, 1, struct aaco_kmod_clock)
#define AACO_KMOD_REGION_BEGIN _IOWR(0xac, 2, struct aaco_kmod_region)
#define AACO_KMOD_REGION_END _IOWR(0xac, 3, struct aaco_kmod_region_end)
#define AACO_KMOD_GPU_MEMORY _IOWR(0xac, 4, struct aaco_kmod_gpu_memory)

/*
 * mmap at offset 0, read only, of one page and ring_records * record_bytes: this head, and from the
 * second page on the records of the finished regions of this open file, sequence N in slot (N - 1)
 * % capacity. The kernel never waits: a reader that is more than `capacity` records behind `head`
 * has lost the oldest.
 */
struct aaco_kmod_ring {
	__u32 abi_version;
	__u32 record_bytes;
	__u32 capacity;
	__u32 reserved;
	__u64 head; /* sequence of the newest record, 0: none yet */
};

#endif
