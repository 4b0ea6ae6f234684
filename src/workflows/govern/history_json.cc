#include "workflows/history_json.h"

#include "core/clock.h"

namespace aaco::workflows {
namespace {

using analytics::trend::Trend;
using core::Json;

Json steps_json(const HistorySeries& series) {
  Json out = Json::array();
  for (const auto& step : series.trend->steps) {
    const HistoryPoint& point = series.points[step.index];
    Json one = Json::object({{"index", step.index}});
    if (!point.label.empty()) one.set("label", point.label);
    if (point.time_ns) one.set("time", core::iso8601_utc(*point.time_ns));
    one.set("before", step.before).set("after", step.after).set_if("delta_ratio", step.delta_ratio);
    one.set("meaning", to_string(step.meaning)).set("alarm", step.alarm).set("part_of_drift", step.part_of_drift);
    one.set_if("reverted_at", step.reverted_at);
    out.push(one.set("rank_p", step.p_value).set("bayes_agrees", step.bayes_agrees));
  }
  return out;
}

// Keys end in the unit of time: "_per_day", "_per_point".
Json drift_json(const Trend& trend) {
  const std::string per = trend.in_days ? "day" : "point";
  return Json::object({{"value_per_" + per, trend.drift->per_unit},
                       {"interval", Json::array({trend.drift->per_unit_ci95.low, trend.drift->per_unit_ci95.high})},
                       {"ratio_per_" + per, trend.drift->ratio_per_unit},
                       {"significant", trend.drift->significant},
                       {"meaning", to_string(trend.drift->meaning)}});
}

Json trend_json(const HistorySeries& series) {
  const Trend& trend = *series.trend;
  const std::string unit = trend.in_days ? "days" : "points";
  Json out = Json::object({{"changes", steps_json(series)},
                           {"tells_steps", trend.tells_steps},
                           {"level", trend.level},
                           {"stretch_start", trend.stretch_start}});
  if (trend.alternation)
    out.set(
        "alternation",
        Json::object({{"low", trend.alternation->low}, {"high", trend.alternation->high}, {"flips", trend.alternation->flips}}));
  if (trend.drift) out.set("drift", drift_json(trend));
  if (trend.forecast)
    out.set("forecast", Json::object({{"ahead_" + unit, trend.forecast->ahead},
                                      {"value", trend.forecast->value},
                                      {"interval", Json::array({trend.forecast->interval.low, trend.forecast->interval.high})}}));
  if (trend.breaks) {
    Json breaks = Json::object(
        {{"limit", trend.breaks->limit}, {"in_" + unit, trend.breaks->in_units}, {"earliest", trend.breaks->earliest}});
    out.set("budget_break", breaks.set_if("latest", trend.breaks->latest));
  }
  out.set("recent_change_probability", trend.recent_change_probability);
  Json alarms = Json::texts(trend.alarms);
  return out.set("alarms", std::move(alarms));
}

Json points_json(const std::vector<HistoryPoint>& points) {
  Json out = Json::array();
  for (const auto& point : points) {
    Json one = Json::object({{"value", point.value}});
    if (!point.label.empty()) one.set("label", point.label);
    if (point.time_ns) one.set("time", core::iso8601_utc(*point.time_ns));
    out.push(std::move(one));
  }
  return out;
}

}  // namespace

Json to_json(const HistoryOutcome& outcome, const HistoryRequest& request) {
  Json all = Json::array();
  for (const auto& series : outcome.series) {
    Json one = Json::object({{"name", series.name}, {"unit", series.unit}});
    if (!series.of.empty()) one.set("of", series.of);
    if (series.lower_is_better) one.set("better", *series.lower_is_better ? "lower" : "higher");
    one.set("count", series.points.size()).set("points", points_json(series.points));
    if (!series.interrupted.empty()) one.set("interrupted", points_json(series.interrupted));
    if (series.trend) one.set("trend", trend_json(series));
    if (!series.reason.empty()) one.set("reason", series.reason);
    all.push(std::move(one));
  }
  Json notes = Json::texts(outcome.notes);
  return Json::object({{"schema_version", 1},
                       {"metric", request.metric},
                       {"threshold_ratio", request.options.threshold_ratio},
                       {"alarmed", outcome.alarmed()},
                       {"worsened", outcome.worsened()},
                       {"account", to_json(outcome.account)},
                       {"series", std::move(all)},
                       {"notes", std::move(notes)}});
}

}  // namespace aaco::workflows
