#include "analytics/stability.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "analytics/noise.h"
#include "core/numbers.h"
#include "core/yaml.h"
#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/robust.h"

namespace aaco::analytics::noise {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::array<std::int64_t, 2> kRunSeconds = {10, 60};
constexpr double kMedianVariance = std::numbers::pi / 2;  // of a median over that of a mean, for a normal sample
constexpr std::array<std::string_view, 6> kSensors = {"others_cores",       "steal_cores",   "throttled_ratio",
                                                      "thermal_per_second", "io_some_ratio", "memory_some_ratio"};

double detectable(double variance) {
  const double reach = stats::normal_quantile(0.975) + stats::normal_quantile(0.8);
  return std::expm1(reach * std::sqrt(2 * variance));
}

core::Result<LoopStability> judge_loop(const LoopSeries& loop, std::int64_t slice_ns) {
  LoopStability out;
  out.id = loop.id;
  std::vector<double> medians, logs, within, counts;
  for (const auto& calls : loop.processes) {
    if (calls.size() < 5 || *std::min_element(calls.begin(), calls.end()) <= 0)
      return core::fail(ErrorCode::invalid_input, "a process of loop '" + loop.id + "' made too few calls for a verdict",
                        "measure longer (--duration)");
    const double median = stats::median(calls);
    medians.push_back(median);
    logs.push_back(std::log(median));
    within.push_back(stats::robust_deviation(calls) / median);
    counts.push_back(stats::effective_sample_size(calls));
  }
  out.median_ns = stats::median(medians);
  out.within_ratio = stats::median(within);
  out.between_ratio = std::sqrt(stats::variance_of(logs));
  out.range_ratio = *std::max_element(medians.begin(), medians.end()) / *std::min_element(medians.begin(), medians.end()) - 1;
  const double own = kMedianVariance * out.within_ratio * out.within_ratio / std::max(1.0, stats::median(counts));
  const double total = out.between_ratio * out.between_ratio;
  const double between = std::max(0.0, total - own);
  for (const std::int64_t seconds : kRunSeconds) {
    const double slices = std::max(1.0, static_cast<double>(seconds) * 1e9 / static_cast<double>(slice_ns));
    out.one_process[seconds] = detectable(between + own / slices);
    out.interleaved[seconds] = detectable(std::max(total, own) / slices);
  }
  return out;
}

Json by_time(const std::map<std::int64_t, double>& values) {
  Json out = Json::object();
  for (const auto& [seconds, value] : values) out.set(std::to_string(seconds) + "s", value);
  return out;
}

}  // namespace

core::Result<std::vector<StabilityLimit>> load_stability_limits(const std::string& path) {
  AACO_ASSIGN(const auto document, core::YamlNode::load(path));
  AACO_TRY(document.only_keys({"schema", "limits"}));
  AACO_ASSIGN(const auto schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported", "this version reads schema 1");
  AACO_ASSIGN(const core::YamlNode* const list, document.require("limits"));
  if (!list->is_sequence() || list->items().empty()) return list->error("'limits' must be a non-empty list");
  std::vector<StabilityLimit> limits;
  for (const core::YamlNode& node : list->items()) {
    AACO_TRY(node.only_keys({"id", "title", "limit"}));
    StabilityLimit limit;
    AACO_ASSIGN(limit.id, node.require_string("id"));
    AACO_ASSIGN(limit.title, node.require_string("title"));
    AACO_ASSIGN(limit.limit, node.require_f64("limit"));
    const bool known = limit.id == "detectable_60s_ratio" || limit.id == "between_ratio" || limit.id == "within_ratio" ||
                       std::find(kSensors.begin(), kSensors.end(), limit.id) != kSensors.end();
    if (!known || limit.limit < 0) return node.error("invalid limit '" + limit.id + "': unknown id or negative value");
    limits.push_back(std::move(limit));
  }
  return limits;
}

core::Result<StabilityVerdict> judge_stability(const StabilitySample& sample, std::span<const StabilityLimit> limits) {
  if (sample.loops.empty() || sample.slice_ns <= 0)
    return core::fail(ErrorCode::invalid_input, "nothing was measured: no verdict on the machine");
  StabilityVerdict verdict;
  for (const LoopSeries& loop : sample.loops) {
    if (static_cast<std::int64_t>(loop.processes.size()) < kStabilityFewestProcesses)
      return core::fail(ErrorCode::invalid_input,
                        "a verdict on the machine needs at least " + std::to_string(kStabilityFewestProcesses) +
                            " processes, got " + std::to_string(loop.processes.size()),
                        "measure longer (--duration)");
    AACO_ASSIGN(LoopStability judged, judge_loop(loop, sample.slice_ns));
    const auto worst = [&](const char* id, double value) {
      const auto [entry, fresh] = verdict.values.emplace(id, value);
      if (!fresh) entry->second = std::max(entry->second, value);
    };
    worst("between_ratio", judged.between_ratio);
    worst("within_ratio", judged.within_ratio);
    worst("detectable_60s_ratio", judged.interleaved.at(60));
    verdict.loops.push_back(std::move(judged));
  }
  for (const std::string_view sensor : kSensors) {
    std::vector<double> values;
    for (const auto& row : sample.slices)
      if (const auto value = sensor_value(sensor, row)) values.push_back(*value);
    if (!values.empty()) verdict.values.emplace(sensor, stats::mean_of(values));
  }
  for (const StabilityLimit& limit : limits) {
    const auto value = verdict.values.find(limit.id);
    if (value == verdict.values.end() || value->second <= limit.limit) continue;
    const bool ratio = limit.id.ends_with("_ratio");
    const auto text = [&](double number) {
      const std::string hundredths = std::to_string(std::llround(number * 100) % 100);
      return ratio ? core::format_percent(number)
                   : std::to_string(std::llround(number * 100) / 100) + "." + (hundredths.size() < 2 ? "0" : "") + hundredths;
    };
    verdict.against.push_back(limit.title + ": " + text(value->second) + ", limit " + text(limit.limit));
  }
  verdict.fit = verdict.against.empty();
  return verdict;
}

Json to_json(const StabilityVerdict& verdict) {
  Json loops = Json::array(), values = Json::object(), against = Json::array();
  for (const LoopStability& loop : verdict.loops)
    loops.push(Json::object({{"loop", loop.id},
                             {"median_ns", loop.median_ns},
                             {"within_ratio", loop.within_ratio},
                             {"between_ratio", loop.between_ratio},
                             {"range_ratio", loop.range_ratio},
                             {"detectable_one_process_ratio", by_time(loop.one_process)},
                             {"detectable_interleaved_ratio", by_time(loop.interleaved)}}));
  for (const auto& [id, value] : verdict.values) values.set(id, value);
  for (const std::string& text : verdict.against) against.push(text);
  return Json::object({{"schema_version", 1},
                       {"fit", verdict.fit},
                       {"loops", std::move(loops)},
                       {"values", std::move(values)},
                       {"against", std::move(against)}});
}

}  // namespace aaco::analytics::noise
