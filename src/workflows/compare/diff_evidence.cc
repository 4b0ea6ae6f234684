#include "workflows/diff_evidence.h"

#include <algorithm>

namespace aaco::workflows {
namespace {

using core::Json;

// Of one iteration.
struct IterationWork {
  double count = 0;
  double sum_ns = 0;
  std::optional<double> outside_ns;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

std::optional<IterationWork> traced_work(const ComparedSession& session) {
  if (!session.work) return std::nullopt;
  const auto& values = session.work->values;
  IterationWork work{values.at("gpu.kernel_count").value, values.at("gpu.kernel_sum_ns").value, std::nullopt};
  if (session.work->has_steps && !session.iterations.empty())
    work.outside_ns = std::max(0.0, mean_of(session.iterations) - values.at("gpu.busy_ns").value);
  else if (const auto* idle = find_metric(session.metrics, "gpu.idle_ns"))
    work.outside_ns = idle->value;
  return work;
}

std::optional<IterationWork> node_work(const ComparedSession& session) {
  const auto* count = find_metric(session.metrics, "node.execution_count");
  const auto* sum = find_metric(session.metrics, "node.compute_ns");
  if (count == nullptr || sum == nullptr) return std::nullopt;
  IterationWork work{count->value, sum->value, std::nullopt};
  if (const auto* rest = find_metric(session.metrics, "node.remainder_ns")) work.outside_ns = rest->value;
  return work;
}

// The mean over the sessions; empty where one has none.
std::optional<IterationWork> side_work(const ComparedSide& side, std::optional<IterationWork> (*of)(const ComparedSession&)) {
  IterationWork mean;
  const auto share = 1 / static_cast<double>(side.sessions.size());
  bool outside = true;
  double outside_ns = 0;
  for (const ComparedSession& session : side.sessions) {
    const auto work = of(session);
    if (!work) return std::nullopt;
    mean.count += work->count * share;
    mean.sum_ns += work->sum_ns * share;
    outside = outside && work->outside_ns.has_value();
    outside_ns += work->outside_ns.value_or(0) * share;
  }
  if (outside) mean.outside_ns = outside_ns;
  return mean;
}

void add_parts(const IterationWork& a, const IterationWork& b, DiffEvidence& evidence) {
  if (a.count <= 0 || b.count <= 0) return;
  const double mean_a = a.sum_ns / a.count, mean_b = b.sum_ns / b.count;
  evidence.rows.push_back({"kernel.launch_count", "count", a.count, b.count});
  evidence.rows.push_back({"kernel.mean_duration_ns", "ns", mean_a, mean_b});
  evidence.rows.push_back({"kernel.sum_ns", "ns", a.sum_ns, b.sum_ns});
  evidence.kernel_launch_count_delta = evidence.rows[0].delta_ratio();
  evidence.avg_kernel_duration_delta = evidence.rows[1].delta_ratio();
  evidence.count_part_ns = (b.count - a.count) * (mean_a + mean_b) / 2;
  evidence.duration_part_ns = (mean_b - mean_a) * (a.count + b.count) / 2;
  if (!a.outside_ns || !b.outside_ns) return;
  evidence.rows.push_back({"cpu.overhead_ns", "ns", *a.outside_ns, *b.outside_ns});
  evidence.cpu_overhead_delta = evidence.rows.back().delta_ratio();
  evidence.overhead_part_ns = *b.outside_ns - *a.outside_ns;
}

}  // namespace

std::optional<double> EvidenceRow::delta_ratio() const {
  if (baseline == 0) return std::nullopt;
  return (candidate - baseline) / baseline;
}

DiffEvidence find_evidence(const ComparedSide& a, const ComparedSide& b) {
  DiffEvidence evidence;
  for (const auto& [of, what] : {std::pair(&traced_work, "gpu_kernels"), std::pair(&node_work, "graph_nodes")}) {
    const auto work_a = side_work(a, of), work_b = side_work(b, of);
    if (!work_a || !work_b) continue;
    evidence.kernels_are = what;
    add_parts(*work_a, *work_b, evidence);
    break;
  }
  return evidence;
}

Json to_json(const DiffEvidence& evidence) {
  Json rows = Json::array();
  for (const EvidenceRow& row : evidence.rows)
    rows.push(Json::object({{"signal", row.signal},
                            {"unit", row.unit},
                            {"baseline", row.baseline},
                            {"candidate", row.candidate},
                            {"delta_ratio", row.delta_ratio()}}));
  Json out = Json::object({{"kernel_launch_count_delta", evidence.kernel_launch_count_delta},
                           {"avg_kernel_duration_delta", evidence.avg_kernel_duration_delta},
                           {"cpu_overhead_delta", evidence.cpu_overhead_delta}});
  if (!evidence.kernels_are.empty()) out.set("kernels_are", evidence.kernels_are);
  out.set_if("count_part_ns", evidence.count_part_ns)
      .set_if("duration_part_ns", evidence.duration_part_ns)
      .set_if("overhead_part_ns", evidence.overhead_part_ns);
  return out.set("rows", std::move(rows));
}

}  // namespace aaco::workflows
