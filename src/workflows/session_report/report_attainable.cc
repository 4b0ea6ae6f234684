#include "workflows/session_report/report_attainable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/gap_reason.h"
#include "core/numbers.h"
#include "estimation/device_facts.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::GapReason;
using core::Json;
using report::TimeShare;
using trace::EstimateRow;

double number(const Json& json, std::string_view key) { return json[key].as_f64().value_or(0); }

// Names of nodes and of tensors -> the prediction. A fused kernel is called after a node of its chain or after its result, with
// an ending of the runtime's.
class Predictions {
 public:
  explicit Predictions(const SessionEstimates& estimates) {
    for (const EstimateRow& node : estimates.nodes) {
      names_.emplace(estimates.names.text(node.node_name), &node);
      const auto aliases = Json::parse(estimates.names.text(node.aliases));
      if (!aliases) continue;
      for (const Json& alias : aliases->items()) names_.emplace(alias.text(), &node);
    }
    names_.erase("");
  }
  [[nodiscard]] const EstimateRow* find(std::string_view measured) const {
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
  std::map<std::string, const EstimateRow*> names_;
};

// An estimate for all executions of one run of the graph.
struct Expected {
  double attainable_ns = 0, predicted_ns = 0, lower_ns = 0, upper_ns = 0;
  explicit Expected(const EstimateRow& node) {
    const double repeats = std::max(1.0, node.repeat_count);
    attainable_ns = static_cast<double>(node.attainable_ns) * repeats;
    predicted_ns = static_cast<double>(node.predicted_ns) * repeats;
    lower_ns = static_cast<double>(node.predicted_lower_ns) * repeats;
    upper_ns = static_cast<double>(node.predicted_upper_ns) * repeats;
  }
};

std::string_view ceiling_of(const EstimateRow& node) {
  return analytics::roofline::ceiling_of(static_cast<double>(node.compute_ns), static_cast<double>(node.memory_ns));
}

GapReason gap_of(const EstimateRow& node, double measured_ns, bool comparable) {
  const Expected expected(node);
  analytics::roofline::NodeGap gap;
  gap.measured_ns = measured_ns;
  gap.attainable_ns = expected.attainable_ns;
  gap.predicted_lower_ns = expected.lower_ns;
  gap.predicted_upper_ns = expected.upper_ns;
  gap.count = node.repeat_count;
  gap.tile_ratio = node.tile_ratio;
  gap.wave_ratio = node.wave_ratio;
  gap.ceiling = ceiling_of(node);
  gap.comparable = comparable;
  return reason_of(gap);
}

// As the run saw them, for a device that the registry no longer has.
std::vector<report::Roof> registry_roofs(const Json& summary) {
  using Kind = report::Roof::Kind;
  std::vector<report::Roof> roofs;
  const std::string source = "hardware registry, " + std::string(summary["device"].text());
  if (const double peak = number(summary["flops_per_s"], "value"); peak > 0)
    roofs.push_back({"float32", Kind::compute, peak, source});
  if (const double rate = number(summary["bytes_per_s"], "value"); rate > 0)
    roofs.push_back({"main memory", Kind::memory, rate, source});
  return roofs;
}

void add_roofline(report::ReportModel& model, const Json& summary, double reached_ns, double measured_ns,
                  std::vector<report::RoofPoint> points, const std::optional<DeviceRoofs>& roofs) {
  if (model.roofline || measured_ns <= 0) return;
  const auto threads = model.session.outcome.threads.value_or(0);
  const double cores = number(summary, "units");
  report::Roofline line;
  line.points = std::move(points);
  line.reached_ratio = std::min(1.0, reached_ns / measured_ns);
  const std::string measured = roofs ? add_measured(line, *roofs) : std::string();
  line.text = fmt::format(
      "The matched nodes take {} per iteration; at the ceilings of {}, they would take {}. They reach {} of these ceilings{}; "
      "{}.",
      core::format_duration(measured_ns), summary["device_name"].text(), core::format_duration(reached_ns),
      core::format_percent(*line.reached_ratio), measured, describe_sources(line.points));
  if (threads > 0 && static_cast<double>(threads) < cores)
    line.text += fmt::format(" The ceilings are for all {:.0f} cores, but the run used {} thread{}.", cores, threads,
                             threads == 1 ? "" : "s");
  line.roofs = roofs ? roofs->roofs(work_of(line.points)) : registry_roofs(summary);
  model.roofline = std::move(line);
}

// What calibrations keep apart: filters of one channel each are convolutions there.
std::string kind_of(const EstimateRow& node, const trace::NameTable& names) {
  const auto kind = names.text(node.operator_class);
  return std::string(kind == "depthwise" ? "convolution" : kind);
}

// Estimates are for all of the device's cores; a run that had fewer is slower by right. Empty: it had them.
std::string restriction(const report::ReportModel& model, const Json& summary) {
  const auto threads = model.session.outcome.threads.value_or(0);
  const double cores = number(summary, "units");
  if (threads <= 0 || static_cast<double>(threads) >= cores) return {};
  return fmt::format("predicted for all {:.0f} cores, but the run used {} thread{}: longer times are expected", cores, threads,
                     threads == 1 ? "" : "s");
}

report::RoofPoint point_of(const TimeShare& share, const EstimateRow& node, const Expected& expected,
                           const trace::NameTable& names) {
  const double repeats = std::max(1.0, node.repeat_count);
  report::RoofPoint point{share.name, share.group, node.flops * repeats, static_cast<double>(node.bytes) * repeats,
                          share.total_ns};
  point.reached_ratio = expected.attainable_ns / share.total_ns;
  point.kind = kind_of(node, names);
  point.type = estimation::registry_type(names.text(node.data_type));
  point.count = std::llround(repeats);
  point.work_from = "shapes";
  return point;
}

// The whole model beside its prediction.
void add_whole(const report::ReportModel& model, const Json& estimate, bool comparable, report::Attainable& section) {
  const Json& latency = estimate["latency"];
  if (!latency.is_object()) return;
  report::Attainable::Whole whole;
  whole.predicted = report::prediction_from(latency);
  if (const auto* median = trace::find_metric(model.metrics, "latency.p50_ns")) {
    whole.measured_ns = median->value;
    whole.surprise = comparable && (median->value < whole.predicted.lower || median->value > whole.predicted.upper);
  }
  section.whole = std::move(whole);
  if (estimate["memory"].is_object()) section.memory = report::prediction_from(estimate["memory"]);
}

// Energy of an iteration beside its prediction; a session without a power sensor has the prediction alone.
void add_energy(const report::ReportModel& model, const Json& summary, bool comparable, report::Attainable& section) {
  const Json& predicted = summary["estimate"]["energy"];
  if (!predicted.is_object()) return;
  report::Attainable::Energy energy;
  energy.predicted = report::prediction_from(predicted);
  if (summary["tokens"].is_object()) energy.tokens = summary["tokens"]["count"].as_i64();
  if (const auto* measured = trace::find_metric(model.metrics, "energy.cpu_per_iteration_joules")) {
    const double low = measured->ci95 ? measured->ci95->low : measured->value;
    const double high = measured->ci95 ? measured->ci95->high : measured->value;
    energy.measured_joules = measured->value;
    energy.measured_lower_joules = low;
    energy.measured_upper_joules = high;
    energy.surprise = comparable && (high < energy.predicted.lower || low > energy.predicted.upper);
  }
  section.energy = std::move(energy);
}

// A node of the run beside the node of the graph that it is.
report::Attainable::Node node_of(const TimeShare& share, const EstimateRow& node, const Expected& expected, const GapReason& gap,
                                 const trace::NameTable& names) {
  const auto text = [&](trace::NameId id) { return std::string(names.text(id)); };
  report::Attainable::Node row;
  row.name = share.name;
  row.op_type = share.group;
  row.graph_node = text(node.node_name);
  row.shape = text(node.shape);
  row.measured_ns = share.total_ns;
  row.attainable_ns = expected.attainable_ns;
  row.predicted_ns = expected.predicted_ns;
  row.predicted_lower_ns = expected.lower_ns;
  row.predicted_upper_ns = expected.upper_ns;
  row.confidence = text(node.level);
  row.limit = ceiling_of(node);
  row.reason = gap.text;
  row.surprise = gap.surprise;
  return row;
}

}  // namespace

