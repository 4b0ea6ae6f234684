// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Interrupts, softirqs and context switches between two calls of a thread. */
#include <linux/interrupt.h>
#include <linux/kernel_stat.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/ktime.h>
#include <asm/hardirq.h>
#include <asm/msr.h>

#include "aaco.h"

/* An array in 7.2, members in 6.12 (Kbuild looks which). */
#ifdef AACO_IRQ_COUNTS
#define X86_COUNT(cpu, member, index) (per_cpu(irq_stat, cpu).counts[IRQ_COUNT_##index])
#else
#define X86_COUNT(cpu, member, index) (per_cpu(irq_stat, cpu).member)
#endif

static void add_cpu(struct aaco_totals *totals, int cpu)
{
	int i;

	totals->device_irqs += kstat_cpu_irqs_sum(cpu);
	for (i = 0; i < NR_SOFTIRQS; ++i)
		totals->softirqs += kstat_softirqs_cpu(i, cpu);
#ifdef CONFIG_X86_LOCAL_APIC
	totals->timer_irqs += X86_COUNT(cpu, apic_timer_irqs, APIC_TIMER);
#endif
#ifdef CONFIG_SMP
	totals->ipis += X86_COUNT(cpu, irq_resched_count, RESCHEDULE);
	totals->ipis += X86_COUNT(cpu, irq_call_count, CALL_FUNCTION);
	totals->ipis += X86_COUNT(cpu, irq_tlb_count, TLB);
#endif
}

/* Preemptible: the counters move on while they are added up, each is read once. */
static struct aaco_totals machine_totals(void)
{
	struct aaco_totals totals = {};
	int cpu;

	for_each_possible_cpu(cpu) add_cpu(&totals, cpu);
	return totals;
}

static struct aaco_totals cpu_totals(int cpu)
{
	struct aaco_totals totals = {};

	add_cpu(&totals, cpu);
	return totals;
}

/* The x86 counters are 32 bits wide and wrap; irqs_sum is as wide as a long. */
static void set_counts(struct aaco_kmod_counts *counts, const struct aaco_totals *before,
		       const struct aaco_totals *after)
{
	counts->device_irqs = after->device_irqs - before->device_irqs;
	counts->timer_irqs = (u32)(after->timer_irqs - before->timer_irqs);
	counts->ipis = (u32)(after->ipis - before->ipis);
	counts->softirqs = (u32)(after->softirqs - before->softirqs);
}

static u64 migrations_of_current(void)
{
#ifdef CONFIG_SMP
	return current->se.nr_migrations;
#else
	return 0;
#endif
}

int aaco_region_begin(struct aaco_file *file, struct aaco_kmod_region *request)
{
	struct aaco_region *region;
	u32 slot;

	if (request->reserved)
		return -EINVAL;
	for (slot = 0; slot < AACO_MAX_REGIONS && file->regions[slot].open; ++slot)
		;
	if (slot == AACO_MAX_REGIONS)
		return -EBUSY;
	request->slot = slot;
	region = &file->regions[slot];
	region->open = true;
	region->tag = request->tag;
	region->thread = task_pid_nr(current);
	region->thread_start_ns = current->start_time;
	region->on_machine = machine_totals();
	region->voluntary = current->nvcsw;
	region->involuntary = current->nivcsw;
	region->migrations = migrations_of_current();
	/* The times last: what the module does is outside the region. */
	region->cpu = get_cpu();
	region->on_cpu = cpu_totals(region->cpu);
	region->begin_ns = ktime_get_ns();
	region->begin_tsc = rdtsc_ordered();
	put_cpu();
	return 0;
}

int aaco_region_end(struct aaco_file *file, struct aaco_kmod_region_end *end)
{
	struct aaco_kmod_record *record = &end->record;
	struct aaco_totals on_cpu, on_machine;
	struct aaco_region *region;
	u64 tsc;
	s64 ns;
	u32 cpu;

	cpu = get_cpu();
	tsc = rdtsc_ordered();
	ns = ktime_get_ns();
	put_cpu();
	if (end->reserved || end->slot >= AACO_MAX_REGIONS)
		return -EINVAL;
	region = &file->regions[end->slot];
	if (!region->open)
		return -ENOENT;
	if (region->thread != task_pid_nr(current) ||
	    region->thread_start_ns != current->start_time)
		return -EPERM;
	on_cpu = cpu_totals(region->cpu);
	on_machine = machine_totals();
	memset(record, 0, sizeof(*record));
	record->tag = region->tag;
	record->begin_tsc = region->begin_tsc;
	record->end_tsc = tsc;
	record->begin_ns = region->begin_ns;
	record->end_ns = ns;
	record->begin_cpu = region->cpu;
	record->end_cpu = cpu;
	record->thread = task_pid_vnr(current);
	record->flags = region->cpu == cpu ? 0 : AACO_KMOD_MOVED;
	record->voluntary_switches = current->nvcsw - region->voluntary;
	record->involuntary_switches = current->nivcsw - region->involuntary;
	record->migrations = migrations_of_current() - region->migrations;
	set_counts(&record->cpu, &region->on_cpu, &on_cpu);
	set_counts(&record->machine, &region->on_machine, &on_machine);
	region->open = false;
	aaco_ring_add(file, record);
	return 0;
}
