#include "analytics/llm/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analytics/llm.h"
#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

std::string drift_of(std::string_view name, const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() < kFewestOfAHalf || second.size() < kFewestOfAHalf) return {};
  const auto before = stats::summarize(first).p50, after = stats::summarize(second).p50;
  if (!before || !after || !before->ci95 || !after->ci95) return {};
  const bool apart = before->ci95->high < after->ci95->low || after->ci95->high < before->ci95->low;
  const double low = std::min(before->value, after->value), high = std::max(before->value, after->value);
  if (!apart || high < kDriftRatio * low || high - low <= kDriftFloorNs) return {};
  return fmt::format("the median {} {} from {} in the first half to {} in the second", name,
                     after->value > before->value ? "rose" : "fell", core::format_duration(before->value),
                     core::format_duration(after->value));
}

}  // namespace

std::vector<std::string> drifts_of(std::span<const trace::LlmRequestRow> requests, const trace::NameTable& names) {
  std::vector<const trace::LlmRequestRow*> complete;
  for (const auto& row : requests)
    if (names.text(row.outcome) == "ok") complete.push_back(&row);
  std::stable_sort(complete.begin(), complete.end(),
                   [](const auto* a, const auto* b) { return a->scheduled_ns < b->scheduled_ns; });
  std::vector<double> ttft[2], tpot[2];
  for (std::size_t i = 0; i < complete.size(); ++i) {
    const RequestTimes times = times_of(*complete[i]);
    const std::size_t half = 2 * i < complete.size() ? 0 : 1;
    if (times.ttft_ns) ttft[half].push_back(*times.ttft_ns);
    if (times.tpot_ns) tpot[half].push_back(*times.tpot_ns);
  }
  std::vector<std::string> drifts;
  for (std::string drift : {drift_of("TTFT", ttft[0], ttft[1]), drift_of("TPOT", tpot[0], tpot[1])})
    if (!drift.empty()) drifts.push_back(std::move(drift));
  return drifts;
}

}  // namespace aaco::analytics::llm
