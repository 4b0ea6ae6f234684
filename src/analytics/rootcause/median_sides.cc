#include <algorithm>
#include <cmath>

#include "analytics/rootcause.h"
#include "analytics/rootcause/account_rules.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kOfWaits = 0.2;  // of the mean's difference: less cannot hide what the median tells
// Of the median's change. The CPU time is that of the mean call, which under load is somewhat longer than that of the median one.
constexpr double kExplained = 0.65, kAtMost = 1.35;

Side of_median(Side side, double median) {
  side.call_ns = median;
  side.of_median = true;
  side.account->wall_ns = median;
  side.account->wait_ns = side.account->blocked_ns = std::nullopt;
  side.account->unexplained_ns = median - *side.account->cpu_ns;
  return side;
}

// Time of the mean call in which it did not compute, in shares of the difference of the means; either sign.
double not_computing(const Decomposition& means) {
  return std::abs(share_of(means, "run_queue_wait")) + std::abs(share_of(means, "cpu_throttling")) +
         std::abs(share_of(means, "host_waiting"));
}

}  // namespace

std::optional<MedianSides> median_sides(const Side& a, const Side& b, double median_a, double median_b) {
  const double change = median_b - median_a;
  if (!a.account || !b.account || !a.account->cpu_ns || !b.account->cpu_ns || !(median_a > 0) || !(median_b > 0) || change == 0)
    return std::nullopt;
  const double explained = (*b.account->cpu_ns - *a.account->cpu_ns) / change;
  if (explained < kExplained || explained > kAtMost) return std::nullopt;
  const auto means = decompose(a, b);
  if (means && (means->delta_ns > 0) == (change > 0) && not_computing(*means) < kOfWaits) return std::nullopt;
  return MedianSides{of_median(a, median_a), of_median(b, median_b)};
}

}  // namespace aaco::analytics::rootcause
