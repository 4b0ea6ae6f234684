#include "workflows/idle_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/step_time.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "stats/multiple.h"
#include "stats/two_sample.h"
#include "workflows/compare/host_activity.h"

namespace aaco::workflows {
namespace {

using core::Json;

// Of the idle time of both sides together: a smaller cause is not tested, whichever way it changed (our own judgement).
constexpr double kTestedShare = 0.01;
constexpr double kExplains = 0.5;          // of what the whole takes longer: a part that holds so much explains it
constexpr std::size_t kFewestWindows = 3;  // on each side, for a test of their means

struct IdleSeries {
  std::size_t windows = 0;
  std::map<std::string, std::vector<double>> by_cause;
};

std::optional<IdleSeries> series_of(const ComparedSide& side) {
  IdleSeries out;
  for (const ComparedSession& session : side.sessions) {
    if (!session.work || session.work->time.window_count <= 0) return std::nullopt;
    const auto& time = session.work->time;
    const std::size_t before = out.windows;
    out.windows += static_cast<std::size_t>(time.window_count);
    for (const auto& [cause, list] : time.idle_by_window) {
      auto& all = out.by_cause[cause];
      all.resize(before);
      all.insert(all.end(), list.begin(), list.end());
    }
    for (auto& [cause, list] : out.by_cause) list.resize(out.windows);
  }
  return out;
}

double mean_idle(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double all_idle(const IdleSeries& series) {
  double sum = 0;
  for (const auto& [cause, list] : series.by_cause) sum += mean_idle(list);
  return sum;
}

std::string title_of(const std::string& id, const analytics::gaps::NamedCause* known) {
  if (known != nullptr) return known->title;
  if (id == analytics::trace_time::kOutsideWork) return "before the first or after the last device work";
  return core::replace_all(id, "_", " ");
}

void correct(std::vector<IdleCauseChange>& changes, const std::vector<std::optional<double>>& p_values) {
  std::vector<double> tested;
  for (const auto& one : p_values)
    if (one) tested.push_back(*one);
  const auto holm = stats::holm_adjusted(tested);
  for (std::size_t i = 0, next = 0; i < changes.size(); ++i)
    if (p_values[i]) changes[i].p_holm = holm[next++];
}

}  // namespace

std::vector<IdleCauseChange> compare_idle_causes(const ComparedSide& a, const ComparedSide& b,
                                                 const analytics::gaps::CauseBook& book) {
  auto of_a = series_of(a), of_b = series_of(b);
  if (!of_a || !of_b) return {};
  for (const auto& [cause, list] : of_a->by_cause) of_b->by_cause.try_emplace(cause, of_b->windows, 0.0);
  for (const auto& [cause, list] : of_b->by_cause) of_a->by_cause.try_emplace(cause, of_a->windows, 0.0);
  const double all = all_idle(*of_a) + all_idle(*of_b);
  std::vector<IdleCauseChange> changes;
  std::vector<std::optional<double>> p_values;
  for (const auto& [cause, before] : of_a->by_cause) {
    const auto& after = of_b->by_cause.at(cause);
    const auto index = book.find(cause);
    const auto* known = index ? &book.at(*index) : nullptr;
    IdleCauseChange change;
    change.id = cause;
    change.title = title_of(cause, known);
    change.activity = known != nullptr && is_activity(*known);
    if (known != nullptr) change.remedy = known->remedy;
    change.baseline_ns = mean_idle(before);
    change.candidate_ns = mean_idle(after);
    if (change.baseline_ns <= 0 && change.candidate_ns <= 0) continue;
    p_values.emplace_back();
    const bool matters = change.baseline_ns + change.candidate_ns >= kTestedShare * all;
    if (matters && std::min(before.size(), after.size()) >= kFewestWindows)
      if (const auto test =
              stats::welch_test({before, static_cast<double>(before.size())}, {after, static_cast<double>(after.size())})) {
        change.ci95 = test->ci95;
        p_values.back() = test->p_value;
      }
    changes.push_back(std::move(change));
  }
  correct(changes, p_values);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.delta_ns()) > std::abs(y.delta_ns()); });
  return changes;
}

