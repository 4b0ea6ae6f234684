#include <algorithm>

#include "analytics/rootcause.h"

namespace aaco::analytics::rootcause {

Side mean_side(std::span<const Side* const> sessions, const Side& nodes_of) {
  Side mean = nodes_of;
  const auto count = static_cast<double>(sessions.size());
  std::vector<signals::CallAccount> accounts;
  std::vector<signals::Signals> signals;
  mean.call_ns = 0;
  for (const Side* one : sessions) {
    if (one->account) accounts.push_back(*one->account);
    signals.push_back(one->signals);
    mean.call_ns += one->call_ns / count;
  }
  mean.account = accounts.size() == sessions.size() ? std::optional(mean_account(accounts)) : std::nullopt;
  mean.signals = mean_signals(signals);
  mean.typical.reset();
  if (std::all_of(sessions.begin(), sessions.end(), [](const Side* one) { return one->typical.has_value(); })) {
    mean.typical.emplace();
    for (const Side* one : sessions) {
      mean.typical->calls += one->typical->calls;
      mean.typical->wall_ns += one->typical->wall_ns / count;
      mean.typical->wait_ns += one->typical->wait_ns / count;
      mean.typical->blocked_ns += one->typical->blocked_ns / count;
    }
  }
  for (auto& metric : mean.metrics) {
    double sum = 0;
    std::size_t known = 0;
    for (const Side* one : sessions)
      if (const auto* same = trace::find_metric(one->metrics, metric.id, metric.device)) {
        sum += same->value;
        ++known;
      }
    if (known != sessions.size()) continue;
    metric.value = sum / count;
    metric.ci95.reset();  // of one session
  }
  return mean;
}

}  // namespace aaco::analytics::rootcause
