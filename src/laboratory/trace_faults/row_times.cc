#include "laboratory/trace_faults/row_times.h"

#include <algorithm>

namespace aaco::laboratory::trace_faults {

std::vector<Stretch> busy_times(const TraceRows& rows, const std::function<bool(const trace::KernelRow&)>& wanted) {
  std::vector<Stretch> all;
  for (const auto& kernel : rows.kernels)
    if (kernel.end_ns > kernel.start_ns && wanted(kernel)) all.push_back({kernel.start_ns, kernel.end_ns});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::vector<Stretch> joined;
  for (const Stretch& one : all)
    if (!joined.empty() && one.start_ns <= joined.back().end_ns)
      joined.back().end_ns = std::max(joined.back().end_ns, one.end_ns);
    else
      joined.push_back(one);
  return joined;
}

std::vector<Stretch> all_busy(const TraceRows& rows) {
  return busy_times(rows, [](const auto&) { return true; });
}

std::int64_t length_of(const std::vector<Stretch>& stretches) {
  std::int64_t sum = 0;
  for (const Stretch& one : stretches) sum += one.end_ns - one.start_ns;
  return sum;
}

std::int64_t span_of(const TraceRows& rows) {
  const auto busy = all_busy(rows);
  return busy.empty() ? 0 : busy.back().end_ns - busy.front().start_ns;
}

std::int64_t idle_of(const TraceRows& rows) { return span_of(rows) - length_of(all_busy(rows)); }

void move(TraceRows& rows, const TimeMap& host, const TimeMap& device) {
  const auto spans = [](auto& list, const TimeMap& map) {
    for (auto& row : list) {
      const std::int64_t start = map(row.start_ns, true);
      row.end_ns = std::max(start, map(row.end_ns, row.end_ns == row.start_ns));
      row.start_ns = start;
    }
  };
  spans(rows.kernels, device);
  spans(rows.copies, device);
  spans(rows.collectives, device);
  spans(rows.calls, host);
  for (auto& row : rows.iterations) {
    const std::int64_t end = host(row.start_ns + row.duration_ns, false);
    row.start_ns = host(row.start_ns, true);
    row.duration_ns = std::max<std::int64_t>(0, end - row.start_ns);
  }
}

Launches launches_of(const TraceRows& rows) {
  Launches found;
  for (std::size_t i = 0; i < rows.calls.size(); ++i)
    if (const auto& call = rows.calls[i]; call.correlation_id != 0) found.emplace(std::pair(call.rank, call.correlation_id), i);
  return found;
}

Runtime runtime_of(const TraceRows& rows, const trace::NameTable& names) {
  for (const auto& call : rows.calls)
    if (names.text(call.domain).starts_with("cuda")) return {"cuda_runtime", "cudaLaunchKernel", "cudaGraphLaunch"};
  return {"hip", "hipLaunchKernel", "hipGraphLaunch"};
}

}  // namespace aaco::laboratory::trace_faults
