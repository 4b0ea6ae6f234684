#include <algorithm>
#include <map>
#include <string_view>

#include "analytics/telemetry.h"

namespace aaco::analytics::metrics {
namespace {

std::vector<Window> joined(std::vector<Window> windows) {
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) { return a.start_ns < b.start_ns; });
  std::vector<Window> result;
  for (const Window& window : windows) {
    if (!result.empty() && window.start_ns <= result.back().end_ns) {
      result.back().end_ns = std::max(result.back().end_ns, window.end_ns);
    } else {
      result.push_back(window);
    }
  }
  return result;
}

}  // namespace

ObservedWork observed_work(std::span<const trace::IterationRow> iterations, const trace::NameTable& names) {
  for (const std::string_view phase : {"measure_telemetry", "measure", "step"}) {
    ObservedWork work;
    std::map<std::pair<std::int32_t, std::int64_t>, Window> blocks;  // by rank and block
    for (const trace::IterationRow& row : iterations) {
      if (names.text(row.phase) != phase) continue;
      const Window own{row.start_ns, row.start_ns + row.duration_ns};
      const auto [place, is_new] = blocks.try_emplace({row.rank, row.block}, own);
      place->second.start_ns = std::min(place->second.start_ns, own.start_ns);
      place->second.end_ns = std::max(place->second.end_ns, own.end_ns);
      ++work.iterations;
    }
    if (blocks.empty()) continue;
    for (const auto& [key, window] : blocks) work.windows.push_back(window);
    work.windows = joined(std::move(work.windows));
    return work;
  }
  return {};
}

}  // namespace aaco::analytics::metrics
