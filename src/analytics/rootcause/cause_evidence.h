#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analytics/rootcause.h"

// What speaks for a cause: its own parts of the difference and the counters that moved with it, never those of other causes.
namespace aaco::analytics::rootcause {

// Of the difference, by the parts whose time the cause takes.
double share_of_cause(std::string_view cause, const Decomposition& decomposition);
std::vector<std::string> evidence_of_cause(std::string_view cause, const Side& a, const Side& b,
                                           const Decomposition& decomposition);
// Of a setting that differs: of a quota the throttling, of a priority the waiting, of others what is neither of these nor
// time stopped or frozen; other CPUs and threads make threads wait, too.
double share_of_setting(std::string_view cause, const Decomposition& decomposition);
// Of a setting that differs: the largest parts, as it may have moved any; of a quota the throttling, of a priority the waiting.
std::vector<std::string> evidence_of_setting(std::string_view cause, const Decomposition& decomposition);

}  // namespace aaco::analytics::rootcause
