#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analytics/fleet.h"
#include "analytics/fleet/rules.h"
#include "analytics/fleet/scan.h"
#include "analytics/fleet/series.h"
#include "stats/multiple.h"
#include "stats/robust.h"

namespace aaco::analytics::fleet {
namespace {

// Share of the step that the other ranks wait for this one; peers are the ranks of the job.
constexpr Rule kWaitRule{"wait_ratio", Scale::difference, Bad::low, 0.03, 0.005, true, false, "straggler", 1, true};
constexpr double kChronicShare = 0.7;  // of the bins observed
constexpr double kMinPartShare = 0.3;  // of the lateness, for a part of the step to be its cause
constexpr double kMaxUnjoined = 0.1;   // of a job's bins
constexpr std::array<std::string_view, 3> kParts = {"compute_ns", "host_ns", "transfer_ns"};
constexpr std::array<std::string_view, 3> kCauses = {"compute", "host", "transfer"};

std::optional<double> value_of(const trace::FleetCell& cell, std::string_view metric) {
  return cell.values[trace::place_in_group(trace::fleet_column(metric))];
}

// Everything of one rank's step; empty where compute or wait was not measured.
std::optional<double> step_of(const trace::FleetCell& cell) {
  const auto compute = value_of(cell, "compute_ns");
  const auto wait = value_of(cell, "wait_ns");
  if (!compute || !wait) return std::nullopt;
  const double step = *compute + *wait + value_of(cell, "host_ns").value_or(0) + value_of(cell, "transfer_ns").value_or(0);
  return step > 0 ? std::optional(step) : std::nullopt;
}

// The cells of one job by bin.
using JobBins = std::map<std::int32_t, std::vector<const trace::FleetCell*>>;

struct Job {
  std::string name;
  JobBins bins;
  std::set<std::int32_t> units;
};

std::vector<Job> jobs_of(const trace::FleetCells& work) {
  std::vector<Job> jobs(work.jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].name = work.jobs[i];
  for (const trace::FleetCell& cell : work.cells) {
    if (cell.job < 0) continue;
    Job& job = jobs[static_cast<std::size_t>(cell.job)];
    job.bins[cell.bin].push_back(&cell);
    job.units.insert(cell.unit);
  }
  std::erase_if(jobs, [](const Job& job) { return job.units.size() < 2; });
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.name < b.name; });
  return jobs;
}

// Nodes whose clocks are not joined in a relevant share of the job's time; a reason in words, or empty.
std::string why_not(const Job& job, const trace::FleetCells& work) {
  std::set<std::string> unjoined;
  std::size_t bad = 0;
  std::size_t steps = 0;
  for (const auto& [bin, cells] : job.bins) {
    bool good = true;
    for (const trace::FleetCell* cell : cells) {
      steps += step_of(*cell) ? 1 : 0;
      if (value_of(*cell, "clock_joined").value_or(1) >= 1) continue;
      good = false;
      unjoined.insert(work.units[static_cast<std::size_t>(cell->unit)].node);
    }
    bad += good ? 0 : 1;
  }
  if (steps == 0) return "no rank reports compute_ns and wait_ns";
  if (static_cast<double>(bad) <= kMaxUnjoined * static_cast<double>(job.bins.size())) return {};
  return fmt::format("the clock{} of {} {} not joined to those of the other ranks", unjoined.size() == 1 ? "" : "s",
                     fmt::join(unjoined, ", "), unjoined.size() == 1 ? "is" : "are");
}

Tests wait_tests(const Job& job, const trace::FleetCells& work) {
  ValueSet values{work.units, {job.name}, {}};
  for (trace::FleetUnit& unit : values.units)
    unit.hardware.clear();  // ranks of one job wait for each other, whatever they run on
  for (const auto& [bin, cells] : job.bins)
    for (const trace::FleetCell* cell : cells)
      if (const auto step = step_of(*cell)) values.values.push_back({cell->unit, 0, bin, *value_of(*cell, "wait_ns") / *step});
  SeriesSet set = compare_with_peers(values, kWaitRule);
  set.first_unix_ns = work.first_unix_ns;
  set.bin_ns = work.bin_ns;
  set.bins = work.bins;
  Tests tests;
  scan_series(set, kWaitRule, tests);
  return tests;
}

double median_of(std::vector<double> values) { return values.empty() ? 0 : stats::median(values); }

// What the window shows about the units that arrive last.
struct Facts {
  std::vector<double> late_ns, late_ratio;
  std::array<std::vector<double>, 3> parts_ns;  // above the median of the others
  std::int32_t bins = 0, last = 0;
};

