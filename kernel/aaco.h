/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef AACO_H
#define AACO_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "aaco_kmod_abi.h"

#define AACO_MAX_REGIONS 16u
#define AACO_RING_RECORDS 256u

/* Totals since boot, of one CPU or of all. */
struct aaco_totals {
	u64 device_irqs;
	u64 timer_irqs;
	u64 ipis;
	u64 softirqs;
};

struct aaco_region {
	bool open;
	pid_t thread; /* in the initial namespace, with the start time: a thread id may be reused */
	u64 thread_start_ns;
	u64 tag;
	u64 begin_tsc;
	s64 begin_ns;
	u32 cpu;
	u64 voluntary;
	u64 involuntary;
	u64 migrations;
	struct aaco_totals on_cpu;
	struct aaco_totals on_machine;
};

/* One open file of the device. */
struct aaco_file {
	struct mutex lock; /* guards all below */
	struct aaco_region regions[AACO_MAX_REGIONS];
	void *ring; /* vmalloc_user: head page, then records; user space maps it read only */
	u64 sequence;
};

size_t aaco_ring_bytes(void);
int aaco_ring_make(struct aaco_file *file);
void aaco_ring_add(struct aaco_file *file, struct aaco_kmod_record *record);

void aaco_clock_read(struct aaco_kmod_clock *clock);

int aaco_region_begin(struct aaco_file *file, struct aaco_kmod_region *region);
int aaco_region_end(struct aaco_file *file, struct aaco_kmod_region_end *end);

int aaco_gpu_memory_read(struct aaco_kmod_gpu_memory *request);

#endif
