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
