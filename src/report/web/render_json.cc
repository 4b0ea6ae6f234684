#include <climits>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "report/quantity.h"
#include "report/render.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

using core::Json;

// An integer where the value is whole, so that nanoseconds and counts stay exact; not finite becomes null.
Json real(double value) {
  if (std::abs(value) < 9.0e15 && value == std::trunc(value)) return static_cast<std::int64_t>(value);
  return value;
}

// Texts by number: names repeat, so columns hold indexes into one list.
class TextColumn {
 public:
  void add(const std::string& text) {
    const auto [at, fresh] = index_.try_emplace(text, static_cast<std::int64_t>(index_.size()));
    if (fresh) texts_.push(text);
    column_.push(at->second);
  }
  void write(Json& out, std::string_view texts_key, std::string_view column_key) {
    out.set(texts_key, std::move(texts_)).set(column_key, std::move(column_));
  }

 private:
  std::map<std::string, std::int64_t> index_;
  Json texts_ = Json::array();
  Json column_ = Json::array();
};

// short_name: the share's own, else a shorter form where the page has no room for the whole.
Json shares_json(const std::vector<TimeShare>& list, int room = 40) {
  std::vector<std::string> names;
  for (const TimeShare& share : list) names.push_back(share.name);
  names = names_for(names, room);
  Json out = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const TimeShare& share = list[i];
    Json item = Json::object({{"name", share.name}});
    if (const std::string& shown = share.short_name.empty() ? names[i] : share.short_name; shown != share.name)
      item.set("short_name", shown);
    if (!share.group.empty()) item.set("group", share.group);
    if (!share.provider.empty()) item.set("provider", share.provider);
    if (!share.parent.empty()) item.set("parent", share.parent);
    item.set("total_ns", real(share.total_ns)).set("share_ratio", real(share.share_ratio)).set("count", share.count);
    if (share.ci95) item.set("ci95", Json::array({real(share.ci95->low), real(share.ci95->high)}));
    item.set_if("detail", share.detail);
    out.push(std::move(item));
  }
  return out;
}

Json statements(const std::vector<Statement>& list) {
  Json out = Json::array();
  for (const Statement& statement : list) {
    Json item = Json::object({{"id", statement.id}, {"title", statement.title}, {"text", statement.text}});
    if (statement.confidence_ratio) item.set("confidence_ratio", real(*statement.confidence_ratio));
    if (statement.gain_ratio) item.set("gain_ratio", real(*statement.gain_ratio));
    if (const auto& interval = statement.gain_interval)
      item.set("gain_interval_ratio", Json::array({real(interval->low), real(interval->high)}));
    if (!statement.gain_of.empty()) item.set("gain_of", statement.gain_of);
    if (!statement.evidence.empty()) item.set("evidence", Json::texts(statement.evidence));
    out.push(std::move(item));
  }
  return out;
}

Json definitions(const std::vector<MetricDefinition>& list) {
  Json out = Json::object();
  for (const MetricDefinition& one : list) {
    Json item = Json::object({{"title", one.title}, {"unit", one.unit}, {"formula", one.formula}});
    if (!one.direction.empty()) item.set("direction", one.direction);
    if (!one.meaning.empty()) item.set("meaning", one.meaning);
    out.set(one.id, std::move(item));
  }
  return out;
}

Json roofline(const Roofline& line) {
  Json roofs = Json::array();
  for (const Roof& roof : line.roofs) {
    const bool compute = roof.kind == Roof::Kind::compute;
    Json entry = Json::object({{"name", roof.name},
                               {"kind", compute ? "compute" : "memory"},
                               {"per_second", real(roof.per_second)},
                               {"unit", compute ? "flop/s" : "bytes/s"},
                               {"source", roof.source},
                               {"basis", to_string(roof.basis)}});
    if (!roof.of.empty()) entry.set(compute ? "type" : "level", roof.of);
    roofs.push(std::move(entry));
  }
  Json points = Json::array();
  for (const RoofPoint& point : line.points) {
    Json entry = Json::object({{"name", point.name},
                               {"group", point.group},
                               {"flops", real(point.flops)},
                               {"bytes", real(point.bytes)},
                               {"time_ns", real(point.time_ns)}});
    if (point.reached_ratio) entry.set("reached_ratio", real(*point.reached_ratio));
    if (point.measured_ratio) entry.set("measured_ratio", real(*point.measured_ratio));
    if (!point.type.empty()) entry.set("type", point.type);
    if (!point.work_from.empty()) entry.set("work_from", point.work_from);
    points.push(std::move(entry));
  }
  Json out = Json::object({{"text", line.text}});
  if (line.reached_ratio) out.set("reached_ratio", real(*line.reached_ratio));
  if (line.measured_ratio) out.set("measured_ratio", real(*line.measured_ratio));
  return out.set("roofs", std::move(roofs)).set("points", std::move(points));
}

Json iterations(const std::vector<IterationPoint>& list) {
  TextColumn phase;
  Json iteration = Json::array(), start = Json::array(), duration = Json::array(), outliers = Json::array(),
       disturbed = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const IterationPoint& point = list[i];
    phase.add(point.phase);
    iteration.push(point.iteration);
    start.push(point.start_ns);
    duration.push(point.duration_ns);
    if (point.outlier) outliers.push(i);
    if (!point.disturbance.empty()) disturbed.push(Json::object({{"row", i}, {"text", point.disturbance}}));
  }
  Json out = Json::object({{"rows", list.size()}});
  phase.write(out, "phases", "phase");
  return out.set("iteration", std::move(iteration))
      .set("start_ns", std::move(start))
      .set("duration_ns", std::move(duration))
      .set("outliers", std::move(outliers))
      .set("disturbances", std::move(disturbed));
}

