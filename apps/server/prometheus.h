#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "server/route.h"
#include "workflows/store.h"

namespace aaco::server {

inline constexpr std::size_t kMaxWorkloads = 1000;  // with a result of their own, the newest first

// What this process has used, from getrusage and /proc/self/statm.
struct OwnCost {
  double cpu_seconds = 0;
  double resident_bytes = 0;
};
OwnCost own_cost();

// A label's value with its quotes, backslashes and line ends escaped.
std::string label_value(std::string_view text);

// The text format 0.0.4 of Prometheus.
std::string prometheus_text(const std::vector<workflows::SessionLine>& lines, const Counters& counters, const OwnCost& cost);

}  // namespace aaco::server
