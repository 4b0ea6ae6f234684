#include "workflows/gpu/device_steps.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "stats/robust.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

core::Status DeviceSteps::read(const std::string& path, trace::NameTable& names) {
  return tracelake::scan_table<trace::IterationRow>(path, names, [&](std::span<const trace::IterationRow> rows) -> core::Status {
    for (const auto& row : rows)
      if (names.text(row.phase) == "step") add(row);
    return {};
  });
}

void DeviceSteps::add(const trace::IterationRow& step) {
  if (step.duration_ns < 0 || count_ >= kMaxSteps) return;
  ++count_;
  auto& steps = steps_[step.rank];
  const Step added{step.start_ns, step.start_ns + step.duration_ns, step.iteration};
  const auto after = std::upper_bound(steps.begin(), steps.end(), added.start_ns,
                                      [](std::int64_t time, const Step& one) { return time < one.start_ns; });
  steps.insert(after, added);
}

void DeviceSteps::add(std::int32_t rank, std::int64_t launched_ns, std::int64_t start_ns, std::int64_t end_ns) {
  const auto steps = steps_.find(rank);
  if (steps == steps_.end() || end_ns < start_ns) return;
  const auto after = std::upper_bound(steps->second.begin(), steps->second.end(), launched_ns,
                                      [](std::int64_t time, const Step& one) { return time < one.start_ns; });
  if (after == steps->second.begin()) return;
  Step& step = *std::prev(after);
  if (launched_ns >= step.end_ns) return;
  step.first_ns = std::min(step.first_ns, start_ns);
  step.last_ns = std::max(step.last_ns, end_ns);
}

void DeviceSteps::add_hole(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns) {
  holes_[rank].push_back({start_ns, end_ns});
}

bool DeviceSteps::hole_within(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns) const {
  const auto holes = holes_.find(rank);
  return holes != holes_.end() && std::any_of(holes->second.begin(), holes->second.end(),
                                              [&](const auto& hole) { return hole.first < end_ns && start_ns < hole.second; });
}

std::vector<trace::IterationRow> DeviceSteps::finish(trace::NameId phase) const {
  std::vector<trace::IterationRow> rows;
  bool ahead = false;
  for (const auto& [rank, steps] : steps_) {
    std::vector<trace::IterationRow> of_rank;
    std::vector<double> host, device;
    std::size_t late = 0;
    std::int64_t before = INT64_MIN;
    for (const Step& step : steps) {
      const std::int64_t start = std::max(before, step.first_ns);
      if (step.last_ns <= start || step.last_ns == INT64_MIN) break;
      const std::int64_t from = before == INT64_MIN || hole_within(rank, before, step.last_ns) ? step.first_ns : before;
      trace::IterationRow row;
      row.rank = rank;
      row.iteration = step.iteration;
      row.phase = phase;
      row.start_ns = from;
      row.duration_ns = step.last_ns - from;
      of_rank.push_back(row);
      host.push_back(static_cast<double>(step.end_ns - step.start_ns));
      device.push_back(static_cast<double>(row.duration_ns));
      late += step.last_ns > step.end_ns ? 1 : 0;
      before = step.last_ns;
    }
    if (of_rank.size() < 2 || of_rank.size() != steps.size()) return {};
    const double ranges = stats::median(host), times = stats::median(device);
    ahead = ahead || (2 * late >= steps.size() && std::abs(times - ranges) > kDiffers * ranges);
    rows.insert(rows.end(), of_rank.begin(), of_rank.end());
  }
  if (!ahead) rows.clear();
  return rows;
}

bool DeviceSteps::store(trace::NameId phase, trace::Sink& sink) const {
  const auto rows = finish(phase);
  for (const trace::IterationRow& row : rows) sink.add(row);
  return !rows.empty();
}

}  // namespace aaco::workflows
