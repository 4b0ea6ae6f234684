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
using report::Scaling;
using Value = Scaling::Value;

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

std::optional<Value> value_of(const Json& metric) {
  const auto value = metric["value"].as_f64();
  if (!value) return std::nullopt;
  Value out{*value, {}};
  const auto& ends = metric["ci95"].items();
  if (ends.size() == 2 && ends[0].as_f64() && ends[1].as_f64()) out.ci95 = trace::Interval{*ends[0].as_f64(), *ends[1].as_f64()};
  return out;
}

using Points = std::vector<Scaling::Point>;
using Measured = std::optional<Value> Scaling::Point::*;

// The point with the largest value, or the smallest.
const Scaling::Point* extreme(const Points& points, Measured of, bool largest) {
  const Scaling::Point* best = nullptr;
  for (const Scaling::Point& point : points) {
    if (!(point.*of)) continue;
    const double value = (point.*of)->value, before = best ? (best->*of)->value : 0;
    if (!best || (largest ? value > before : value < before)) best = &point;
  }
  return best;
}

// How many of the other points may be as good: their intervals reach that of the best, from above where the least is the best.
std::optional<int> rivals_of(const Points& points, const Scaling::Point& best, Measured of, bool largest) {
  const auto& own = (best.*of)->ci95;
  if (!own) return std::nullopt;
  int rivals = 0;
  for (const Scaling::Point& point : points) {
    if (&point == &best || !(point.*of)) continue;
    const auto& other = (point.*of)->ci95;
    if (!other) return std::nullopt;
    rivals += (largest ? other->high >= own->low : other->low <= own->high) ? 1 : 0;
  }
  return rivals;
}

Scaling::Summary summary_of(const Points& points) {
  const Scaling::Point* best = extreme(points, &Scaling::Point::items_per_second, true);
  const Scaling::Point* quickest = extreme(points, &Scaling::Point::median_ns, false);
  if (!best) return {};
  Scaling::Summary out;
  out.text = fmt::format("highest throughput with {}: {}", best->label,
                         report::format_quantity(best->items_per_second->value, "items/s"));
  if (quickest)
    out.text += fmt::format("; lowest latency with {}: {}", quickest->label, core::format_duration(quickest->median_ns->value));
  const auto rivals = rivals_of(points, *best, &Scaling::Point::items_per_second, true);
  const auto as_quick = quickest ? rivals_of(points, *quickest, &Scaling::Point::median_ns, false) : std::nullopt;
  const auto overlaps = [](std::size_t count) {
    return fmt::format("interval overlaps with {} other point{}", count, count == 1 ? "" : "s");
  };
  if (!rivals)
    out.confidence = "low: some points have no interval";
  else if (*rivals > 0)
    out.confidence = "low: its " + overlaps(static_cast<std::size_t>(*rivals));
  else if (as_quick.value_or(0) > 0)
    out.confidence =
        "medium: no other point reaches its throughput, but its latency " + overlaps(static_cast<std::size_t>(*as_quick));
  else
    out.confidence = "high: no other interval overlaps";
  return out;
}

Scaling::Point point_of(const Json& json, const std::set<std::string>& names) {
  Scaling::Point point;
  point.label = label_of(json, names);
  point.session_id = json["session_id"].as_string();
  point.error = json["error"].as_string();
  point.backend = json["backend"].as_string();
  point.batch = json["batch"].as_i64();
  point.threads = json["threads"].as_i64();
  for (const auto& [name, size] : json["dimensions"].members()) point.dimensions.emplace_back(name, size.as_i64());
  point.median_ns = value_of(json["metrics"]["latency.p50_ns"]);
  point.p90_ns = value_of(json["metrics"]["latency.p90_ns"]);
  point.items_per_second = value_of(json["metrics"]["throughput.items_per_second"]);
  return point;
}

}  // namespace

std::optional<Scaling> scaling_of(const Json& sweep) {
  const Json& points = sweep["points"];
  if (points.items().empty()) return std::nullopt;
  const std::set<std::string> names = swept(points);
  Scaling scaling;
  std::optional<double> first;
  for (const Json& json : points.items()) {
    Scaling::Point point = point_of(json, names);
    if (point.items_per_second && point.items_per_second->value > 0) {
      if (!first) first = point.items_per_second->value;
      point.relative_ratio = point.items_per_second->value / *first;
    }
    scaling.points.push_back(std::move(point));
  }
  scaling.summary = summary_of(scaling.points);
  return scaling;
}

namespace {

// What is missing or distorted in the points is so in the sweep: their number, and the first.
void warn_of_points(report::ReportModel& model, const Points& points, const std::string& session_path) {
  const std::string root = core::parent_path(core::parent_path(session_path));
  std::size_t warned = 0;
  std::string first;
  for (const Scaling::Point& point : points) {
    const auto path = tracelake::find_session(root, point.session_id.value_or(""));
    const auto manifest = path ? tracelake::read_manifest(*path) : tl::unexpected<core::Error>(path.error());
    if (!manifest || manifest->warnings.empty()) continue;
    if (++warned == 1) first = point.label + ": " + manifest->warnings.front().message;
  }
  if (warned == 0) return;
  model.session.warnings.push_back({"sweep.points_warned",
                                    fmt::format("{} of {} points have warnings; {}", warned, points.size(), first),
                                    "'aaco report ID' shows all warnings of a point"});
}

}  // namespace

core::Status fill_scaling(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "sweep") return {};
  const std::string path = core::join_path(session_path, "metrics/sweep.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json sweep, core::read_json_file(path));
  auto scaling = scaling_of(sweep);
  if (!scaling) return {};
  if (!scaling->summary.text.empty()) {
    const auto count = scaling->points.size();
    model.verdict =
        fmt::format("{} over {} point{}: {}.", model.session.outcome.model, count, count == 1 ? "" : "s", scaling->summary.text);
    model.verdict_confidence = scaling->summary.confidence;
  }
  warn_of_points(model, scaling->points, session_path);
  model.sections.scaling = std::move(scaling);
  return {};
}

}  // namespace aaco::workflows
