#include "workflows/diff.h"

#include <algorithm>
#include <cmath>

#include "analytics/latency.h"
#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

// One session of a side: what it was, and its series.
struct Side {
  std::vector<std::string> ids;
  std::vector<hardware::Fingerprint> fingerprints;
  std::vector<std::vector<double>> series;  // measured iterations in order, ns
};

core::Result<std::vector<double>> measured_series(const std::string& path) {
  trace::NameTable names;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::IterationRow>(path, names));
  for (const char* phase : {"measure", "step"}) {
    auto series = analytics::metrics::durations_of(rows, names, phase);
    if (!series.empty()) return series;
  }
  return std::vector<double>();
}

core::Result<hardware::Fingerprint> stored_fingerprint(const std::string& path) {
  const std::string file = core::join_path(path, "env.json");
  if (!core::exists(file)) return hardware::Fingerprint{};
  AACO_ASSIGN(const core::Json environment, core::read_json_file(file));
  return hardware::fingerprint_from_json(environment["fingerprint"]);
}

core::Result<Side> load_side(const std::vector<std::string>& names, const Services& services) {
  Side side;
  for (const std::string& name : names) {
    AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
    AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
    if (manifest.state == "incomplete")
      return core::fail(ErrorCode::invalid_input, "the session " + manifest.id.text + " is incomplete and cannot be compared",
                        "run it again");
    side.ids.push_back(manifest.id.text);
    AACO_ASSIGN(hardware::Fingerprint fingerprint, stored_fingerprint(path));
    side.fingerprints.push_back(std::move(fingerprint));
    AACO_ASSIGN(auto series, measured_series(path));
    side.series.push_back(std::move(series));
  }
  return side;
}

// Every difference between any session of one side and any other session, each key once.
std::vector<hardware::Difference> all_differences(const Side& a, const Side& b) {
  std::vector<hardware::Fingerprint> all = a.fingerprints;
  all.insert(all.end(), b.fingerprints.begin(), b.fingerprints.end());
  std::vector<hardware::Difference> found;
  for (std::size_t i = 1; i < all.size(); ++i)
    for (auto& difference : hardware::compare_fingerprints(all.front(), all[i]))
      if (std::none_of(found.begin(), found.end(), [&](const auto& known) { return known.key == difference.key; }))
        found.push_back(std::move(difference));
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.severity < y.severity; });
  return found;
}

core::Result<stats::StatisticChoice> statistic_of(const std::string& name) {
  if (name == "mean") return stats::StatisticChoice{};
  if (name == "p50") return stats::StatisticChoice{0.5};
  if (name == "p90") return stats::StatisticChoice{0.9};
  if (name == "p95") return stats::StatisticChoice{0.95};
  if (name == "p99") return stats::StatisticChoice{0.99};
  return core::fail(ErrorCode::invalid_argument, "'" + name + "' is no latency statistic", "known: p50, p90, p95, p99, mean");
}

core::Result<MetricComparison> compare_metric(const std::string& name, const Side& a, const Side& b, const DiffRequest& request,
                                              std::size_t metric_count) {
  stats::CompareOptions options;
  options.threshold_ratio = request.threshold_ratio;
  options.level = 1 - (1 - request.level) / static_cast<double>(metric_count);
  AACO_ASSIGN(options.statistic, statistic_of(name));
  auto compared = stats::compare(a.series, b.series, options);
  MetricComparison metric{"latency." + name + "_ns", std::nullopt, {}};
  if (compared)
    metric.comparison = std::move(*compared);
  else
    metric.reason = compared.error().message;
  return metric;
}

std::string severity_of(const stats::Comparison& comparison, double threshold) {
  const double size = std::abs(comparison.delta_ratio);
  if (comparison.verdict != stats::Verdict::regression) return "none";
  if (size >= 4 * threshold) return "critical";
  if (size >= 2 * threshold) return "major";
  return "minor";
}

core::Json metric_json(const MetricComparison& metric) {
  core::Json out = core::Json::object({{"metric", metric.metric}});
  if (!metric.comparison) return out.set("reason", metric.reason);
  const auto& c = *metric.comparison;
  out.set("verdict", to_string(c.verdict))
      .set("baseline_ns", c.baseline)
      .set("candidate_ns", c.candidate)
      .set("delta_ratio", c.delta_ratio)
      .set("interval", core::Json::array({c.interval.low, c.interval.high}))
      .set("smallest_detectable_ratio", c.smallest_detectable_ratio)
      .set("between_sessions_known", c.between_sessions_known)
      .set("more_sessions", c.more_sessions)
      .set("more_iterations", c.more_iterations)
      .set("explanation", c.explanation);
  if (c.welch) out.set("welch_p", c.welch->p_value);
  if (c.rank) out.set("rank_p", c.rank->p_value);
  return out;
}

core::Json texts(const std::vector<std::string>& values) {
  core::Json out = core::Json::array();
  for (const auto& value : values) out.push(value);
  return out;
}

}  // namespace

core::Result<DiffOutcome> diff(const DiffRequest& request, const Services& services) {
  AACO_ASSIGN(const Side a, load_side(request.baseline, services));
  AACO_ASSIGN(const Side b, load_side(request.candidate, services));
  DiffOutcome outcome;
  outcome.baseline_ids = a.ids;
  outcome.candidate_ids = b.ids;
  outcome.differences = all_differences(a, b);
  outcome.comparable = hardware::comparable(outcome.differences);
  if (!outcome.comparable && !request.force) {
    outcome.verdict = "not-comparable";
    return outcome;
  }
  const std::vector<std::string> names =
      request.metrics.empty() ? std::vector<std::string>{"p50", "p90", "mean"} : request.metrics;
  for (const std::string& name : names) {
    AACO_ASSIGN(MetricComparison metric, compare_metric(name, a, b, request, names.size()));
    outcome.metrics.push_back(std::move(metric));
  }
  const auto& first = outcome.metrics.front();
  outcome.verdict = first.comparison ? std::string(to_string(first.comparison->verdict)) : "inconclusive";
  return outcome;
}

core::Json to_json(const DiffOutcome& outcome, const DiffRequest& request) {
  core::Json differences = core::Json::array();
  for (const auto& d : outcome.differences)
    differences.push(core::Json::object({{"key", d.key},
                                         {"baseline", d.a},
                                         {"candidate", d.b},
                                         {"forbids", d.severity == hardware::Severity::hard},
                                         {"meaning", d.meaning}}));
  core::Json metrics = core::Json::array();
  for (const auto& metric : outcome.metrics) metrics.push(metric_json(metric));
  core::Json out = core::Json::object({{"schema_version", 1},
                                       {"verdict", outcome.verdict},
                                       {"regression", outcome.verdict == "regression"},
                                       {"comparable", outcome.comparable},
                                       {"baseline", texts(outcome.baseline_ids)},
                                       {"candidate", texts(outcome.candidate_ids)},
                                       {"threshold_ratio", request.threshold_ratio},
                                       {"level", request.level}});
  if (!outcome.metrics.empty() && outcome.metrics.front().comparison) {
    const auto& decided = *outcome.metrics.front().comparison;
    out.set("severity", severity_of(decided, request.threshold_ratio)).set("latency_delta_pct", decided.delta_ratio * 100);
  }
  return out.set("differences", std::move(differences)).set("statistics", std::move(metrics));
}

}  // namespace aaco::workflows
