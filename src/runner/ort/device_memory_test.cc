#include "runner/ort/device_memory.h"

#include <gtest/gtest.h>

namespace aaco::runner::ort {
namespace {

TEST(DeviceMemory, OfNvidia) { EXPECT_EQ(device_memory({{"CUDAExecutionProvider", 5}}, {}), (DeviceMemory{"Cuda", 0})); }
TEST(DeviceMemory, OfAmd) {
  EXPECT_EQ(device_memory({{"ROCMExecutionProvider", 5}}, {}), (DeviceMemory{"Hip", 0}));
  EXPECT_EQ(device_memory({{"MIGraphXExecutionProvider", 1}, {"CPUExecutionProvider", 2}}, {}), (DeviceMemory{"Hip", 0}));
}
TEST(DeviceMemory, OnTheDeviceAskedFor) {
  EXPECT_EQ(device_memory({{"ROCMExecutionProvider", 5}}, {{"device_id", "3"}}), (DeviceMemory{"Hip", 3}));
}
TEST(DeviceMemory, HostsHaveNone) {
  EXPECT_EQ(device_memory({{"CPUExecutionProvider", 5}}, {{"device_id", "3"}}), DeviceMemory());
  EXPECT_EQ(device_memory({}, {}), DeviceMemory());
}

}  // namespace
}  // namespace aaco::runner::ort