Json histogram(const std::vector<HistogramBin>& bins) {
  Json low = Json::array(), high = Json::array(), count = Json::array();
  for (const HistogramBin& bin : bins) {
    low.push(real(bin.low));
    high.push(real(bin.high));
    count.push(bin.count);
  }
  return Json::object({{"unit", "ns"}, {"low", std::move(low)}, {"high", std::move(high)}, {"count", std::move(count)}});
}

Json timeline(const std::vector<TimelineSpan>& spans) {
  TextColumn track, name, group;
  Json start = Json::array(), duration = Json::array();
  for (const TimelineSpan& span : spans) {
    track.add(span.track);
    name.add(span.name);
    group.add(span.group);
    start.push(span.start_ns);
    duration.push(span.duration_ns);
  }
  Json out = Json::object({{"rows", spans.size()}});
  track.write(out, "tracks", "track");
  name.write(out, "names", "name");
  group.write(out, "groups", "group");
  return out.set("start_ns", std::move(start)).set("duration_ns", std::move(duration));
}

Json telemetry(const std::vector<Series>& list) {
  Json out = Json::array();
  for (const Series& series : list) {
    Json time = Json::array(), value = Json::array();
    for (const std::int64_t at : series.time_ns) time.push(at);
    for (const double one : series.value) value.push(real(one));
    Json item = Json::object({{"metric", series.metric}});
    if (!series.entity.empty()) item.set("entity", series.entity);
    out.push(item.set("unit", series.unit).set("time_ns", std::move(time)).set("value", std::move(value)));
  }
  return out;
}

Json session(const ReportModel& model) {
  const trace::SessionManifest& from = model.session;
  Json phases = Json::array();
  for (const trace::Phase& phase : from.phases)
    phases.push(Json::object({{"name", phase.name}, {"start_ns", phase.start_ns}, {"end_ns", phase.end_ns}}));
  Json out = Json::object({{"id", from.id.text}, {"kind", from.kind}});
  if (!from.tag.empty()) out.set("tag", from.tag);
  out.set("state", from.state).set("tool_version", from.tool_version);
  if (from.created_realtime_ns != 0)
    out.set("created_realtime_ns", from.created_realtime_ns).set("created", core::iso8601_utc(from.created_realtime_ns));
  out.set("home_clock", core::to_string(from.home_clock)).set("command", Json::texts(from.command));
  out.set_if("request", from.request).set_if("outcome", trace::to_json(from.outcome)).set("phases", std::move(phases));
  if (!from.fingerprint.empty()) out.set("fingerprint", from.fingerprint);
  return out;
}

}  // namespace

core::Json render_json(const ReportModel& model) {
  Json out = Json::object({{"schema", "aaco.report"},
                           {"schema_version", kReportSchemaVersion},
                           {"title", report_title(model)},
                           {"session", session(model)}});
  if (!model.verdict.empty())
    out.set("verdict", Json::object({{"text", model.verdict}, {"confidence", model.verdict_confidence}}));
  out.set("headline", Json::texts(model.headline_metrics));
  if (model.headline_of)
    out.set("headline_of", Json::object({{"device", model.headline_of->device}, {"name", model.headline_of->name}}));
  out.set("warnings", trace::to_json(model.session.warnings));
  out.set("metrics", trace::to_json(model.metrics)).set("definitions", definitions(model.definitions));
  Json time = Json::object();
  if (!model.parts.empty()) time.set("parts", shares_json(model.parts, INT_MAX));
  if (model.time_whole != TimeWhole::iteration) time.set("whole", to_string(model.time_whole));
  if (model.time_whole == TimeWhole::trace && model.time_devices > 1) time.set("devices", model.time_devices);
  if (!model.operators.empty()) time.set("operators", shares_json(model.operators));
  if (!model.nodes.empty()) time.set("nodes", shares_json(model.nodes));
  if (!model.kernels.empty()) time.set("kernels", shares_json(model.kernels));
  if (!time.members().empty()) out.set("time", std::move(time));
  if (!model.why.empty()) out.set("why", statements(model.why));
  if (!model.advice.empty()) out.set("advice", statements(model.advice));
  if (model.roofline) out.set("roofline", roofline(*model.roofline));
  if (!model.timeline.empty()) out.set("timeline", timeline(model.timeline));
  if (!model.iterations.empty()) out.set("iterations", iterations(model.iterations));
  if (!model.histogram.empty()) out.set("histogram", histogram(model.histogram));
  if (!model.telemetry.empty()) out.set("telemetry", telemetry(model.telemetry));
  out.set_if("environment", model.environment);
  Json accounts = Json::array();
  for (const trace::Account& account : model.session.accounts) accounts.push(trace::to_json(account));
  out.set("accounts", std::move(accounts));
  Json extra = Json::object();
  for_each_section(model.sections, [&](const auto& entry, const auto& section) { extra.set(entry.key, to_json(section)); });
  if (!extra.members().empty()) out.set("extra", std::move(extra));
  return out;
}

}  // namespace aaco::report
