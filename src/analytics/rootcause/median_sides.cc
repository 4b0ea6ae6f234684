#include <algorithm>
#include <cmath>

#include "analytics/rootcause.h"
#include "analytics/rootcause/account_rules.h"

namespace aaco::analytics::rootcause {
namespace {

constexpr double kOfWaits = 0.2;  // of the mean's difference: less cannot hide what the median tells
// Of the median's change. The CPU time is that of the mean call, which under load is somewhat longer than that of the median one.
constexpr double kExplained = 0.65, kAtMost = 1.35;

// The events tell what the caller did in the typical call, which is of the other blocks than the median: its shares are taken.
Side of_median(Side side, double median, bool typical) {
  auto& account = *side.account;
  side.call_ns = account.wall_ns = median;
  side.of_median = true;
  account.wait_ns = account.blocked_ns = std::nullopt;
  if (typical) {
    const double scale = median / side.typical->wall_ns;
    account.wait_ns = scale * side.typical->wait_ns;
    account.blocked_ns = scale * side.typical->blocked_ns;
    account.cpu_ns = median - *account.wait_ns - *account.blocked_ns;
  }
  account.unexplained_ns = median - *account.cpu_ns - account.wait_ns.value_or(0) - account.blocked_ns.value_or(0);
  return side;
}

// Events that overlap say more than the call is long; then they do not divide it.
bool divides(const std::optional<scheduling::TypicalCall>& call) {
  return call && call->wall_ns > 0 && call->wait_ns + call->blocked_ns <= call->wall_ns;
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
  const bool typical = divides(a.typical) && divides(b.typical);
  return MedianSides{of_median(a, median_a, typical), of_median(b, median_b, typical)};
}

}  // namespace aaco::analytics::rootcause
