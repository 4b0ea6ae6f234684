#include "analytics/gaps/named_gap_testing.h"

namespace aaco::analytics::gaps {
namespace {

// The gap is from 1 to 11 ms; the work after it was launched at 1.2 ms.
class HeldGapTest : public NamedGapTest {
 public:
  HeldGapTest& held(const char* api = "hipLaunchKernel") {
    launch(1.2, 1.21, api);
    return *this;
  }
  HeldGapTest& peer(double launch_ms, const char* name = "kernel_of_another_device") {
    gap_.peer = PeerWork{names_.intern(name), ns(launch_ms), ns(2), ns(10.99)};
    return *this;
  }
  // Time of the gap that counts as held back on the device.
  std::int64_t held_ns() {
    GapSums sums;
    sums.add(explained_, book_);
    return sums.causes.begin()->second.held_ns;
  }
};

TEST_F(HeldGapTest, AnEventThatTheTraceDoesNotExplain) {
  held().call("hip", "hipStreamWaitEvent", 1.15, 1.16).call("hip", "hipMemcpyWithStream", 1.4, 11.1);
  EXPECT_EQ(cause(), "stream-event");
  EXPECT_EQ(explained_.cause, Cause::dependency);
  EXPECT_EQ(evidence(), "hipStreamWaitEvent");
  EXPECT_EQ(book_.at(*explained_.host_cause).class_id, "dependency");
  EXPECT_EQ(held_ns(), ns(11) - ns(1.21));
}
TEST_F(HeldGapTest, WithoutAnyWaitItIsNotKnownWhatHeldIt) {
  held().call("hip", "hipMemcpyWithStream", 1.4, 11.1);
  EXPECT_EQ(cause(), "device-latency");
  EXPECT_EQ(explained_.cause, Cause::unknown);
  EXPECT_EQ(held_ns(), ns(11) - ns(1.21)) << "the host is not what was waited for";
}
TEST_F(HeldGapTest, ALateLaunchIsTheHostsWhateverTheStreamWaitsFor) {
  launch(10.9, 10.95).call("hip", "hipStreamWaitEvent", 10.85, 10.86).call("hip", "hipDeviceSynchronize", 1.1, 10.8);
  EXPECT_EQ(cause(), "synchronisation");
  EXPECT_EQ(held_ns(), 0);
}
TEST_F(HeldGapTest, WorkOfAnotherDevice) {
  held().call("cuda_runtime", "cudaStreamWaitEvent", 1.15, 1.16);
  peer(0.5);
  EXPECT_EQ(cause(), "peer-device");
  EXPECT_EQ(evidence(), "kernel_of_another_device");
}
TEST_F(HeldGapTest, WorkLaunchedAfterTheWaitIsNotWhatItWaitsFor) {
  held().call("cuda_runtime", "cudaStreamWaitEvent", 1.15, 1.16);
  peer(1.18);
  EXPECT_EQ(cause(), "stream-event");
}
TEST_F(HeldGapTest, AnotherDeviceWithoutAWaitProvesNothing) {
  held();
  peer(0.5);
  EXPECT_EQ(cause(), "device-latency");
}
TEST_F(HeldGapTest, AHostFunction) {
  held().call("cuda_runtime", "cudaLaunchHostFunc", 1.1, 1.11).call("python", "callbacks.py(3): decode", 1.3, 10.95, 2);
  EXPECT_EQ(cause(), "host-function");
  EXPECT_EQ(evidence(), "callbacks.py(3): decode");
  EXPECT_EQ(held_ns(), 0) << "that is the host's";
}
TEST_F(HeldGapTest, AHostFunctionOfWhichNothingIsRecorded) {
  held().call("cuda_runtime", "cudaLaunchHostFunc", 1.1, 1.11).call("python", "other.py(3): goes_on", 1.3, 20, 2);
  EXPECT_EQ(cause(), "host-function");
  EXPECT_EQ(evidence(), "cudaLaunchHostFunc");
}
TEST_F(HeldGapTest, AValueInMemory) {
  held().call("cuda_driver", "cuStreamWaitValue32_v2", 1.1, 1.11);
  EXPECT_EQ(cause(), "stream-value");
}
TEST_F(HeldGapTest, AnEarlierWaitOfTheSameStream) {
  held().call("hip", "hipStreamWaitEvent", 0.2, 0.21);
  EXPECT_EQ(cause(), "device-latency") << "a millisecond before: of what, the trace does not tell";
}
TEST_F(HeldGapTest, AnEarlierWaitWithNothingLaunchedThereSince) {
  held().call("hip", "hipStreamWaitEvent", 0.2, 0.21);
  gap_.launch->after_ns = ns(0.1);
  EXPECT_EQ(cause(), "stream-event");
}
TEST_F(HeldGapTest, TheFirstKernelOfAGraph) {
  held("hipGraphLaunch").call("hip", "hipStreamWaitEvent", 1.15, 1.16);
  gap_.launch->is_graph = true;
  EXPECT_EQ(cause(), "stream-event");
}
TEST_F(HeldGapTest, KernelsInsideOfAGraphFollowEachOther) {
  held("hipGraphLaunch").call("hip", "hipStreamWaitEvent", 1.15, 1.16);
  gap_.launch->is_graph = gap_.launch->is_inner = true;
  EXPECT_NE(cause(), "stream-event");
  EXPECT_EQ(explained_.cause, Cause::launch_latency);
}

}  // namespace
}  // namespace aaco::analytics::gaps
