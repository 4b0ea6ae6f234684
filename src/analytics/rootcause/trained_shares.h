#pragma once

#include <array>
#include <string_view>

#include "analytics/rootcause.h"

namespace aaco::analytics::rootcause::trained {

// Shares of a difference as the learned ranking of causes was trained on them: features, and nothing else. They are forced into
// the difference one after the other, and count the waiting of all threads, so that they are not an account of time; decompose()
// is. A model trained on other shares needs new training data before this can go.
inline constexpr std::array<std::string_view, 9> kGroups = {"cpu_throttling", "run_queue_wait", "page_faults",
                                                            "storage",        "host_waiting",   "host_computing",
                                                            "launch",         "node",           "unexplained"};

// By position in kGroups. 0 without a difference.
std::array<double, kGroups.size()> shares_of(const Side& a, const Side& b, bool profiled);

}  // namespace aaco::analytics::rootcause::trained
