#pragma once

// What the kernel's account shows before other processes or the quota are blamed for a wait. Our own judgement.
namespace aaco::analytics::signals {

inline constexpr double kBusyOthers = 0.15;  // CPUs that other processes keep busy
// Of the wait, by the CPU time of other processes: others.wait_ratio of cpu_contention in data/rules/bottleneck.yaml too, which a
// test compares.
inline constexpr double kExplainedWait = 0.2;
inline constexpr double kThrottledWait = 0.5;  // of the wait, by the quota

}  // namespace aaco::analytics::signals
