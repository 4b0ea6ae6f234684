// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/smp.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "aaco.h"

#define TRIES 4

/* The tightest of a few readings: an NMI or a cold cache line makes one wide. */
void aaco_clock_read(struct aaco_kmod_clock *clock)
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < TRIES; ++i) {
		struct aaco_kmod_clock now = {};
		unsigned long flags;

		local_irq_save(flags);
		now.cpu = smp_processor_id();
		now.tsc_before = rdtsc_ordered();
		now.monotonic_ns = ktime_get_ns();
		now.raw_ns = ktime_get_raw_ns();
		now.tsc_after = rdtsc_ordered();
		local_irq_restore(flags);
		if (now.tsc_after - now.tsc_before < best) {
			best = now.tsc_after - now.tsc_before;
			*clock = now;
		}
	}
}
