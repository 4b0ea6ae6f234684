#include <algorithm>
#include <map>
#include <set>

#include "analytics/fleet.h"

namespace aaco::analytics::fleet {
namespace {

struct WeightedMean {
  double sum = 0, weight = 0;
  void add(const std::optional<double>& value, double by) {
    if (!value) return;
    sum += *value * by;
    weight += by;
  }
  [[nodiscard]] std::optional<double> mean() const { return weight > 0 ? std::optional(sum / weight) : std::nullopt; }
};

struct JobTotals {
  std::set<std::int32_t> units;
  std::set<std::string_view> nodes;
  std::int32_t first = INT32_MAX, last = 0;
  WeightedMean steps, compute, wait, transfer, host, power;
  double minutes = 0;  // of all ranks
};

std::optional<double> in_cell(const trace::FleetCell& cell, std::string_view column) {
  return cell.values[trace::place_in_group(trace::fleet_column(column))];
}

void add_work(const trace::FleetCells& work, std::map<std::string, JobTotals>& jobs) {
  for (const trace::FleetCell& cell : work.cells) {
    if (cell.job < 0) continue;
    JobTotals& job = jobs[work.jobs[static_cast<std::size_t>(cell.job)]];
    job.units.insert(cell.unit);
    job.nodes.insert(work.units[static_cast<std::size_t>(cell.unit)].node);
    job.first = std::min(job.first, cell.bin);
    job.last = std::max(job.last, cell.bin);
    job.minutes += cell.minutes;
    job.steps.add(in_cell(cell, "steps"), cell.minutes);
    job.compute.add(in_cell(cell, "compute_ns"), cell.minutes);
    job.wait.add(in_cell(cell, "wait_ns"), cell.minutes);
    job.transfer.add(in_cell(cell, "transfer_ns"), cell.minutes);
    job.host.add(in_cell(cell, "host_ns"), cell.minutes);
  }
}

JobSummary summary_of(const std::string& name, const JobTotals& totals, const trace::FleetCells& frame) {
  JobSummary out;
  out.job = name;
  out.ranks = static_cast<std::int32_t>(totals.units.size());
  out.nodes = static_cast<std::int32_t>(totals.nodes.size());
  out.since_unix_ns = frame.first_unix_ns + totals.first * frame.bin_ns;
  out.until_unix_ns = frame.first_unix_ns + (totals.last + 1) * frame.bin_ns;
  const auto steps_per_minute = totals.steps.mean();
  if (steps_per_minute) out.steps = *steps_per_minute * totals.minutes / out.ranks;
  if (const auto compute = totals.compute.mean()) {
    const double wait = totals.wait.mean().value_or(0);
    const double transfer = totals.transfer.mean().value_or(0);
    const double host = totals.host.mean().value_or(0);
    const double step = *compute + wait + transfer + host;
    if (step > 0) {
      out.step_ns = step;
      out.goodput_ratio = *compute / step;
      if (totals.wait.mean()) out.wait_ratio = wait / step;
      if (totals.transfer.mean()) out.transfer_ratio = transfer / step;
      if (totals.host.mean()) out.host_ratio = host / step;
    }
  }
  if (const auto power = totals.power.mean()) {
    out.power_watts = *power * out.ranks;
    if (steps_per_minute && *steps_per_minute > 0) out.energy_per_step_j = *out.power_watts * 60 / *steps_per_minute;
  }
  return out;
}

}  // namespace

std::vector<JobSummary> job_summaries(const trace::FleetCells& work, const trace::FleetCells& gpu) {
  std::map<std::string, JobTotals> jobs;
  add_work(work, jobs);
  for (const trace::FleetCell& cell : gpu.cells)
    if (cell.job >= 0)
      if (const auto job = jobs.find(gpu.jobs[static_cast<std::size_t>(cell.job)]); job != jobs.end())
        job->second.power.add(in_cell(cell, "power_watts"), cell.minutes);
  std::vector<JobSummary> out;
  for (const auto& [name, totals] : jobs) out.push_back(summary_of(name, totals, work));
  return out;
}

}  // namespace aaco::analytics::fleet
