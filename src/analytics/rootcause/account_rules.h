#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analytics/blame.h"
#include "analytics/rootcause.h"

// What the kernel's account of both sides says of causes, whoever ranked them: it adds up, so it rules out what does not fit.
namespace aaco::analytics::rootcause {

using Weights = std::map<std::string, double>;  // by cause

inline constexpr std::string_view kSlowerExecution = "slower_execution", kMemoryContention = "memory_contention",
                                  kFewerThreads = "fewer_threads", kSystemCalls = "system_calls";
inline constexpr double kCertain = 0.97;  // the most that a cause's probability is
using signals::kBusyOthers;

// Of the difference, by the parts of a group: a part, "node", "host_waiting" or "unexplained".
double share_of(const Decomposition& decomposition, std::string_view group);
// That a cause with this measured share of the difference is the main one: from 35 to 65 % either may be.
double probability_of_most(double share);
// So that the weights add up to `to`.
void scale(Weights& weights, double to);
// CPUs that other processes keep busy anywhere: also on CPUs that the run may not use they share its caches and memory.
std::optional<double> neighbours(const Side& side);
// cpu_contention, or cpu_placement where other processes do not explain the wait.
std::string cause_of_waits(const Side& slow);
// Who computes longer beside the same load waits longer in proportion: the waits follow from the computing and are no cause.
bool waits_follow(const Side& fast, const Side& slow);

// Whether other threads of the run waited for CPUs while the caller slept: at least half of that time more than before.
bool others_wait_for_cpus(const Side& fast, const Side& slow, double asleep_ns);
// Of the CPUs that others gained beside a caller that lost some: the share of the run's other threads and child processes.
double share_of_own_work(const Side& fast, const Side& slow);
// Whether other threads of the run computed enough meanwhile to explain the caller's added wait; true where that is not known.
bool waits_for_own_threads(const Side& fast, const Side& slow);

// Removes and replaces causes that the account contradicts.
void apply_account(const Side& fast, const Side& slow, const Decomposition& decomposition, Weights& weights);

}  // namespace aaco::analytics::rootcause
