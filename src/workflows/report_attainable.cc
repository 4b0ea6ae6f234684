#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "workflows/attainable.h"

namespace aaco::workflows {
namespace {

using core::Json;
using report::TimeShare;

constexpr double kClose = 0.6;       // part of the attainable that counts as reached
constexpr double kSmallNs = 20'000;  // nodes below this are mostly the runtime's own steps

double number(const Json& json, std::string_view key) { return json[key].as_f64().value_or(0); }

// Names of nodes and of tensors -> the prediction. A fused kernel is called after a node of its chain or after its result, with
// an ending of the runtime's.
class Predictions {
 public:
  explicit Predictions(const Json& attainable) {
    for (const Json& node : attainable["nodes"].items()) {
      names_.emplace(node["name"].text(), &node);
      for (const Json& alias : node["aliases"].items()) names_.emplace(alias.text(), &node);
    }
  }
  [[nodiscard]] const Json* find(std::string_view measured) const {
    for (std::string_view name = measured; !name.empty();) {
      if (const auto found = names_.find(std::string(name)); found != names_.end()) return found->second;
      const std::size_t cut = name.find_last_of("/_");
      if (cut == std::string_view::npos || cut == 0) return nullptr;
      // Only endings of the runtime's: a name must keep most of itself.
      if (cut * 2 < measured.size()) return nullptr;
      name = name.substr(0, cut);
    }
    return nullptr;
  }

 private:
  std::map<std::string, const Json*> names_;
};

struct Gap {
  std::string text;
  bool surprise = false;
};

Gap reason_of(const Json& node, double measured_ns) {
  const double attainable = number(node, "attainable_ns"), repeats = std::max(1.0, number(node, "repeats"));
  const double lower = number(node, "predicted_lower_ns") * repeats, upper = number(node, "predicted_upper_ns") * repeats;
  Gap gap;
  gap.surprise = measured_ns > upper || measured_ns < lower;
  const double reached = attainable * repeats / measured_ns;
  const std::string limit(node["limit"].text());
  if (reached > 1)
    gap.text = "faster than the ceiling: its data came from cache, or the ceiling was measured too low";
  else if (reached >= kClose)
    gap.text = "close to the " + limit + " ceiling";
  else if (measured_ns < kSmallNs * repeats)
    gap.text = "too small: the runtime's steps around it take most of the time";
  else if (number(node, "tile_ratio") < kClose)
    gap.text = fmt::format("its shape leaves {:.0f} % of the vector lanes empty", 100 * (1 - number(node, "tile_ratio")));
  else if (number(node, "wave_ratio") < kClose)
    gap.text = fmt::format("its shape keeps only {:.0f} % of the cores busy", 100 * number(node, "wave_ratio"));
  else
    gap.text = "the kernel reaches little of the " + limit + " ceiling";
  if (measured_ns > upper) gap.text += "; slower than predicted for such a shape";
  if (measured_ns < lower && reached <= 1) gap.text += "; faster than predicted for such a shape";
  return gap;
}

void add_roofline(report::ReportModel& model, const Json& attainable, double reached_ns, double measured_ns,
                  std::vector<report::RoofPoint> points) {
  if (model.roofline || measured_ns <= 0) return;
  report::Roofline line;
  line.reached_ratio = std::min(1.0, reached_ns / measured_ns);
  line.text =
      fmt::format("The nodes that could be matched took {} an iteration; by the ceilings of {} they need {} at the least.",
                  core::format_duration(measured_ns), attainable["device_name"].text(), core::format_duration(reached_ns));
  using Kind = report::Roof::Kind;
  const std::string device(attainable["device"].text());
  if (number(attainable["flops_per_s"], "value") > 0)
    line.roofs.push_back(
        {"multiply-adds, float32", Kind::compute, number(attainable["flops_per_s"], "value"), "registry entry " + device});
  if (number(attainable["bytes_per_s"], "value") > 0)
    line.roofs.push_back({"main memory", Kind::memory, number(attainable["bytes_per_s"], "value"), "registry entry " + device});
  line.points = std::move(points);
  model.roofline = std::move(line);
}

}  // namespace

void fill_attainable(report::ReportModel& model, const Json& attainable) {
  if (!attainable.is_object() || model.nodes.empty()) return;
  const Predictions predictions(attainable);
  Json rows = Json::array();
  std::vector<report::RoofPoint> points;
  double measured_ns = 0, reached_ns = 0, unmatched_ns = 0;
  std::int64_t surprises = 0, unmatched = 0;
  for (const TimeShare& share : model.nodes) {
    const Json* node = predictions.find(share.name);
    if (node == nullptr || share.total_ns <= 0) {
      unmatched_ns += share.total_ns;
      ++unmatched;
      continue;
    }
    const double repeats = std::max(1.0, number(*node, "repeats"));
    const double least = number(*node, "attainable_ns") * repeats;
    const Gap gap = reason_of(*node, share.total_ns);
    surprises += gap.surprise ? 1 : 0;
    measured_ns += share.total_ns;
    reached_ns += std::min(least, share.total_ns);
    points.push_back(
        {share.name, share.group, number(*node, "flops") * repeats, number(*node, "bytes") * repeats, share.total_ns});
    rows.push(Json::object({{"name", share.name},
                            {"op_type", share.group},
                            {"graph_node", (*node)["name"]},
                            {"shape", (*node)["shape"]},
                            {"measured_ns", share.total_ns},
                            {"attainable_ns", least},
                            {"gap_ns", share.total_ns - least},
                            {"predicted_ns", number(*node, "predicted_ns") * repeats},
                            {"predicted_lower_ns", number(*node, "predicted_lower_ns") * repeats},
                            {"predicted_upper_ns", number(*node, "predicted_upper_ns") * repeats},
                            {"confidence", (*node)["confidence"]},
                            {"limit", (*node)["limit"]},
                            {"reason", gap.text},
                            {"surprise", gap.surprise}}));
  }
  if (rows.items().empty()) return;
  Json section = Json::object({{"device", attainable["device"]},
                               {"measured_ns", measured_ns},
                               {"attainable_ns", reached_ns},
                               {"unmatched_nodes", unmatched},
                               {"unmatched_ns", unmatched_ns},
                               {"surprises", surprises},
                               {"nodes", std::move(rows)}});
  model.extra.set("attainable", std::move(section));
  add_roofline(model, attainable, reached_ns, measured_ns, std::move(points));
}

}  // namespace aaco::workflows
