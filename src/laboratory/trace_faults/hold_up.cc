#include <algorithm>
#include <cmath>
#include <set>

#include "laboratory/trace_faults/activities.h"
#include "laboratory/trace_faults/row_times.h"

// Faults that keep the launching thread from launching: time is put in before a launch, and what took it is told by events of the
// host there.
namespace aaco::laboratory::trace_faults {
namespace {

constexpr double kWaitsPerWork = 2;          // at intensity 1
constexpr std::size_t kMaxHolds = 40;        // of a trace
constexpr std::int64_t kMinHoldNs = 50'000;  // far above the shortest gap that is looked at
constexpr double kMinCovered = 0.5;          // of the gap, by what the host does
constexpr double kMinPartOfGap = 0.6;        // of a gap, for the fault to be why it is there
constexpr double kPageableBytesPerNs = 12;   // of a copy from pageable memory

struct Hold {
  std::size_t kernel = 0, launch = 0;
  std::int64_t previous_end_ns = 0;
};

enum class Which { any, first, later };  // executions of a kernel

// The kernels that begin a stretch of work soon after they were launched: the device waited for the host.
std::vector<Hold> candidates(const TraceRows& rows, std::int64_t extra_ns, Which which) {
  const auto busy = all_busy(rows);
  const Launches launches = launches_of(rows);
  std::map<std::int64_t, std::size_t> begins;
  for (std::size_t i = 0; i < rows.kernels.size(); ++i) begins.emplace(rows.kernels[i].start_ns, i);
  std::vector<Hold> found;
  std::set<std::uint32_t> seen;
  std::map<std::uint32_t, std::int64_t> first_start;  // by name
  std::set<std::size_t> held;                         // launches: the further kernels of a graph cannot wait for it again
  for (const auto& row : rows.kernels) {
    const auto place = first_start.try_emplace(row.name.value, row.start_ns).first;
    place->second = std::min(place->second, row.start_ns);
  }
  for (std::size_t i = 1; i < busy.size(); ++i) {
    const std::size_t kernel = begins.at(busy[i].start_ns);
    const auto& row = rows.kernels[kernel];
    const auto launch = launches.find({row.rank, row.correlation_id});
    if (launch == launches.end()) continue;
    if (which == Which::first && !seen.insert(row.name.value).second) continue;
    if (which == Which::later && row.start_ns == first_start.at(row.name.value)) continue;
    const std::int64_t late = rows.calls[launch->second].start_ns - busy[i - 1].end_ns;
    if (static_cast<double>(late) >= -(1 - kMinCovered) * static_cast<double>(extra_ns) && held.insert(launch->second).second)
      found.push_back({kernel, launch->second, busy[i - 1].end_ns});
  }
  return found;
}

std::vector<Hold> some_of(const std::vector<Hold>& all) {
  if (all.size() <= kMaxHolds) return all;
  std::vector<Hold> some;
  for (std::size_t i = 0; i < kMaxHolds; ++i) some.push_back(all[i * all.size() / kMaxHolds]);
  return some;
}

// What the launching thread does meanwhile.
void tell(const Activity& activity, const Runtime& runtime, const trace::ApiCallRow& launch, Stretch when, TraceRows& rows,
          trace::NameTable& names) {
  trace::ApiCallRow row;
  row.rank = launch.rank;
  row.process_id = launch.process_id;
  row.thread_id = launch.thread_id;
  row.start_ns = when.start_ns;
  row.end_ns = when.end_ns;
  row.domain = names.intern(activity.domain.empty() ? runtime.domain : activity.domain);
  row.name = names.intern(std::string_view(runtime.domain) == "hip" ? activity.hip : activity.cuda);
  rows.calls.push_back(row);
}

// Steps may last longer than the device's work in them: what the host does before it and after it.
std::int64_t steps_of(const TraceRows& rows) {
  std::map<std::int32_t, std::int64_t> by_rank;
  std::int64_t longest = 0;
  for (const auto& row : rows.iterations) longest = std::max(longest, by_rank[row.rank] += row.duration_ns);
  return longest;
}

void put_copy(const trace::KernelRow& kernel, Stretch when, TraceRows& rows, trace::NameTable& names) {
  trace::CopyRow copy;
  copy.rank = kernel.rank;
  copy.device = kernel.device;
  copy.stream = kernel.stream;
  copy.kind = names.intern("h2d");
  copy.start_ns = when.start_ns;
  copy.end_ns = when.end_ns;
  copy.bytes = std::llround(kPageableBytesPerNs * static_cast<double>(when.end_ns - when.start_ns));
  rows.copies.push_back(copy);
}

}  // namespace

bool is_hold_up(std::string_view fault) { return has_activities(fault); }

core::Result<Applied> hold_up(const TraceFault& fault, TraceRows& rows, trace::NameTable& names) {
  const std::string_view id = fault.kind->id;
  const bool first = id == "host_first_use", inside = first || id == "host_blocked_launch",
             copies = id == "host_synchronous_copies";
  const Activity* activity = activity_of(id, fault.variant);
  const auto work = static_cast<double>(length_of(all_busy(rows)));
  const auto extra_for = [&](std::size_t holds) {
    return std::max<std::int64_t>(
        kMinHoldNs, std::llround(kWaitsPerWork * fault.intensity * work / static_cast<double>(std::max<std::size_t>(1, holds))));
  };
  std::vector<Hold> holds = some_of(candidates(rows, extra_for(kMaxHolds),
                                               first    ? Which::first
                                               : inside ? Which::later
                                                        : Which::any));
  if (holds.empty())
    return core::fail(core::ErrorCode::invalid_input,
                      "the device in this trace never waits for a launch, so delaying the host has no effect",
                      "choose a trace with API calls and gaps");
  const std::int64_t extra = extra_for(holds.size());
  std::vector<std::int64_t> host_points, device_points;
  for (const Hold& one : holds) {
    host_points.push_back(rows.calls[one.launch].start_ns + (inside ? 1 : 0));
    device_points.push_back(rows.kernels[one.kernel].start_ns);
  }
  std::sort(host_points.begin(), host_points.end());
  const TimeMap host({}, 1, host_points, extra), device({}, 1, device_points, extra);
  const std::int64_t idle = idle_of(rows);
  const Runtime runtime = runtime_of(rows, names);
  std::vector<Stretch> gaps;
  for (const Hold& one : holds)
    gaps.push_back({device(one.previous_end_ns, false), device(rows.kernels[one.kernel].start_ns, true)});
  move(rows, host, device);
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const trace::ApiCallRow launch = rows.calls[holds[i].launch];
    const Stretch when = inside ? Stretch{launch.start_ns + 1, std::min(launch.start_ns + 1 + extra, launch.end_ns)}
                                : Stretch{launch.start_ns - extra, launch.start_ns};
    if (activity != nullptr) tell(*activity, runtime, launch, when, rows, names);
    // The device copies while the host waits for it.
    if (copies) put_copy(rows.kernels[holds[i].kernel], {std::max(when.start_ns, gaps[i].start_ns), when.end_ns}, rows, names);
  }
  Applied applied;
  if (activity != nullptr && !activity->domain.empty()) applied.frame = activity->hip;
  const std::int64_t whole = std::max({std::int64_t{1}, span_of(rows), steps_of(rows)});
  applied.share_ratio = static_cast<double>(idle_of(rows) - idle) / static_cast<double>(whole);
  // Copies fill them; in the others the fault is the truth where it takes most of the gap.
  for (const Stretch& gap : gaps)
    if (!copies && kMinPartOfGap * static_cast<double>(gap.end_ns - gap.start_ns) <= static_cast<double>(extra))
      applied.gaps.push_back(gap);
  return applied;
}

}  // namespace aaco::laboratory::trace_faults
