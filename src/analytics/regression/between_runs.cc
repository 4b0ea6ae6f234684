#include "analytics/between_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "analytics/side_verdict.h"

namespace aaco::analytics::regression {
namespace {

constexpr std::size_t kParts = 8;        // a session's blocks are compared in
constexpr std::size_t kFewestParts = 4;  // below which nothing is learnt
constexpr double kMaxWaiting = 0.99;     // keeps the logarithm finite

struct Sum {
  double wall_ns = 0, waiting_ns = 0;
  std::int64_t calls = 0;
  void add(const trace::LoopBlockRow& block) {
    wall_ns += static_cast<double>(block.end_ns - block.start_ns);
    waiting_ns += static_cast<double>(block.caller_wait_ns.value_or(0));
    calls += block.call_count;
  }
};

double deviation_of_logs(std::span<const Sum> parts) {
  double sum = 0, squares = 0;
  for (const Sum& part : parts) sum += std::log(part.wall_ns / static_cast<double>(part.calls));
  const double mean = sum / static_cast<double>(parts.size());
  for (const Sum& part : parts) squares += std::pow(std::log(part.wall_ns / static_cast<double>(part.calls)) - mean, 2);
  return std::sqrt(squares / static_cast<double>(parts.size() - 1));
}

}  // namespace

RunScatter run_scatter(std::span<const trace::LoopBlockRow> blocks, const trace::NameTable& names) {
  std::vector<const trace::LoopBlockRow*> measured;
  for (const auto& block : blocks)
    if (names.text(block.phase) == "measure" && block.call_count > 0 && block.end_ns > block.start_ns) measured.push_back(&block);
  RunScatter scatter;
  Sum all;
  std::vector<Sum> parts(std::min(kParts, measured.size()));
  for (std::size_t i = 0; i < measured.size(); ++i) {
    all.add(*measured[i]);
    parts[i * parts.size() / measured.size()].add(*measured[i]);
  }
  if (all.wall_ns > 0) scatter.waiting_ratio = std::clamp(all.waiting_ns / all.wall_ns, 0.0, 1.0);
  if (parts.size() >= kFewestParts) scatter.drift_ratio = std::expm1(deviation_of_logs(parts));
  return scatter;
}

double assumed_between_runs(std::span<const RunScatter> sessions, double machine_ratio) {
  double drift = 0, waiting = 0;
  for (const RunScatter& one : sessions) {
    drift = std::max(drift, std::log1p(std::max(one.drift_ratio, 0.0)));
    waiting = std::max(waiting, std::clamp(one.waiting_ratio, 0.0, kMaxWaiting));
  }
  const double base = std::log1p(std::max(kAssumedBetweenRuns, machine_ratio));
  return std::expm1(std::hypot(base, drift, -std::log1p(-waiting)));
}

double pooled_neighbour_deviation(std::span<const std::vector<double>> groups_of_medians, std::size_t fewest_pairs) {
  double squares = 0;
  std::size_t pairs = 0;
  for (const auto& medians : groups_of_medians)
    for (std::size_t i = 1; i < medians.size(); ++i) {
      if (!(medians[i] > 0) || !(medians[i - 1] > 0)) continue;
      squares += std::pow(std::log(medians[i] / medians[i - 1]), 2);
      ++pairs;
    }
  if (pairs == 0 || pairs < fewest_pairs) return 0;
  return std::expm1(std::sqrt(squares / (2 * static_cast<double>(pairs))));
}

}  // namespace aaco::analytics::regression
