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

TEST(Kinds, RefusesUnknownKinds) {
  EXPECT_FALSE(make_trace_fault("gpu_gap", 0.5));
  for (const double intensity : {0.0, 1.5, std::nan("")}) EXPECT_FALSE(make_trace_fault("gpu_gaps", intensity));
}

}  // namespace
}  // namespace aaco::laboratory::trace_faults