std::optional<SuspectedCause> decided_activity(const std::vector<IdleCauseChange>& changes, double step_ns,
                                               const analytics::regression::MetricResult& whole, double level) {
  if (!whole.delta_ratio || step_ns <= 0) return std::nullopt;
  for (const IdleCauseChange& one : changes) {
    if (!one.activity || !one.is_decided(level) || (one.delta_ns() > 0) != (*whole.delta_ratio > 0)) continue;
    if (std::abs(one.delta_ns()) < whole.threshold_ratio * step_ns) continue;
    const bool more = one.delta_ns() > 0;
    Json cause = Json::object({{"cause", one.id}, {"title", one.title}, {"p_holm", *one.p_holm}});
    return SuspectedCause{
        fmt::format("{}: {} instead of {} of idle time per step (95 % interval of the difference {} to {}); the whole "
                    "step is inconclusive",
                    one.title, core::format_duration(one.candidate_ns), core::format_duration(one.baseline_ns),
                    core::format_signed_duration(one.ci95->low), core::format_signed_duration(one.ci95->high)),
        more ? one.remedy : "no action needed: this part is faster in B",
        Json::object({{"of", "step"}, {"causes", Json::array({std::move(cause)})}})};
  }
  return std::nullopt;
}

std::optional<SuspectedCause> explaining_activity(const std::vector<IdleCauseChange>& changes, double step_ns,
                                                  double span_delta_ns, const analytics::regression::MetricResult& whole) {
  if (step_ns <= 0 || std::abs(span_delta_ns) < whole.threshold_ratio * step_ns) return std::nullopt;
  for (const IdleCauseChange& one : changes) {
    const double share = one.delta_ns() / span_delta_ns;
    if (!one.activity || one.p_holm || share < kExplains) continue;
    Json cause = Json::object({{"cause", one.id}, {"title", one.title}, {"share", share}});
    return SuspectedCause{
        fmt::format("{}: {} instead of {} of idle time, {} of the difference between these two traces; too few steps to tell "
                    "whether it repeats",
                    one.title, core::format_duration(one.candidate_ns), core::format_duration(one.baseline_ns),
                    core::format_percent(share)),
        one.delta_ns() > 0 ? one.remedy : "no action needed: this part is faster in B",
        Json::object({{"of", "trace"}, {"causes", Json::array({std::move(cause)})}})};
  }
  return std::nullopt;
}

Json to_json(const std::vector<IdleCauseChange>& changes) {
  Json list = Json::array();
  for (const IdleCauseChange& one : changes) {
    Json entry = Json::object({{"cause", one.id},
                               {"title", one.title},
                               {"activity", one.activity},
                               {"baseline_ns", one.baseline_ns},
                               {"candidate_ns", one.candidate_ns},
                               {"delta_ns", one.delta_ns()}});
    if (one.ci95) entry.set("delta_ci95", Json::array({one.ci95->low, one.ci95->high}));
    entry.set_if("p_holm", one.p_holm);
    list.push(std::move(entry));
  }
  return list;
}

core::Status define_idle_metrics(const analytics::gaps::CauseBook& book, analytics::metrics::MetricCatalogue& catalogue) {
  std::map<std::string, std::string> titles;  // by metric
  for (const char* cause : {"host_late", "launch_latency", "synchronisation", "copy", "dependency", "queue_empty"})
    titles[analytics::gaps::idle_metric(cause)] = title_of(cause, nullptr);
  for (const auto& cause : book.causes()) titles[analytics::gaps::idle_metric(cause.id)] = cause.title;
  std::string text = "schema: 1\nmetrics:\n";
  for (const auto& [id, title] : titles)
    text += fmt::format(
        "  - {{id: {}, title: {}, unit: ns, direction: lower, formula: \"sum of the gaps named by this cause / steps and "
        "devices\", meaning: \"Idle time of the device per step, in gaps whose cause is this; of the whole trace where it has no "
        "steps.\", source: AACO}}\n",
        id, Json("GPU idle: " + title).dump(-1));
  AACO_ASSIGN(const auto document, core::YamlNode::parse(text, "metrics of idle causes"));
  return catalogue.add(document);
}

}  // namespace aaco::workflows
