#include <string>
#include <utility>
#include <vector>

#include "core/strings.h"
#include "python/module/bind.h"
#include "python/module/options.h"
#include "python/module/world.h"
#include "workflows/ab.h"
#include "workflows/ab_json.h"
#include "workflows/analyze.h"
#include "workflows/compare_page.h"
#include "workflows/diff.h"
#include "workflows/diff_json.h"
#include "workflows/explain.h"
#include "workflows/history.h"
#include "workflows/history_json.h"

namespace aaco::python {
namespace {

namespace py = pybind11;
using core::Json;
using workflows::Services;

py::object compare_sessions(const py::dict& world, const py::dict& options) {
  workflows::DiffRequest request;
  const Json given = to_json(options);
  OptionReader reader(given, "diff()");
  reader.texts("a", request.baseline);
  reader.texts("b", request.candidate);
  std::optional<double> threshold;
  reader.ratio("threshold", threshold);
  reader.texts("metrics", request.metrics.names);
  reader.flag("force", request.force);
  reader.flag("drop_disturbed", request.drop_disturbed);
  reader.flag("use_history", request.use_history);
  reader.flag("store", request.store);
  value_or_raise(reader.finish());
  if (threshold) request.metrics.threshold_ratio = *threshold;
  return to_python(long_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto outcome, workflows::diff(request, services));
    return to_json(outcome, request);
  }));
}

core::Result<workflows::AbRequest> ab_request(const Json& options) {
  workflows::AbRequest request;
  OptionReader reader(options, "ab()");
  std::optional<core::Nanoseconds> duration;
  std::optional<double> threshold, detectable;
  std::string a, b;
  reader.text("a", a);
  reader.text("b", b);
  reader.texts("worker", request.worker);
  reader.time("duration", duration);
  reader.integer("iterations", request.iterations, 1);
  reader.ratio("threshold", threshold);
  reader.ratio("detectable", detectable);
  reader.time("block", request.block);
  reader.flag("apart", request.apart);
  reader.flag("force", request.force);
  reader.flag("store", request.store);
  reader.text("tag", request.tag);
  AACO_TRY(reader.finish());
  if (duration) request.duration = *duration;
  request.threshold_ratio = threshold.value_or(request.threshold_ratio);
  request.detectable_ratio = detectable;
  AACO_ASSIGN(const Json a_options, Json::parse(a));
  AACO_ASSIGN(const Json b_options, Json::parse(b));
  AACO_ASSIGN(request.a, ab_side(a_options, "side A"));
  AACO_ASSIGN(request.b, ab_side(b_options, "side B"));
  request.a_words = {std::move(a)};  // what the worker makes its sides of
  request.b_words = {std::move(b)};
  return request;
}

py::tuple compare_runs(const py::dict& world, const py::dict& options) {
  const auto request = value_or_raise(ab_request(to_json(options)));
  std::string a_path, b_path;
  const Json verdict = long_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto outcome, workflows::ab(request, services));
    if (outcome.a) a_path = outcome.a->path;
    if (outcome.b) b_path = outcome.b->path;
    return to_json(outcome, request);
  });
  return py::make_tuple(to_python(verdict), a_path, b_path);
}

py::object explain_session(const py::dict& world, const std::string& session, const std::string& observe) {
  return to_python(long_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto explanation, workflows::explain(session, services, observe));
    return to_json(explanation);
  }));
}

py::object analyze_model(const py::dict& world, const py::dict& options) {
  workflows::AnalyzeRequest request;
  request.hardware = "this";
  const Json given = to_json(options);
  OptionReader reader(given, "analyze()");
  std::string level;
  std::optional<core::Nanoseconds> host_time;
  reader.text("model", request.model.name);
  reader.text("hardware", request.hardware);
  reader.integer("batch", request.model.batch, 1);
  reader.sizes("dims", request.model.dimensions);
  reader.text("dtype", request.conditions.dtype);
  reader.number("power_cap_watts", request.conditions.power_cap_watts);
  reader.time("host_time", host_time);
  reader.flag("eager", request.conditions.eager);
  reader.one_of("level", level, {"calibrated", "interpolated", "theoretical"});
  reader.text("fallback", request.fallback);
  reader.text("provider", request.provider);
  if (request.model.name.empty()) reader.refuse("no model given", "for example: aaco.analyze('resnet50', hardware='mi300x')");
  if (const auto watts = request.conditions.power_cap_watts; watts && !(*watts > 0))
    reader.refuse("invalid value for 'power_cap_watts': expected watts above 0");
  value_or_raise(reader.finish());
  if (host_time) request.conditions.host_ns = static_cast<double>(host_time->count());
  if (const auto best = estimation::level_from_string(level)) request.conditions.best = *best;
  return to_python(long_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto report, workflows::analyze(request, services));
    return report::analysis_json(report);
  }));
}

py::object metric_history(const py::dict& world, const py::dict& options) {
  workflows::HistoryRequest request;
  const Json given = to_json(options);
  OptionReader reader(given, "history()");
  std::optional<std::int64_t> last;
  std::optional<double> threshold, horizon;
  std::string better;
  reader.text("metric", request.metric);
  reader.texts("files", request.files);
  reader.map("where", request.where);
  reader.integer("last", last, 1);
  reader.ratio("threshold", threshold);
  reader.ratio("budget", request.options.budget_ratio);
  reader.number("limit", request.options.limit);
  reader.number("horizon", horizon);
  reader.one_of("better", better, {"lower", "higher"});
  value_or_raise(reader.finish());
  if (last) request.last = static_cast<std::size_t>(*last);
  request.options.threshold_ratio = threshold.value_or(request.options.threshold_ratio);
  request.options.horizon = horizon.value_or(request.options.horizon);
  if (!better.empty()) request.lower_is_better = better == "lower";
  return to_python(long_call(world, [&](const Services& services) -> core::Result<Json> {
    AACO_ASSIGN(const auto outcome, workflows::history(request, services));
    return to_json(outcome, request);
  }));
}

std::string comparison_page(const py::dict& world, const py::dict& verdict, const std::string& text) {
  const Json document = to_json(verdict);
  return short_call(world,
                    [&](const Services& services) { return workflows::render_comparison(document, text, services.paths); });
}

}  // namespace

void bind_judging(py::module_& core) {
  core.def("diff", &compare_sessions);
  core.def("ab", &compare_runs);
  core.def("explain", &explain_session);
  core.def("analyze", &analyze_model);
  core.def("history", &metric_history);
  core.def("comparison_page", &comparison_page);
}

}  // namespace aaco::python
