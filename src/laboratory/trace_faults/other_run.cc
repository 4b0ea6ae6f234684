#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "laboratory/trace_faults/row_times.h"

// Faults that make another run of it: several ranks of which one is slow, passes of counters, two runs in one file.
namespace aaco::laboratory::trace_faults {
namespace {

constexpr double kPausePerKernel = 10;  // between counted kernels, at intensity 1
constexpr std::int64_t kPauseNs = 200'000;
constexpr std::int64_t kApartNs = 3'600'000'000'000;  // of two runs
constexpr double kBytesPerKernelNs = 300;
constexpr auto kOtherRuns = std::to_array<std::string_view>({"slow_rank", "counter_passes", "merged_runs"});

core::Result<Applied> slow_rank(double intensity, TraceRows& rows) {
  std::map<std::int32_t, std::vector<const trace::CollectiveRow*>> by_rank;
  for (const auto& one : rows.collectives) by_rank[one.rank].push_back(&one);
  if (by_rank.size() < 2)
    return core::fail(core::ErrorCode::invalid_input, "a slow rank needs collectives of at least two ranks",
                      "import the traces of all ranks");
  std::size_t shared = by_rank.begin()->second.size();
  for (auto& [rank, list] : by_rank) {
    std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
    shared = std::min(shared, list.size());
  }
  const std::int32_t slow = by_rank.rbegin()->first;
  const auto in_collective = [&](const trace::KernelRow& kernel) {
    return std::any_of(by_rank[kernel.rank].begin(), by_rank[kernel.rank].end(),
                       [&](const auto* one) { return one->start_ns <= kernel.start_ns && kernel.end_ns <= one->end_ns; });
  };
  const TimeMap late(busy_times(rows, [&](const auto& kernel) { return kernel.rank == slow && !in_collective(kernel); }),
                     1 + intensity, std::vector<Insertion>());
  std::map<std::int32_t, TimeMap> maps;
  for (const auto& [rank, list] : by_rank) {
    std::vector<Insertion> waits;
    std::int64_t before = 0;
    for (std::size_t i = 0; rank != slow && i < shared; ++i) {  // it ends when the slow one comes to it
      const std::int64_t started = by_rank[slow][i]->start_ns;
      const std::int64_t delay = std::max(before, late(started, true) - started);
      waits.push_back({std::max(list[i]->start_ns, list[i]->end_ns - 1), delay - before});
      before = delay;
    }
    maps.emplace(rank, rank == slow ? late : TimeMap({}, 1, waits));
  }
  const std::int64_t span = span_of(rows);
  std::map<std::int32_t, TraceRows> parts;
  for (const auto& row : rows.kernels) parts[row.rank].kernels.push_back(row);
  for (const auto& row : rows.copies) parts[row.rank].copies.push_back(row);
  for (const auto& row : rows.calls) parts[row.rank].calls.push_back(row);
  for (const auto& row : rows.collectives) parts[row.rank].collectives.push_back(row);
  for (const auto& row : rows.iterations) parts[row.rank].iterations.push_back(row);
  TraceRows all;
  const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (auto& [rank, part] : parts) {
    if (const auto map = maps.find(rank); map != maps.end()) move(part, map->second);
    join(all.kernels, part.kernels);
    join(all.copies, part.copies);
    join(all.calls, part.calls);
    join(all.collectives, part.collectives);
    join(all.iterations, part.iterations);
  }
  rows = std::move(all);
  return Applied{static_cast<double>(span_of(rows) - span) / static_cast<double>(std::max<std::int64_t>(1, span_of(rows))), {}};
}

Applied counter_passes(double intensity, TraceRows& rows, trace::NameTable& names) {
  std::stable_sort(rows.kernels.begin(), rows.kernels.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  rows.calls.clear();
  rows.copies.clear();
  rows.collectives.clear();
  rows.iterations.clear();
  std::int64_t at = rows.kernels.front().start_ns;
  std::uint64_t dispatch = 0;
  for (auto& kernel : rows.kernels) {
    const std::int64_t length = kernel.end_ns - kernel.start_ns;
    kernel.start_ns = at;
    kernel.end_ns = at + length;
    kernel.correlation_id = kernel.external_id = 0;
    kernel.dispatch_id = ++dispatch;
    at = kernel.end_ns + kPauseNs + std::llround(kPausePerKernel * intensity * static_cast<double>(length));
    const auto count = [&](std::string_view counter, double value) {
      rows.counters.push_back({kernel.rank, kernel.device, dispatch, kernel.name, names.intern(counter), value});
    };
    count("SQ_WAVES", static_cast<double>(length));
    count("FETCH_SIZE", kBytesPerKernelNs * static_cast<double>(length) / 1024);
    count("WRITE_SIZE", kBytesPerKernelNs * static_cast<double>(length) / 2048);
  }
  return {};
}

template <class Row>
void again(std::vector<Row>& list, std::uint64_t ids) {
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) {
    Row row = list[i];
    row.start_ns += kApartNs;
    if constexpr (requires { row.end_ns; }) row.end_ns += kApartNs;
    if constexpr (requires { row.process_id; }) row.process_id += 1, row.thread_id += 1;
    if constexpr (requires { row.correlation_id; })
      if (row.correlation_id != 0) row.correlation_id += ids;
    if constexpr (requires { row.external_id; })
      if (row.external_id != 0) row.external_id += ids;
    list.push_back(row);
  }
}

}  // namespace

bool is_other_run(std::string_view fault) { return std::find(kOtherRuns.begin(), kOtherRuns.end(), fault) != kOtherRuns.end(); }

core::Result<Applied> other_run(const TraceFault& fault, TraceRows& rows, trace::NameTable& names) {
  if (fault.kind->id == "slow_rank") return slow_rank(fault.intensity, rows);
  if (fault.kind->id == "counter_passes") return counter_passes(fault.intensity, rows, names);
  std::uint64_t ids = 0;
  for (const auto& row : rows.kernels) ids = std::max({ids, row.correlation_id, row.external_id});
  for (const auto& row : rows.calls) ids = std::max({ids, row.correlation_id, row.external_id});
  again(rows.kernels, ids);
  again(rows.copies, ids);
  again(rows.calls, ids);
  again(rows.collectives, ids);
  again(rows.iterations, ids);
  return Applied{};
}

}  // namespace aaco::laboratory::trace_faults
