#include "laboratory/trace_faults.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "laboratory/trace_faults/time_map.h"

namespace aaco::laboratory::trace_faults {
namespace {

TEST(Map, StretchesAndPutsIn) {
  const TimeMap map({{100, 200}}, 2, {300}, 50);
  EXPECT_EQ(map(50, true), 50);
  EXPECT_EQ(map(100, true), 100);
  EXPECT_EQ(map(150, true), 200);
  EXPECT_EQ(map(200, true), 300);
  EXPECT_EQ(map(300, false), 400);
  EXPECT_EQ(map(300, true), 450);
  EXPECT_EQ(map(310, false), 460);
}

TEST(Map, EmptyMapIsIdentity) { EXPECT_EQ(TimeMap({}, 3, {}, 7)(1234, true), 1234); }

// Two kernels of 1000 ns with 500 between them, each launched 200 before it begins; the second name twice as costly in all.
TraceRows rows_of(trace::NameTable& names) {
  TraceRows rows;
  const auto add = [&](std::string_view name, std::int64_t start, std::int64_t length, std::uint64_t id) {
    trace::KernelRow kernel;
    kernel.name = names.intern(name);
    kernel.start_ns = start;
    kernel.end_ns = start + length;
    kernel.correlation_id = id;
    rows.kernels.push_back(kernel);
    trace::ApiCallRow call;
    call.start_ns = start - 200;
    call.end_ns = start - 150;
    call.correlation_id = id;
    rows.calls.push_back(call);
  };
  add("gemm", 1000, 1000, 1);
  add("relu", 2500, 1000, 2);
  add("gemm", 4000, 1000, 3);
  rows.iterations.push_back({0, 0, names.intern("step"), 0, 500, 5000, {}});
  return rows;
}

std::int64_t kernel_time(const TraceRows& rows) {
  std::int64_t sum = 0;
  for (const auto& kernel : rows.kernels) sum += kernel.end_ns - kernel.start_ns;
  return sum;
}

TraceRows with(std::string_view fault, double intensity) {
  trace::NameTable names;
  TraceRows rows = rows_of(names);
  const auto applied = apply(*make_trace_fault(fault, intensity), rows, names);
  EXPECT_TRUE(applied);
  for (std::size_t i = 1; i < rows.kernels.size(); ++i) EXPECT_GE(rows.kernels[i].start_ns, rows.kernels[i - 1].end_ns);
  return rows;
}

TEST(Apply, ClockCapStretchesOnlyKernels) {
  const TraceRows rows = with("gpu_clock_cap", 0.5);
  EXPECT_EQ(kernel_time(rows), 4500);
  EXPECT_EQ(rows.kernels[1].start_ns - rows.kernels[0].end_ns, 500);
  EXPECT_EQ(rows.iterations[0].duration_ns, 6500);
  EXPECT_LT(rows.calls[1].start_ns, rows.kernels[1].start_ns);
}

TEST(Apply, ThermalStepsStretchSomeKernels) {
  const TraceRows rows = with("gpu_thermal_steps", 0.5);
  EXPECT_GT(kernel_time(rows), 3000);
  EXPECT_LT(kernel_time(rows), 6000);
}

TEST(Apply, GapsLeaveKernelsUnchanged) {
  const TraceRows rows = with("gpu_gaps", 1);
  EXPECT_EQ(kernel_time(rows), 3000);
  EXPECT_EQ(rows.kernels[1].start_ns - rows.kernels[0].end_ns, 1500);
}

TEST(Apply, CopiesFillTheGaps) {
  const TraceRows rows = with("gpu_copies", 1);
  ASSERT_EQ(rows.copies.size(), 3U);
  EXPECT_EQ(rows.copies[1].end_ns, rows.kernels[1].start_ns);
  EXPECT_EQ(rows.copies[1].end_ns - rows.copies[1].start_ns, 1000);
  EXPECT_GE(rows.copies[1].start_ns, rows.kernels[0].end_ns);
}

TEST(Apply, OnlyTheCostliestKernelIsSlower) {
  const TraceRows rows = with("gpu_slower_kernel", 1);
  EXPECT_EQ(rows.kernels[0].end_ns - rows.kernels[0].start_ns, 2000);
  EXPECT_EQ(rows.kernels[1].end_ns - rows.kernels[1].start_ns, 1000);
}

TEST(Apply, SplitKernelsKeepTheirTotalTime) {
  const TraceRows rows = with("gpu_more_launches", 1);
  EXPECT_EQ(rows.kernels.size(), 12U);
  EXPECT_EQ(rows.calls.size(), 12U);
  EXPECT_EQ(kernel_time(rows), 3000);
  std::set<std::uint64_t> ids;
  for (const auto& kernel : rows.kernels) EXPECT_TRUE(ids.insert(kernel.correlation_id).second);
}

TEST(Apply, RefusesATraceWithoutKernels) {
  TraceRows rows;
  trace::NameTable names;
  EXPECT_FALSE(apply(*make_trace_fault("gpu_gaps", 1), rows, names));
}

// What the launching thread did in the gap before the second kernel.
std::string host_event(std::string_view fault, std::int64_t& gap_ns, std::uint64_t variant = 0) {
  trace::NameTable names;
  TraceRows rows = rows_of(names);
  const auto applied = apply(*make_trace_fault(fault, 1, variant), rows, names);
  EXPECT_TRUE(applied);
  gap_ns = rows.kernels[1].start_ns - rows.kernels[0].end_ns;
  EXPECT_GT(applied->share_ratio, fault == "host_synchronous_copies" ? -1 : 0.5);
  std::string found;
  for (const auto& call : rows.calls)
    if (call.correlation_id == 0 && call.start_ns >= rows.kernels[0].end_ns && call.end_ns <= rows.kernels[1].start_ns)
      found += names.text(call.name);
  EXPECT_EQ(kernel_time(rows), 3000);
  return found;
}

TEST(HoldUp, TheHostDoesSomethingElseBeforeALaunch) {
  std::int64_t gap = 0;
  EXPECT_EQ(host_event("host_data_loader", gap), "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  EXPECT_EQ(gap, 50'500);
  EXPECT_EQ(host_event("host_garbage_collection", gap), "<built-in function collect>");
  EXPECT_EQ(host_event("host_allocation", gap), "hipMalloc");
  EXPECT_EQ(host_event("host_synchronous_copies", gap), "hipMemcpy");
}
TEST(HoldUp, VariantsAreOtherNamesOfTheSameActivity) {
  std::int64_t gap = 0;
  EXPECT_EQ(host_event("host_allocation", gap, 1), "hipFree");
  EXPECT_EQ(host_event("host_allocation", gap, 5), "hipMalloc") << "they begin again";
  std::set<std::string> names;
  for (std::uint64_t variant = 0; variant < 20; ++variant) names.insert(host_event("host_data_loader", gap, variant));
  EXPECT_GT(names.size(), 5U);
  for (const char* fault : {"host_checkpoint", "host_logging", "host_compilation", "host_synchronisation"})
    EXPECT_NE(host_event(fault, gap), "") << fault;
}
TEST(HoldUp, ABlockedLaunchLeavesNoEvent) {
  const TraceRows rows = with("host_blocked_launch", 1);
  EXPECT_EQ(rows.calls.size(), 3U);
  EXPECT_GT(rows.calls[2].end_ns - rows.calls[2].start_ns, 50'000) << "gemm ran before: no code is loaded";
  EXPECT_LT(rows.calls[1].end_ns - rows.calls[1].start_ns, 1000) << "of relu the first";
}
TEST(HoldUp, CodeIsLoadedInsideTheFirstLaunch) {
  const TraceRows rows = with("host_first_use", 1);
  EXPECT_GT(rows.calls[1].end_ns - rows.calls[1].start_ns, 50'000);      // of relu
  EXPECT_EQ(rows.kernels[2].start_ns - rows.kernels[1].end_ns, 50'500);  // gemm is new before relu, but begins the trace
}
TEST(HoldUp, NeedsLaunches) {
  trace::NameTable names;
  TraceRows rows = rows_of(names);
  rows.calls.clear();
  EXPECT_FALSE(apply(*make_trace_fault("host_data_loader", 1), rows, names));
  EXPECT_FALSE(apply(*make_trace_fault("small_batch", 1), rows, names));
  EXPECT_FALSE(apply(*make_trace_fault("graph_replay", 1), rows, names));
}
TEST(HoldUp, AnOverrunQueueIsNotHeldUp) {
  trace::NameTable names;
  TraceRows rows = rows_of(names);
  for (auto& call : rows.calls) call.start_ns -= 200'000'000, call.end_ns -= 200'000'000;  // launched long before
  EXPECT_FALSE(apply(*make_trace_fault("host_data_loader", 0.1), rows, names));
}

TEST(Reschedule, ASmallBatchLeavesTheDeviceIdle) {
  const TraceRows rows = with("small_batch", 1);
  EXPECT_LT(kernel_time(rows), 3001);
  EXPECT_EQ(rows.kernels[1].start_ns - rows.calls[1].start_ns, 200);
}
TEST(Reschedule, ABusyCoreSlowsTheHostOnly) {
  const TraceRows rows = with("host_busy_core", 1);
  EXPECT_EQ(kernel_time(rows), 3000);
  EXPECT_EQ(rows.calls[1].start_ns - rows.calls[0].start_ns, 5 * 1500);
  EXPECT_GT(rows.kernels[1].start_ns - rows.kernels[0].end_ns, 5000);
}
TEST(Reschedule, AGraphLaunchesAllAtOnce) {
  const TraceRows rows = with("graph_replay", 1);
  ASSERT_EQ(rows.calls.size(), 1U);
  for (const auto& kernel : rows.kernels) EXPECT_EQ(kernel.correlation_id, rows.calls[0].correlation_id);
  EXPECT_EQ(kernel_time(rows), 3000);
}

TEST(OtherRun, CountersAreCollectedOneByOne) {
  const TraceRows rows = with("counter_passes", 1);
  EXPECT_TRUE(rows.calls.empty());
  EXPECT_EQ(rows.counters.size(), 9U);
  EXPECT_GT(rows.kernels[1].start_ns - rows.kernels[0].end_ns, 200'000);
}
TEST(OtherRun, TwoRunsAreAnHourApart) {
  const TraceRows rows = with("merged_runs", 1);
  ASSERT_EQ(rows.kernels.size(), 6U);
  EXPECT_EQ(rows.kernels[3].start_ns - rows.kernels[0].start_ns, 3'600'000'000'000);
  EXPECT_EQ(rows.kernels[3].correlation_id, rows.calls[3].correlation_id);
  EXPECT_NE(rows.kernels[3].correlation_id, rows.kernels[0].correlation_id);
}

TraceRows two_ranks(trace::NameTable& names) {
  TraceRows rows;
  const trace::NameId gemm = names.intern("gemm"), nccl = names.intern("ncclDevKernel_AllReduce");
  for (std::int32_t rank = 0; rank < 2; ++rank)
    for (std::int64_t step = 0; step < 2; ++step) {
      trace::KernelRow kernel;
      kernel.rank = rank;
      kernel.name = gemm;
      kernel.start_ns = 10'000 * step;
      kernel.end_ns = kernel.start_ns + 4000;
      rows.kernels.push_back(kernel);
      kernel.name = nccl;
      kernel.start_ns += 5000;
      kernel.end_ns = kernel.start_ns + 1000;
      rows.kernels.push_back(kernel);
      trace::CollectiveRow collective;
      collective.rank = rank;
      collective.start_ns = kernel.start_ns;
      collective.end_ns = kernel.end_ns;
      rows.collectives.push_back(collective);
    }
  return rows;
}
TEST(OtherRun, TheOthersWaitForTheSlowRank) {
  trace::NameTable names;
  TraceRows rows = two_ranks(names);
  ASSERT_TRUE(apply(*make_trace_fault("slow_rank", 1), rows, names));
  EXPECT_EQ(rows.collectives[0].end_ns - rows.collectives[0].start_ns, 5000);  // rank 0 waits
  EXPECT_EQ(rows.collectives[2].end_ns - rows.collectives[2].start_ns, 1000);
  EXPECT_EQ(rows.collectives[0].end_ns, rows.collectives[2].end_ns);
  EXPECT_EQ(rows.collectives[1].end_ns, rows.collectives[3].end_ns);
}
TEST(OtherRun, ASlowRankNeedsRanks) {
  trace::NameTable names;
  TraceRows rows = rows_of(names);
  EXPECT_FALSE(apply(*make_trace_fault("slow_rank", 1), rows, names));
}

TEST(Kinds, TheExpectedVerdictIsStored) {
  const auto fault = make_trace_fault("host_data_loader", 0.5);
  const auto document = to_json(*fault, {0.4, {{10, 20}}});
  EXPECT_EQ(document["gaps_ns"].dump(-1), "[[10,20]]");
  EXPECT_DOUBLE_EQ(*document["share_ratio"].as_f64(), 0.4);
}
TEST(Kinds, RefusesUnknownKinds) {
  EXPECT_FALSE(make_trace_fault("gpu_gap", 0.5));
  for (const double intensity : {0.0, 1.5, std::nan("")}) EXPECT_FALSE(make_trace_fault("gpu_gaps", intensity));
}

}  // namespace
}  // namespace aaco::laboratory::trace_faults
