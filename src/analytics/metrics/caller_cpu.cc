#include <set>
#include <utility>

#include "analytics/latency.h"

namespace aaco::analytics::metrics {
namespace {

// The blocks without telemetry of which an iteration is counted, and whose CPU time the kernel told.
std::vector<const trace::LoopBlockRow*> counted_blocks(std::span<const trace::LoopBlockRow> blocks,
                                                       std::span<const trace::IterationRow> iterations,
                                                       const trace::NameTable& names) {
  std::set<std::pair<std::int64_t, std::int64_t>> counted;  // rank, block
  for (const auto& row : iterations)
    if (names.text(row.phase) == "measure") counted.emplace(row.rank, row.block);
  std::vector<const trace::LoopBlockRow*> found;
  for (const auto& block : blocks)
    if (names.text(block.phase) == "measure" && block.call_count > 0 && block.caller_cpu_ns.value_or(0) > 0 &&
        counted.contains({block.rank, block.block}))
      found.push_back(&block);
  return found;
}

}  // namespace

std::vector<double> caller_cpu_of(std::span<const trace::LoopBlockRow> blocks, std::span<const trace::IterationRow> iterations,
                                  const trace::NameTable& names) {
  std::vector<double> series;
  for (const auto* block : counted_blocks(blocks, iterations, names))
    series.push_back(static_cast<double>(*block->caller_cpu_ns) / static_cast<double>(block->call_count));
  return series;
}

trace::Metrics caller_cpu_metrics(std::span<const trace::LoopBlockRow> blocks, std::span<const trace::IterationRow> iterations,
                                  const trace::NameTable& names) {
  const std::vector<double> series = caller_cpu_of(blocks, iterations, names);
  if (series.empty()) return {};
  const stats::Summary summary = stats::summarize(series);
  trace::MetricValue value{std::string(kCallerCpu), *summary.mean, "ns", {}, {}};
  if (summary.mean_ci95) value.ci95 = trace::Interval{summary.mean_ci95->low, summary.mean_ci95->high};
  return {std::move(value)};
}

}  // namespace aaco::analytics::metrics
