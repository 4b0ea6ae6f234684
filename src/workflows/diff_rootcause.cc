#include "workflows/diff_rootcause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analytics/trace_cause.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/insight.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kLeastSpanChange = 0.05;  // of the span of a trace: a smaller change is not looked into

// The run whose median lies in the middle of the side's.
const ComparedSession* middle_run(const ComparedSide& side) {
  std::vector<std::pair<double, const ComparedSession*>> runs;
  for (const ComparedSession& session : side.sessions) {
    const auto* median = find_metric(session.metrics, "latency.p50_ns");
    if (session.kind == "run" && !session.path.empty() && median != nullptr) runs.emplace_back(median->value, &session);
  }
  if (runs.empty()) return nullptr;
  std::stable_sort(runs.begin(), runs.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  return runs[(runs.size() - 1) / 2].second;
}

core::Result<std::unique_ptr<SessionFacts>> facts_of(const ComparedSession& session) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session.path));
  return session_facts(session.path, manifest, session.metrics);
}

std::string sentence(const analytics::rootcause::Decomposition& difference, const analytics::rootcause::Cause& cause,
                     std::string_view what) {
  std::string text =
      fmt::format("{} ({} likely): {} takes {} {}", cause.title, core::format_percent(cause.probability), what,
                  core::format_duration(std::abs(difference.delta_ns)), difference.delta_ns > 0 ? "longer" : "less");
  std::size_t named = 0;
  for (const auto& part : difference.parts)
    if (named++ < 3)
      text +=
          fmt::format("{} {} {}", named == 1 ? ", of it" : ",", core::format_percent(part.ns / difference.delta_ns), part.title);
  return text + fmt::format("; {} unexplained", core::format_percent(difference.unexplained_ns / difference.delta_ns));
}

std::string advice(const Judges& judges, const analytics::rootcause::Decomposition& difference,
                   const analytics::rootcause::Cause& cause) {
  if (difference.delta_ns < 0) return "nothing to do: it became faster; approve it as the new baseline";
  if (const auto* kind = judges.book.find(cause.id)) return kind->strategies.front();
  return "set back what was changed (" + cause.title + "), or approve the change as the new baseline";
}

// A step of an imported trace, as its outcome and its kernel groups have it; empty where it has no GPU.
core::Result<std::optional<analytics::rootcause::TraceSide>> trace_side(const ComparedSession& session) {
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(session.path));
  trace::NameTable names;
  AACO_ASSIGN(const auto groups, tracelake::read_table<trace::KernelGroupRow>(session.path, names));
  const auto& gpus = manifest.outcome["gpu"]["gpus"].items();
  if (gpus.empty() || groups.empty()) return std::optional<analytics::rootcause::TraceSide>();
  const double share =
      session.scope == "step" && !session.iterations.empty() ? 1 / static_cast<double>(session.iterations.size()) : 1;
  analytics::rootcause::TraceSide side;
  const auto sum = [&](std::string_view id) {
    double total = 0;
    for (const auto& metric : session.metrics)
      if (metric.id == id) total += metric.value * share;
    return total;
  };
  side.span_ns = sum("gpu.span_ns");
  side.compute_ns = sum("gpu.compute_ns");
  side.exposed_collective_ns = sum("gpu.exposed_collective_ns");
  side.exposed_copy_ns = std::max(0.0, sum("gpu.busy_ns") - side.compute_ns - side.exposed_collective_ns);
  double explained = 0;
  for (const Json& gpu : gpus)
    for (const Json& gap : gpu["gaps"].items()) {
      const double ns = gap["idle_ns"].as_f64().value_or(0) * share;
      side.idle_ns[std::string(gap["cause"].text())] += ns;
      explained += ns;
    }
  side.idle_ns["short gaps"] = std::max(0.0, sum("gpu.idle_ns") - explained);
  for (const auto& row : groups) {
    auto& kernel = side.kernels[std::string(names.text(row.kernel_name))];
    kernel.count += static_cast<double>(row.kernel_count) * share;
    kernel.sum_ns += static_cast<double>(row.kernel_sum_ns) * share;
  }
  return std::optional(std::move(side));
}

}  // namespace

core::Result<std::optional<SuspectedCause>> cause_of_traces(const ComparedSide& a, const ComparedSide& b,
                                                            const Services& services) {
  const auto traced = [](const ComparedSide& side) {
    return side.sessions.size() == 1 && side.sessions.front().kind == "import" && !side.sessions.front().path.empty();
  };
  if (!traced(a) || !traced(b)) return std::optional<SuspectedCause>();
  AACO_ASSIGN(const auto side_a, trace_side(a.sessions.front()));
  AACO_ASSIGN(const auto side_b, trace_side(b.sessions.front()));
  if (!side_a || !side_b) return std::optional<SuspectedCause>();
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  const auto difference = decompose_traces(*side_a, *side_b);
  if (std::abs(difference.delta_ns) < kLeastSpanChange * difference.baseline_ns) return std::optional<SuspectedCause>();
  const auto causes = find_trace_causes(*side_a, *side_b, difference, judges.book);
  if (causes.empty()) return std::optional<SuspectedCause>();
  Json details = Json::object({{"baseline_session", a.sessions.front().id},
                               {"candidate_session", b.sessions.front().id},
                               {"causes", to_json(causes)},
                               {"decomposition", to_json(difference)}});
  return std::optional(SuspectedCause{sentence(difference, causes.front(), "the device work"),
                                      advice(judges, difference, causes.front()), std::move(details)});
}

core::Result<std::optional<SuspectedCause>> cause_of_runs(const ComparedSide& a, const ComparedSide& b,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services) {
  const ComparedSession *const run_a = middle_run(a), *const run_b = middle_run(b);
  if (run_a == nullptr || run_b == nullptr) return std::optional<SuspectedCause>();
  AACO_ASSIGN(const Judges judges, load_judges(services.paths));
  AACO_ASSIGN(const auto facts_a, facts_of(*run_a));
  AACO_ASSIGN(const auto facts_b, facts_of(*run_b));
  const auto difference = decompose(facts_a->side, facts_b->side);
  if (!difference || difference->delta_ns == 0) return std::optional<SuspectedCause>();
  const auto causes =
      find_causes(facts_a->side, facts_b->side, *difference, differences, judges.book, judges.cause ? &*judges.cause : nullptr);
  if (causes.empty()) return std::optional<SuspectedCause>();
  Json details = Json::object({{"baseline_session", run_a->id},
                               {"candidate_session", run_b->id},
                               {"causes", to_json(causes)},
                               {"decomposition", to_json(*difference)}});
  return std::optional(SuspectedCause{sentence(*difference, causes.front(), "a call"),
                                      advice(judges, *difference, causes.front()), std::move(details)});
}

}  // namespace aaco::workflows
