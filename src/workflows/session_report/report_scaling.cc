#include "workflows/session_report/report_scaling.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {
namespace {

using core::Json;

// What a point was asked for, as text by name; a value that was left to the runtime is "default".
std::map<std::string, std::string> settings_of(const Json& point) {
  const auto number = [](const Json& value) {
    const auto whole = value.as_i64();
    return whole ? std::to_string(*whole) : std::string("default");
  };
  std::map<std::string, std::string> settings = {{"backend", std::string(point["backend"].text())},
                                                 {"batch", number(point["batch"])},
                                                 {"threads", number(point["threads"])}};
  for (const auto& [name, size] : point["dimensions"].members()) settings[name] = number(size);
  return settings;
}

// The settings in which points differ; the batch where none does.
std::set<std::string> swept(const Json& points) {
  std::map<std::string, std::set<std::string>> values;
  for (const Json& point : points.items())
    for (const auto& [name, value] : settings_of(point)) values[name].insert(value);
  std::set<std::string> names;
  for (const auto& [name, seen] : values)
    if (seen.size() > 1) names.insert(name);
  if (names.empty()) names.insert("batch");
  return names;
}

std::string label_of(const Json& point, const std::set<std::string>& names) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings_of(point)) {
    if (!names.contains(name)) continue;
    if (name == "backend")
      words.push_back(value);
    else if (name == "threads" && value != "default")
      words.push_back(value + (value == "1" ? " thread" : " threads"));
    else
      words.push_back(name + " " + value);
  }
  return core::join(words, ", ");
}

void set_metric(Json& out, const std::string& key, const Json& metric, std::string_view unit) {
  const auto value = metric["value"].as_f64();
  if (!value) return;
  const std::string suffix = unit.empty() ? "" : "_" + std::string(unit);
  out.set(key + suffix, *value);
  const auto& ends = metric["ci95"].items();
  if (ends.size() != 2 || !ends[0].as_f64() || !ends[1].as_f64()) return;
  out.set(key + "_low" + suffix, *ends[0].as_f64());
  out.set(key + "_high" + suffix, *ends[1].as_f64());
}

// The point with the largest value, or the smallest.
const Json* extreme(const Json& points, std::string_view key, bool largest) {
  const Json* best = nullptr;
  for (const Json& point : points.items()) {
    const auto value = point[key].as_f64();
    if (!value) continue;
    const auto before = best ? (*best)[key].as_f64() : std::nullopt;
    if (!before || (largest ? *value > *before : *value < *before)) best = &point;
  }
  return best;
}

// How many of the other points may be as good: their intervals reach that of the best, from above where the least is the best.
std::optional<int> rivals_of(const Json& points, const Json& best, const std::string& key, const std::string& unit,
                             bool largest) {
  const std::string near = key + (largest ? "_low" : "_high") + unit, far = key + (largest ? "_high" : "_low") + unit;
  const auto end = best[near].as_f64();
  if (!end) return std::nullopt;
  int rivals = 0;
  for (const Json& point : points.items()) {
    if (&point == &best || !point[key + unit].as_f64()) continue;
    const auto other = point[far].as_f64();
    if (!other) return std::nullopt;
    rivals += (largest ? *other >= *end : *other <= *end) ? 1 : 0;
  }
  return rivals;
}

Json summary_of(const Json& points) {
  Json out = Json::object();
  const Json* best = extreme(points, "items_per_second", true);
  const Json* quickest = extreme(points, "median_ns", false);
  if (!best) return out;
  std::string text = fmt::format("the highest throughput with {}: {}", (*best)["label"].text(),
                                 report::format_quantity(*(*best)["items_per_second"].as_f64(), "items/s"));
  if (quickest)
    text += fmt::format("; the shortest call with {}: {}", (*quickest)["label"].text(),
                        core::format_duration(*(*quickest)["median_ns"].as_f64()));
  out.set("text", std::move(text));
  const auto rivals = rivals_of(points, *best, "items_per_second", "", true);
  const auto as_quick = quickest ? rivals_of(points, *quickest, "median", "_ns", false) : std::nullopt;
  out.set("confidence",
          !rivals       ? std::string("low: not every point has an interval")
          : *rivals > 0 ? fmt::format("low: {} of the other points may be as good, their intervals overlap", *rivals)
          : as_quick.value_or(0) > 0
              ? fmt::format("medium: no other point's interval reaches its throughput, but {} of the other points may have as "
                            "short a call",
                            *as_quick)
              : std::string("high: no other point's interval reaches it"));
  return out;
}

}  // namespace

Json scaling_of(const Json& sweep) {
  const Json& points = sweep["points"];
  if (points.items().empty()) return {};
  const std::set<std::string> names = swept(points);
  Json rows = Json::array();
  std::optional<double> first;
  for (const Json& point : points.items()) {
    Json row = Json::object({{"label", label_of(point, names)}});
    for (const char* key : {"session_id", "error", "backend", "batch", "threads"})
      if (!point[key].is_null()) row.set(key, point[key]);
    if (!point["dimensions"].members().empty()) row.set("dimensions", point["dimensions"]);
    set_metric(row, "median", point["metrics"]["latency.p50_ns"], "ns");
    set_metric(row, "p90", point["metrics"]["latency.p90_ns"], "ns");
    set_metric(row, "items_per_second", point["metrics"]["throughput.items_per_second"], "");
    if (const auto items = row["items_per_second"].as_f64(); items && *items > 0) {
      if (!first) first = *items;
      row.set("relative_ratio", *items / *first);
    }
    rows.push(std::move(row));
  }
  Json out = Json::object({{"summary", summary_of(rows)}});
  return out.set("points", std::move(rows));
}

namespace {

// What is missing or distorted in the points is so in the sweep: their number, and the first.
void warn_of_points(report::ReportModel& model, const std::string& session_path) {
  const std::string root = core::parent_path(core::parent_path(session_path));
  std::size_t warned = 0;
  std::string first;
  for (const Json& point : model.extra["scaling"]["points"].items()) {
    const auto path = tracelake::find_session(root, point["session_id"].text());
    const auto manifest = path ? tracelake::read_manifest(*path) : tl::unexpected<core::Error>(path.error());
    if (!manifest || manifest->warnings.empty()) continue;
    if (++warned == 1) first = std::string(point["label"].text()) + ": " + manifest->warnings.front().message;
  }
  if (warned == 0) return;
  model.session.warnings.push_back(
      {"sweep.points_warned",
       fmt::format("{} of {} points warn of something; {}", warned, model.extra["scaling"]["points"].items().size(), first),
       "'aaco report ID' of a point tells all of it"});
}

}  // namespace

core::Status fill_scaling(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "sweep") return {};
  const std::string path = core::join_path(session_path, "metrics/sweep.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json sweep, core::read_json_file(path));
  Json scaling = scaling_of(sweep);
  if (scaling.is_null()) return {};
  if (const auto text = scaling["summary"]["text"].text(); !text.empty()) {
    const auto count = scaling["points"].items().size();
    model.verdict =
        fmt::format("{} over {} point{}: {}.", model.session.outcome["model"].text(), count, count == 1 ? "" : "s", text);
    model.verdict_confidence = std::string(scaling["summary"]["confidence"].text());
  }
  model.extra.set("scaling", std::move(scaling));
  warn_of_points(model, session_path);
  return {};
}

}  // namespace aaco::workflows
