#include "workflows/run/run_metrics.h"

#include <algorithm>

#include "core/numbers.h"
#include "workflows/session/table_metrics.h"

namespace aaco::workflows {
namespace {

constexpr double kSlowProfile = 0.25;  // above this the profiled pass is another regime than the measured one

// What only the run itself knows: the rest follows from the tables.
trace::Metrics own_metrics(const RunFacts& facts) {
  trace::Metrics out;
  out.push_back({"memory.rss_peak_bytes", static_cast<double>(facts.rss_peak_bytes), "bytes", {}, {}});
  out.push_back({"memory.rss_load_bytes", static_cast<double>(facts.rss_load_bytes), "bytes", {}, {}});
  if (facts.profile_slowdown_ratio) out.push_back({"profile.slowdown_ratio", *facts.profile_slowdown_ratio, "ratio", {}, {}});
  out.insert(out.end(), facts.sleep.begin(), facts.sleep.end());
  out.insert(out.end(), facts.freezes.begin(), facts.freezes.end());
  return out;
}

void warn_of_distortion(SessionDraft& draft, const trace::Metrics& metrics) {
  if (const auto* effect = find_metric(metrics, "observer.effect_ratio"); effect && effect->ci95 && effect->ci95->low > 0.01)
    draft.warn("observer.costly",
               "telemetry slowed its blocks by more than 1 %; the latency is from the blocks without telemetry",
               "increase --telemetry-period, or remove --ebpf");
  if (const auto* slow = find_metric(metrics, "profile.slowdown_ratio"); slow && slow->value > kSlowProfile)
    draft.warn("profile.slow",
               "the profiled pass was " + core::format_percent(slow->value) +
                   " slower than the measured one: node shares are from the profiled pass",
               "close other programs and run again, or treat the shares as approximate");
}

}  // namespace

core::Result<trace::Metrics> run_metrics(const RunFacts& facts, SessionDraft& draft, LoadedSession& loaded) {
  AACO_ASSIGN(trace::Metrics metrics, table_metrics(draft, loaded, facts.batch));
  for (auto& metric : own_metrics(facts)) {
    std::erase_if(metrics, [&](const trace::MetricValue& known) { return known.id == metric.id; });
    metrics.push_back(std::move(metric));
  }
  warn_of_distortion(draft, metrics);
  if (const auto* median = find_metric(metrics, "latency.p50_ns")) draft.manifest().outcome.p50_ns = median->value;
  return metrics;
}

double median_of(const std::vector<runner::TimedCall>& calls) {
  std::vector<std::int64_t> durations;
  for (const auto& call : calls) durations.push_back(call.duration_ns);
  if (durations.empty()) return 0;
  auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  return static_cast<double>(*middle);
}

void warn_of_placement(SessionDraft& draft, const RunPlan& plan, const core::Json& runtime) {
  const core::Json& placed = runtime["nodes_by_provider"];
  std::int64_t elsewhere = 0;
  std::int64_t all = 0;
  for (const auto& [provider, count] : placed.members()) {
    all += count.as_i64().value_or(0);
    if (provider != plan.backend.provider) elsewhere += count.as_i64().value_or(0);
  }
  if (elsewhere > 0)
    draft.warn("placement.fallback",
               std::to_string(elsewhere) + " of " + std::to_string(all) + " nodes did not run on " + plan.backend.provider,
               "runtime/ort_config.json lists the nodes per provider");
  else if (placed.is_null())
    draft.warn("placement.unknown", "the runtime did not report the provider of each node",
               "use --profile to see the provider of each node");
}

}  // namespace aaco::workflows
