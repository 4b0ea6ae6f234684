#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "laboratory/trace_faults/row_times.h"

// Faults that change how long the host or the kernels take: what the device does when follows from the launches anew, each stream
// in its order.
namespace aaco::laboratory::trace_faults {
namespace {

constexpr double kShortest = 0.05;              // of a kernel's time, at intensity 1
constexpr std::int64_t kMinKernelNs = 1'500;    // no kernel of today's devices is shorter
constexpr double kHostFactor = 4;               // added to 1 at intensity 1
constexpr std::int64_t kMaxLatencyNs = 10'000;  // from a launch to its kernel, where none is seen
constexpr std::int64_t kGraphGapNs = 1'000;     // between the kernels of a replayed graph
constexpr std::int64_t kGraphLaunchNs = 20'000;
constexpr std::size_t kGraphKernels = 300;  // of a graph at most
constexpr auto kReschedules = std::to_array<std::string_view>({"small_batch", "host_busy_core", "graph_replay"});

std::vector<std::size_t> in_order(const std::vector<trace::KernelRow>& kernels) {
  std::vector<std::size_t> order(kernels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels[a].start_ns < kernels[b].start_ns; });
  return order;
}

using Place = std::pair<std::int32_t, std::int64_t>;  // rank and device

// Kernels again, from the launches in `rows` (moved already) and the times before.
void place_kernels(TraceRows& rows, const std::vector<std::int64_t>& launched_before, double scale) {
  const Launches launches = launches_of(rows);
  const auto order = in_order(rows.kernels);
  std::map<Place, std::int64_t> end_before;
  std::int64_t latency = kMaxLatencyNs;
  for (const std::size_t i : order) {  // the shortest way from a launch to its kernel, where the device was free
    const auto& kernel = rows.kernels[i];
    std::int64_t& end = end_before[{kernel.rank, kernel.device}];
    if (const auto launch = launches.find({kernel.rank, kernel.correlation_id}); launch != launches.end())
      if (const std::int64_t started = launched_before[launch->second]; started > end && kernel.start_ns > started)
        latency = std::min(latency, kernel.start_ns - started);
    end = std::max(end, kernel.end_ns);
  }
  std::map<Place, std::int64_t> free_from, old_end;
  for (const std::size_t i : order) {
    auto& kernel = rows.kernels[i];
    const Place place{kernel.rank, kernel.device};
    const auto launch = launches.find({kernel.rank, kernel.correlation_id});
    const auto free = free_from.find(place);
    std::int64_t start = kernel.start_ns;
    if (launch != launches.end()) {
      start = rows.calls[launch->second].start_ns + latency;
    } else if (free != free_from.end()) {
      start = free->second + std::max<std::int64_t>(0, kernel.start_ns - old_end[place]);
    }
    if (free != free_from.end()) start = std::max(start, free->second);
    const std::int64_t length = kernel.end_ns - kernel.start_ns;
    old_end[place] = kernel.end_ns;
    kernel.start_ns = start;
    kernel.end_ns =
        start + std::max<std::int64_t>(std::min(length, kMinKernelNs), std::llround(scale * static_cast<double>(length)));
    free_from[place] = kernel.end_ns;
  }
}

// Launches of up to kGraphKernels kernels become one; what the host did between them is gone.
void replay(TraceRows& rows, trace::NameTable& names) {
  const Runtime runtime = runtime_of(rows, names);
  std::map<Place, std::vector<std::size_t>> by_place;
  for (const std::size_t i : in_order(rows.kernels)) by_place[{rows.kernels[i].rank, rows.kernels[i].device}].push_back(i);
  std::uint64_t id = 1;
  std::vector<trace::ApiCallRow> calls;
  rows.iterations.clear();
  for (const auto& [place, kernels] : by_place) {
    std::int64_t free = rows.kernels[kernels.front()].start_ns;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (i % kGraphKernels == 0) {
        trace::ApiCallRow call;
        call.rank = place.first;
        call.domain = names.intern(runtime.domain);
        call.name = names.intern(runtime.graph_launch);
        call.process_id = call.thread_id = 1;
        call.start_ns = free - 2 * kGraphLaunchNs;
        call.end_ns = call.start_ns + kGraphLaunchNs;
        call.correlation_id = ++id;
        calls.push_back(call);
        rows.iterations.push_back(
            {place.first, static_cast<std::int64_t>(i / kGraphKernels), names.intern("step"), 0, call.start_ns, 0, {}});
      }
      auto& kernel = rows.kernels[kernels[i]];
      const std::int64_t length = kernel.end_ns - kernel.start_ns;
      kernel.start_ns = free;
      kernel.end_ns = free + length;
      kernel.correlation_id = id;
      kernel.external_id = 0;
      kernel.graph_node_id = i % kGraphKernels + 1;
      free = kernel.end_ns + kGraphGapNs;
      rows.iterations.back().duration_ns = kernel.end_ns - rows.iterations.back().start_ns;
    }
  }
  rows.calls = std::move(calls);
  rows.copies.clear();
  rows.collectives.clear();
}

}  // namespace

bool is_reschedule(std::string_view fault) {
  return std::find(kReschedules.begin(), kReschedules.end(), fault) != kReschedules.end();
}

core::Result<Applied> reschedule(const TraceFault& fault, TraceRows& rows, trace::NameTable& names) {
  if (rows.calls.empty())
    return core::fail(core::ErrorCode::invalid_input, "the trace has no launches from which to place its kernels",
                      "import a trace with API calls");
  const std::int64_t idle = idle_of(rows);
  if (fault.kind->id == "graph_replay") {
    replay(rows, names);
  } else {
    std::vector<std::int64_t> launched_before;
    for (const auto& call : rows.calls) launched_before.push_back(call.start_ns);
    double scale = 1;
    if (fault.kind->id == "small_batch") {
      scale = 1 - (1 - kShortest) * fault.intensity;
    } else {
      Stretch all{std::numeric_limits<std::int64_t>::max(), 0};
      for (const auto& call : rows.calls) all = {std::min(all.start_ns, call.start_ns), std::max(all.end_ns, call.end_ns)};
      move(rows, TimeMap({all}, 1 + kHostFactor * fault.intensity, std::vector<Insertion>()),
           TimeMap({}, 1, std::vector<Insertion>()));
    }
    place_kernels(rows, launched_before, scale);
    rows.collectives.clear();  // they stand in the kernels too, and moved with these
  }
  return Applied{static_cast<double>(idle_of(rows) - idle) / static_cast<double>(std::max<std::int64_t>(1, span_of(rows))), {}};
}

}  // namespace aaco::laboratory::trace_faults