void look_at_bin(const std::vector<const trace::FleetCell*>& cells, const std::set<std::int32_t>& late, Facts& facts) {
  std::vector<double> own_wait;
  std::vector<double> other_wait;
  std::vector<double> steps;
  std::array<std::vector<double>, 3> own;
  std::array<std::vector<double>, 3> others;
  const trace::FleetCell* least = nullptr;
  for (const trace::FleetCell* cell : cells) {
    const auto step = step_of(*cell);
    if (!step) continue;
    const bool is_late = late.contains(cell->unit);
    steps.push_back(*step);
    (is_late ? own_wait : other_wait).push_back(*value_of(*cell, "wait_ns"));
    if (least == nullptr || *value_of(*cell, "wait_ns") < *value_of(*least, "wait_ns")) least = cell;
    for (std::size_t part = 0; part < kParts.size(); ++part)
      if (const auto value = value_of(*cell, kParts[part])) (is_late ? own : others)[part].push_back(*value);
  }
  if (own_wait.empty() || other_wait.empty()) return;
  ++facts.bins;
  facts.last += late.contains(least->unit) ? 1 : 0;
  facts.late_ns.push_back(median_of(other_wait) - median_of(own_wait));
  facts.late_ratio.push_back(facts.late_ns.back() / median_of(steps));
  for (std::size_t part = 0; part < kParts.size(); ++part)
    if (!own[part].empty() && !others[part].empty())
      facts.parts_ns[part].push_back(median_of(own[part]) - median_of(others[part]));
}

void describe(const Job& job, const trace::FleetCells& work, const std::set<std::int32_t>& late, JobStraggler& out) {
  Facts facts;
  std::set<std::int32_t> ranks;
  for (const auto& [bin, cells] : job.bins) {
    const std::int64_t start = work.first_unix_ns + bin * work.bin_ns;
    if (start < out.since_unix_ns || start >= out.until_unix_ns) continue;
    look_at_bin(cells, late, facts);
    for (const trace::FleetCell* cell : cells)
      if (late.contains(cell->unit) && cell->rank >= 0) ranks.insert(cell->rank);
  }
  out.rank_numbers.assign(ranks.begin(), ranks.end());
  out.late_ns = median_of(facts.late_ns);
  out.late_ratio = median_of(facts.late_ratio);
  out.last_ratio = facts.bins == 0 ? 0 : static_cast<double>(facts.last) / facts.bins;
  out.chronic = facts.bins >= kChronicShare * static_cast<double>(job.bins.size());
  double most = kMinPartShare * out.late_ns;
  for (std::size_t part = 0; part < kParts.size(); ++part)
    if (const double excess = median_of(facts.parts_ns[part]); excess > most) {
      most = excess;
      out.cause = kCauses[part];
    }
}

// The node with the most severe late rank, and all its late ranks.
std::set<std::int32_t> choose(const Tests& tests, const trace::FleetCells& work, JobStraggler& out) {
  std::vector<double> p;
  for (const Test& test : tests.tests) p.push_back(test.evidence.p);
  const std::vector<double> q = stats::benjamini_hochberg_adjusted(p);
  const auto found = [&](std::size_t i) { return tests.tests[i].large_enough && q[i] <= kFalseDiscoveryRate; };
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (found(i) && (!worst || tests.tests[i].severity > tests.tests[*worst].severity)) worst = i;
  std::set<std::int32_t> late;
  if (!worst) return late;
  out.node = tests.tests[*worst].unit.node;
  out.q = q[*worst];
  out.since_unix_ns = tests.tests[*worst].evidence.since_unix_ns;
  out.until_unix_ns = tests.tests[*worst].evidence.until_unix_ns;
  const double bar = tests.tests[*worst].severity / 2;  // of those that are late with it
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Test& test = tests.tests[i];
    if (!found(i) || test.unit.node != out.node || test.severity < bar) continue;
    out.devices.push_back(test.unit.device);
    for (std::size_t unit = 0; unit < work.units.size(); ++unit)
      if (work.units[unit].node == test.unit.node && work.units[unit].device == test.unit.device)
        late.insert(static_cast<std::int32_t>(unit));
  }
  std::sort(out.devices.begin(), out.devices.end());
  return late;
}

}  // namespace

std::string_view to_string(StragglerState state) {
  if (state == StragglerState::found) return "straggler";
  return state == StragglerState::none ? "none" : "cannot_tell";
}

std::vector<JobStraggler> stragglers(const trace::FleetCells& work) {
  std::vector<JobStraggler> out;
  for (const Job& job : jobs_of(work)) {
    JobStraggler& one = out.emplace_back();
    one.job = job.name;
    one.ranks = static_cast<std::int32_t>(job.units.size());
    one.reason = why_not(job, work);
    if (!one.reason.empty()) {
      one.state = StragglerState::cannot_tell;
      continue;
    }
    const std::set<std::int32_t> late = choose(wait_tests(job, work), work, one);
    if (late.empty()) continue;
    one.state = StragglerState::found;
    describe(job, work, late, one);
  }
  return out;
}

}  // namespace aaco::analytics::fleet
