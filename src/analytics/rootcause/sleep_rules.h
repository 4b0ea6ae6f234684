#pragma once

#include <optional>

#include "analytics/rootcause.h"
#include "analytics/rootcause/account_rules.h"

// What the caller of a run slept for, and the waits that its sleep brings, by the kernel's counters.
namespace aaco::analytics::rootcause {

// Whether the caller did at least 90 % of the process's computing: then it does not sleep for threads of the run.
bool computes_alone(const Side& side);
// More bytes of storage (a sector) or more major faults (one) per call.
bool more_storage(const Side& fast, const Side& slow);
// Whether tasks of the machine stalled for I/O for a good part of the caller's added sleep (kernel's PSI,
// Documentation/accounting/psi.rst) while the run transferred bytes; nothing where the kernel does not count stalls.
std::optional<bool> stalls_for_storage(const Side& fast, const Side& slow);
// The caller's added run-queue wait fits its added sleeps (a few time slices for each), and other processes got no more of the
// CPUs than the run left to them: it queues when it wakes up. False where switches or the CPU time of others are not known.
bool waits_at_wake_ups(const Side& fast, const Side& slow);
// A thread that is moved to another CPU while it runs sleeps until it is there: half of the added sleeps or more are such moves.
bool sleeps_to_move(const Side& fast, const Side& slow);

// A caller that sleeps more often queues for a CPU at each wake-up, behind processes that were there before: these waits follow
// from its sleep, or from being moved.
void rule_out_waits_at_wake_ups(const Side& fast, const Side& slow, Weights& weights);
// What a caller asleep waited for is storage where the scheduler's events say so; without events where it slept for no thread of
// the run and tasks stalled for I/O while it transferred, or, where stalls are not counted, where it transferred more.
void tell_storage_from_other_sleep(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights);

}  // namespace aaco::analytics::rootcause
