#include "analytics/gpu_limit.h"

#include <gtest/gtest.h>

namespace aaco::analytics::bottleneck {
namespace {

using gaps::Cause;
using trace_time::DeviceTime;

// A device that ran for 1000 ns.
DeviceTime device(std::int64_t compute, std::int64_t exposed_collective, std::int64_t exposed_copy,
                  std::int64_t microkernels = 0) {
  DeviceTime time;
  time.span_ns = 1000;
  time.compute_ns = compute;
  time.exposed_collective_ns = exposed_collective;
  time.exposed_copy_ns = exposed_copy;
  time.busy_ns = compute + exposed_collective + exposed_copy;
  time.idle_ns = 1000 - time.busy_ns;
  time.kernel_count = 100;
  time.microkernel_count = microkernels;
  return time;
}

TEST(GpuLimit, ComputeByDefault) { EXPECT_EQ(find_limit(device(900, 50, 20), {}).limit, GpuLimit::compute); }
TEST(GpuLimit, Communication) { EXPECT_EQ(find_limit(device(500, 400, 20), {}).limit, GpuLimit::communication); }
TEST(GpuLimit, Copy) { EXPECT_EQ(find_limit(device(500, 0, 450), {}).limit, GpuLimit::copy); }
TEST(GpuLimit, Launch) {
  EXPECT_EQ(find_limit(device(300, 0, 0, 95), {{Cause::launch_latency, {10, 300, 0}}, {Cause::host_late, {10, 400, 400}}}).limit,
            GpuLimit::launch);
}
TEST(GpuLimit, SmallGapsBetweenMicrokernelsAreLaunches) {
  EXPECT_EQ(find_limit(device(300, 0, 0, 95), {}).limit, GpuLimit::launch);
}
// The same idle time in few long gaps: the host did something else than launching.
TEST(GpuLimit, LongHostDelaysAreHostWaits) {
  EXPECT_EQ(find_limit(device(300, 0, 0, 95), {{Cause::host_late, {2, 700, 0}}}).limit, GpuLimit::waiting);
}
TEST(GpuLimit, Waiting) {
  EXPECT_EQ(find_limit(device(300, 0, 0), {{Cause::synchronisation, {3, 300, 0}}, {Cause::queue_empty, {3, 400, 0}}}).limit,
            GpuLimit::waiting);
}
// The host sits in a copy call for the whole time, the device copies for a moment.
TEST(GpuLimit, CopyCallWaitingForKernelIsNotCopyBound) {
  EXPECT_EQ(find_limit(device(890, 0, 10), {{Cause::copy, {1, 100, 0}}}).limit, GpuLimit::compute);
  EXPECT_EQ(find_limit(device(390, 0, 10), {{Cause::copy, {1, 600, 0}}}).limit, GpuLimit::waiting);
}
TEST(GpuLimit, UnexplainedIdleTimeGivesNoConfidence) {
  const auto finding = find_limit(device(300, 0, 0), {{Cause::unknown, {3, 700, 0}}});
  EXPECT_EQ(finding.limit, GpuLimit::waiting);
  EXPECT_DOUBLE_EQ(finding.confidence, 0);
}
TEST(GpuLimit, HeldWork) {
  gaps::CauseSum held{3, 600};
  held.held_ns = 590;
  const auto finding = find_limit(device(300, 0, 0), {{Cause::dependency, held}, {Cause::host_late, {1, 100}}});
  EXPECT_EQ(finding.limit, GpuLimit::held);
  EXPECT_DOUBLE_EQ(finding.shares.held, 0.59);
  EXPECT_DOUBLE_EQ(finding.shares.waiting, 0.11);
  EXPECT_EQ(to_string(finding.limit), "held");
}
// Copies and fills that are issued one by one.
TEST(GpuLimit, ManySmallCopiesAreLaunches) {
  gaps::CauseSum issued{500, 700};
  issued.issue_ns = 690;
  DeviceTime time = device(300, 0, 0, 0);
  time.copy_count = time.microcopy_count = 900;
  EXPECT_EQ(find_limit(time, {{Cause::copy, issued}}).limit, GpuLimit::launch);
  time.copy_count = time.microcopy_count = 20;  // a few among kernels
  EXPECT_EQ(find_limit(time, {{Cause::copy, issued}}).limit, GpuLimit::waiting);
  time.copy_count = 900;  // large ones
  EXPECT_EQ(find_limit(time, {{Cause::copy, issued}}).limit, GpuLimit::waiting);
}
TEST(GpuLimit, NoWorkNoLimit) { EXPECT_EQ(find_limit(DeviceTime(), {}).limit, GpuLimit::none); }
TEST(GpuLimit, ReportsEvidence) {
  const auto finding = find_limit(device(500, 400, 20), {{Cause::host_late, {3, 80, 0}}});
  EXPECT_GE(finding.evidence.size(), 4u);
  EXPECT_GT(finding.confidence, 0.5);
}

}  // namespace
}  // namespace aaco::analytics::bottleneck