void fill_attainable(report::ReportModel& model, const SessionEstimates& estimates, const std::optional<DeviceRoofs>& roofs) {
  if (estimates.nodes.empty() || !estimates.summary.is_object()) return;
  const Predictions predictions(estimates);
  const std::string note = restriction(model, estimates.summary);
  const bool comparable = note.empty();
  std::vector<report::Attainable::Node> rows;
  std::vector<report::RoofPoint> points;
  double measured_ns = 0, reached_ns = 0, unmatched_ns = 0;
  std::int64_t surprises = 0, unmatched = 0;
  for (const TimeShare& share : model.nodes) {
    const EstimateRow* node = predictions.find(share.name);
    if (node == nullptr || share.total_ns <= 0) {
      unmatched_ns += share.total_ns;
      ++unmatched;
      continue;
    }
    const Expected expected(*node);
    const GapReason gap = gap_of(*node, share.total_ns, comparable);
    surprises += gap.surprise ? 1 : 0;
    measured_ns += share.total_ns;
    reached_ns += std::min(expected.attainable_ns, share.total_ns);
    points.push_back(point_of(share, *node, expected, estimates.names));
    rows.push_back(node_of(share, *node, expected, gap, estimates.names));
  }
  report::Attainable section;
  section.device = estimates.summary["device"].as_string();
  if (!note.empty()) section.note = note;
  add_whole(model, estimates.summary["estimate"], comparable, section);
  add_energy(model, estimates.summary, comparable, section);
  if (!rows.empty()) {
    section.measured_ns = measured_ns;
    section.attainable_ns = reached_ns;
    section.unmatched_nodes = unmatched;
    section.unmatched_ns = unmatched_ns;
    section.surprises = surprises;
    section.nodes = std::move(rows);
    add_roofline(model, estimates.summary, reached_ns, measured_ns, std::move(points), roofs);
  }
  model.sections.attainable = std::move(section);
}

}  // namespace aaco::workflows
