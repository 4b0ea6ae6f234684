#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "laboratory/trace_faults.h"
#include "laboratory/trace_faults/row_times.h"

namespace aaco::laboratory::trace_faults {
namespace {

constexpr std::int64_t kThermalWindows = 16;  // cool and hot in turn over the trace
constexpr std::int64_t kLaunchGapNs = 4'000;  // between the pieces of a kernel: about what a launch costs on today's drivers
constexpr std::int64_t kLaunchCallNs = 3'000;
constexpr std::int64_t kMaxPieces = 4;
constexpr double kBytesPerNs = 25;  // of an inserted copy: PCIe 4.0 x16

// The parts of the stretches in every second window of the whole.
std::vector<Stretch> hot_parts(const std::vector<Stretch>& busy) {
  const std::int64_t begin = busy.front().start_ns;
  const std::int64_t window = std::max<std::int64_t>(1, (busy.back().end_ns - begin) / kThermalWindows);
  std::vector<Stretch> hot;
  for (const Stretch& one : busy)
    for (std::int64_t at = one.start_ns; at < one.end_ns;) {
      const std::int64_t number = (at - begin) / window;
      const std::int64_t end = std::min(one.end_ns, begin + (number + 1) * window);
      if (number % 2 == 1) hot.push_back({at, end});
      at = end;
    }
  return hot;
}

void stretch(TraceRows& rows, const std::vector<Stretch>& where, double factor) { move(rows, TimeMap(where, factor, {}, 0)); }

// The kernel that takes the most time: the one whose implementation is taken to be slower.
trace::NameId costliest(const TraceRows& rows) {
  std::map<std::uint32_t, double> times;
  for (const auto& kernel : rows.kernels) times[kernel.name.value] += static_cast<double>(kernel.end_ns - kernel.start_ns);
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most->first};
}

// Time put in wherever the device begins to work again; answers the length of each.
std::int64_t put_in_gaps(TraceRows& rows, double intensity, std::vector<std::int64_t>& points) {
  const auto busy = all_busy(rows);
  double sum = 0;
  for (const Stretch& one : busy) {
    points.push_back(one.start_ns);
    sum += static_cast<double>(one.end_ns - one.start_ns);
  }
  const auto extra = std::max<std::int64_t>(1'000, std::llround(intensity * sum / static_cast<double>(busy.size())));
  move(rows, TimeMap({}, 1, points, extra));
  return extra;
}

void put_in_copies(TraceRows& rows, double intensity, trace::NameTable& names) {
  const auto busy = all_busy(rows);
  std::size_t next = 0;
  std::vector<std::size_t> order(rows.kernels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows.kernels[a].start_ns < rows.kernels[b].start_ns; });
  std::vector<std::size_t> beginners;
  for (const std::size_t i : order)
    if (next < busy.size() && rows.kernels[i].start_ns == busy[next].start_ns) beginners.push_back(i), ++next;
  std::vector<std::int64_t> points;
  const std::int64_t extra = put_in_gaps(rows, intensity, points);
  for (const std::size_t i : beginners) {
    const auto& kernel = rows.kernels[i];
    trace::CopyRow copy;
    copy.rank = kernel.rank;
    copy.device = kernel.device;
    copy.stream = kernel.stream;
    copy.kind = names.intern("h2d");
    copy.end_ns = kernel.start_ns;
    copy.start_ns = kernel.start_ns - extra;
    copy.bytes = std::llround(kBytesPerNs * static_cast<double>(extra));
    rows.copies.push_back(copy);
  }
}

// Every kernel in pieces, each launched on its own: what a compiler that fuses less would send.
void split_kernels(TraceRows& rows, double intensity) {
  const auto pieces = 1 + std::max<std::int64_t>(1, std::llround(intensity * static_cast<double>(kMaxPieces - 1)));
  std::vector<std::int64_t> points;
  std::uint64_t largest = 0;
  for (const auto& kernel : rows.kernels) {
    largest = std::max(largest, kernel.correlation_id);
    for (std::int64_t piece = 1; piece < pieces; ++piece)
      points.push_back(kernel.start_ns + (kernel.end_ns - kernel.start_ns) * piece / pieces);
  }
  std::sort(points.begin(), points.end());
  const TimeMap map({}, 1, points, kLaunchGapNs);
  std::map<std::uint64_t, trace::ApiCallRow> launches;
  for (const auto& call : rows.calls)
    if (call.correlation_id != 0) launches.emplace(call.correlation_id, call);
  std::vector<trace::KernelRow> kernels;
  std::vector<trace::ApiCallRow> calls;  // of the pieces after the first
  for (const auto& kernel : rows.kernels)
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t length = kernel.end_ns - kernel.start_ns;
      trace::KernelRow part = kernel;
      part.start_ns = map(kernel.start_ns + length * piece / pieces, true);
      part.end_ns = std::max(part.start_ns, map(kernel.start_ns + length * (piece + 1) / pieces, false));
      const auto launch = launches.find(kernel.correlation_id);
      if (piece > 0 && launch != launches.end()) {
        part.correlation_id = ++largest;
        trace::ApiCallRow call = launch->second;
        call.correlation_id = part.correlation_id;
        call.start_ns = std::max(map(call.end_ns, true), part.start_ns - kLaunchGapNs);
        call.end_ns = call.start_ns + kLaunchCallNs;
        calls.push_back(call);
      }
      kernels.push_back(part);
    }
  rows.kernels.clear();
  move(rows, map);
  rows.kernels = std::move(kernels);
  rows.calls.insert(rows.calls.end(), calls.begin(), calls.end());
}

}  // namespace

core::Result<Applied> apply(const TraceFault& fault, TraceRows& rows, trace::NameTable& names) {
  const auto busy = all_busy(rows);
  if (busy.empty())
    return core::fail(core::ErrorCode::invalid_input, "the trace has no kernels, so no fault can be simulated",
                      "import a GPU trace");
  const std::string_view id = fault.kind->id;
  if (is_hold_up(id)) return hold_up(fault, rows, names);
  if (is_reschedule(id)) return reschedule(fault, rows, names);
  if (is_other_run(id)) return other_run(fault, rows, names);
  const std::int64_t idle = idle_of(rows);
  if (id == "gpu_clock_cap") {
    stretch(rows, busy, 1 + fault.intensity);
  } else if (id == "gpu_thermal_steps") {
    stretch(rows, hot_parts(busy), 1 + 2 * fault.intensity);
  } else if (id == "gpu_gaps") {
    std::vector<std::int64_t> points;
    put_in_gaps(rows, fault.intensity, points);
  } else if (id == "gpu_copies") {
    put_in_copies(rows, fault.intensity, names);
  } else if (id == "gpu_slower_kernel") {
    const trace::NameId name = costliest(rows);
    stretch(rows, busy_times(rows, [&](const auto& kernel) { return kernel.name == name; }), 1 + fault.intensity);
  } else {
    split_kernels(rows, fault.intensity);
  }
  return Applied{static_cast<double>(idle_of(rows) - idle) / static_cast<double>(std::max<std::int64_t>(1, span_of(rows))), {}};
}

}  // namespace aaco::laboratory::trace_faults
